//! The road a call takes. So far its first piece: the front of a server, which answers from what was accepted, holds calls
//! until the running server has been compared, and refuses what differs.
//!
//! Deliberately absent: I/O and clocks. Whoever has the streams hands in lines and carries out what comes back.

#![forbid(unsafe_code)]

pub mod front;
pub mod guard;
