//! The service: one address in front of all servers.

pub(crate) mod cells;
