//! The vocabulary of Fumehood: pure types, the configuration as written and as resolved, and the framing of MCP
//! over stdio.
//!
//! Deliberately absent: I/O, async, clocks, the environment. Whoever has bytes of a file hands them in.

#![forbid(unsafe_code)]

pub mod config;
pub mod digest;
pub mod exit;
pub mod guard;
pub mod json;
pub mod layer;
pub mod limits;
pub mod mount;
pub mod name;
pub mod needle;
pub mod profile;
pub mod request;
pub mod reviewer;
pub mod secret;
pub mod size;
pub mod stdio;
pub mod tier;
pub mod visible;
