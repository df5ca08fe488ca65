//! One supervisor: a sandbox, the people connected to it, and what is known of it.
//!
//! Deliberately absent: policy files, MCP, and how the walls are built.

mod api;
mod attach;
mod cell;
mod clock;
mod confinement;
mod connections;
mod data_quota;
mod ending;
mod events;
pub mod folders;
mod freezing;
mod guarded_watch;
mod keys;
mod log_file;
pub mod network;
pub mod owner;
mod package;
mod process;
mod searching;
mod starting;
mod stderr_tap;
mod stdin;
mod supervisor;
pub mod sweep;
pub mod sys;
#[cfg(feature = "guard-off")]
mod taken_over;
mod trust;
mod validate;
mod watches;

pub use log_file::logs_in;
pub use supervisor::{SuperviseError, Supervision, serve};
