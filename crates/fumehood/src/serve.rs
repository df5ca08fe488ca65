//! The service: one address in front of all servers.

pub(crate) mod cells;
pub(crate) mod load;
pub(crate) mod logs;
pub(crate) mod reload;
pub(crate) mod supervisor;
