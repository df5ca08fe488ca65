//! The hostile suite: what a cell must hold off, each case with its control. The control is the same attack through
//! the same programs with one guard (and what lies behind it) left out; there it has to succeed, else the case says
//! nothing about the guard.
//!
//! Everything is tried twice, as root and as an ordinary user. Files that a case needs lie in a world of its own.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where its world breaks")]

mod bombs;
mod controls;
mod core_dumps;
mod fds;
mod host_files;
mod mounts;
mod other_cells;
mod package;
mod privileges;
mod proc;
mod scene;
mod sockets;
mod supervisor;
mod syscalls;
mod table;
mod terminals;
