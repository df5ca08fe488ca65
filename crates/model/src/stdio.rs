//! Framing of MCP over stdio: one JSON-RPC message a line (MCP specification, *Transports*, *stdio*).
//!
//! A [`Framer`] takes bytes as they come and gives whole frames. What is JSON-RPC passes byte for byte; what is not is
//! told apart, so that a server's stray prints never reach a client; a line over the cap becomes an error for exactly
//! the request it belongs to, and is never held in memory.

mod framer;
mod oversized;
mod probe;
mod scanner;
#[cfg(test)]
mod tests;

pub use framer::{Framer, STRAY_PREFIX};
pub use oversized::{LONGEST_ID, LONGEST_METHOD, MESSAGE_TOO_LARGE, Oversized};

/// Longest line that passes where nothing else is said, in bytes without its end: 16 MiB.
pub const DEFAULT_CAP: usize = 16 << 20;

/// What a line was.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// A JSON-RPC 2.0 message, or a batch of them: the line as it came, with its end. A last line without an end has
    /// one added.
    Message(Vec<u8>),
    /// Anything else that is not blank: to be logged, never forwarded.
    Stray(Stray),
    /// A JSON-RPC message over the cap. Its bytes are gone.
    Oversized(Oversized),
}

/// A line that is not JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The line without its end: whole, or its first [`STRAY_PREFIX`] bytes where it was over the cap.
    pub text: Vec<u8>,
    /// Length of the whole line without its end, in bytes.
    pub len: u64,
}
