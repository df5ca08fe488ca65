//! What may be read of TLS without being a party to it.

pub mod hello;
mod reader;
pub(crate) mod watch;
