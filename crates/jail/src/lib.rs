//! The last code that runs before the tool.
//!
//! The supervisor spawns this program with a [`spec::Spec`] on one file descriptor and a `SOCK_SEQPACKET` control
//! socket on another. It builds the namespaces and the file system, becomes PID 1 of the cell, and from then on does
//! what [`message::Order`] says: start a process with three given fds, signal, freeze, thaw. It ends, and with it
//! everything inside, when the control socket is closed.
//!
//! Deliberately absent: threads, async, policy, the network, and any say in what should be confined.

mod control;
mod failure;
pub mod guard;
mod idmap;
mod inheritance;
mod init;
mod kernel;
mod landlock;
mod launcher;
pub mod message;
mod network;
mod place;
mod root;
pub mod seccomp;
mod signals;
pub mod spec;
mod start;
mod sys;
mod tree;
mod watch;

pub use control::MAX_DATAGRAM;
pub use launcher::main;

/// The Landlock ABI of the running kernel, 0 where it has none.
pub fn landlock_abi() -> i32 {
    sys::landlock_abi()
}
