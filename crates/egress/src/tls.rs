//! TLS: greetings are read, and where nobody needs to look further the rest passes untouched. Elsewhere both ends are
//! ours: an authority of the cell vouches towards the cell, and the host is held to its certificate.

pub mod authority;
pub mod hello;
pub mod roots;

pub(crate) mod alpn;
pub(crate) mod client;
pub(crate) mod greeting;
mod reader;
