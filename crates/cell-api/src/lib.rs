//! The types and the client of a supervisor's API: HTTP/1.1 with JSON bodies over a Unix socket, one supervisor per
//! cell. The reference with examples is `docs/reference/cell-api.md`.
//!
//! Deliberately absent: the supervisor itself, and everything that decides.

#![forbid(unsafe_code)]

pub mod client;
pub mod error;
pub mod event;
pub mod frame;
pub mod info;
pub mod network;
pub mod order;
pub mod spec;

/// Name of a supervisor's socket within its cell's folder.
pub const SOCKET: &str = "api.sock";
/// Largest request body a supervisor reads, in bytes.
pub const BODY_LIMIT: usize = 1 << 20;
