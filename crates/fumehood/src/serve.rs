//! The service: one address in front of all servers.

pub(crate) mod causes;
pub(crate) mod cells;
pub(crate) mod load;
pub(crate) mod logs;
pub(crate) mod reload;
pub(crate) mod running;
pub(crate) mod supervisor;
pub(crate) mod watching;
