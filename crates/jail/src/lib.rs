//! The last code that runs before the tool.
//!
//! The supervisor spawns this program with a [`spec::Spec`] on one file descriptor and a `SOCK_SEQPACKET` control
//! socket on another. It builds the namespaces and the file system, becomes PID 1 of the cell, and from then on does
//! what [`message::Order`] says: start a process with three given fds, signal, freeze, thaw. It ends, and with it
//! everything inside, when the control socket is closed.
//!
//! Deliberately absent: threads, async, policy, the network, and any say in what should be confined.

pub mod message;
pub mod spec;
