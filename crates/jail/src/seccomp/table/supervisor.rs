//! Where the list of a supervisor differs from that of the tools: it starts nothing and speaks to nobody on this machine.

use super::Verdict::{Filtered, Refuse};
use super::{Call, line};
use crate::seccomp::rules;

pub(super) const CALLS: &[Call] = &[
    line!(SYS_execve, Refuse, "the jail is started by then, and it was the only program"),
    line!(SYS_execveat, Refuse, "the jail is started by then, and it was the only program"),
    line!(SYS_socket, Filtered(&rules::OUTWARDS), "the network; no sockets of this machine's services"),
    line!(SYS_socketpair, Refuse, "of one that carries messages, an end can be connected elsewhere"),
    line!(SYS_kill, Refuse, "the cell's PID 1 is ended by a handle that is open by then"),
    line!(SYS_tkill, Refuse, "the cell's PID 1 is ended by a handle that is open by then"),
    line!(SYS_tgkill, Refuse, "the cell's PID 1 is ended by a handle that is open by then"),
    line!(SYS_rt_sigqueueinfo, Refuse, "the cell's PID 1 is ended by a handle that is open by then"),
    line!(SYS_rt_tgsigqueueinfo, Refuse, "the cell's PID 1 is ended by a handle that is open by then"),
    line!(SYS_pidfd_open, Refuse, "a handle of any process that the user may signal"),
    line!(SYS_prctl, Filtered(&rules::PRCTL_SUPERVISOR), "never dumpable again"),
];
