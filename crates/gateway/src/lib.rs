//! The road a call takes. So far its first piece: the front of a server, which answers from what was accepted, holds calls
//! until the running server has been compared, and refuses what differs.
//!
//! Deliberately absent: I/O. Whoever has the streams hands in lines and carries out what comes back.

#![forbid(unsafe_code)]

pub mod front;
