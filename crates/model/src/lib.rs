//! The vocabulary of Fumehood: pure types, and the configuration as written and as resolved.
//!
//! Deliberately absent: I/O, async, clocks, the environment. Whoever has bytes of a file hands them in.

#![forbid(unsafe_code)]

pub mod exit;
pub mod layer;
pub mod limits;
pub mod mount;
pub mod name;
