//! What supervisor and jail say to one another over the control socket: one JSON value a datagram.

use serde::{Deserialize, Serialize};

/// From the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "order", deny_unknown_fields)]
pub enum Order {
    /// To the launcher: the spec is written, so build.
    Build,
    /// Start a process. Four fds travel with the message: its stdin, stdout, stderr, and a memfd holding a
    /// [`crate::spec::Process`] as JSON.
    Start {
        /// The supervisor's number for it.
        id: u32,
    },
    /// Send a signal to a started process's group, or to everything inside but PID 1.
    Signal {
        /// Which process; none for all.
        id: Option<u32>,
        /// Signal number.
        signal: i32,
    },
    /// Make unbound sockets inside; answered by [`Report::Sockets`].
    Sockets {
        /// Which, at most [`MAX_SOCKETS`].
        kinds: Vec<SocketKind>,
    },
    /// Stop every process with `SIGSTOP`, until none runs.
    Freeze,
    /// Continue them.
    Thaw,
}

/// From the jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "report", deny_unknown_fields)]
pub enum Report {
    /// PID 1 was made; its pid on the host. Sent by the launcher before it ends.
    Made {
        /// Host pid.
        pid: i32,
    },
    /// The cell is built.
    Ready {
        /// Landlock ABI that will be used, 0 where the kernel has none.
        landlock_abi: i32,
        /// Whether supplementary groups are gone.
        groups_dropped: bool,
        /// Host paths whose owner could not be mapped (file systems without id-mapped mounts).
        unmapped: Vec<String>,
    },
    /// The cell, or a process in it, could not be made. Nothing was weakened: nothing runs.
    Failed(Failure),
    /// A process runs.
    Started {
        /// The supervisor's number.
        id: u32,
        /// Its pid inside the cell.
        pid: i32,
    },
    /// A started process ended.
    Exited {
        /// The supervisor's number.
        id: u32,
        /// Exit code, where it exited.
        code: Option<i32>,
        /// Signal, where a signal ended it.
        signal: Option<i32>,
    },
    /// The sockets that were asked for travel with this message, in the order asked for.
    Sockets,
    /// The memory watch saw more than its ceiling and killed everything.
    MemoryCeiling {
        /// What it saw, bytes.
        bytes: u64,
    },
    /// All processes are stopped, or continued.
    Frozen {
        /// Which of the two.
        frozen: bool,
    },
}

/// Most sockets of one order (`SCM_MAX_FD` of unix(7) is 253).
pub const MAX_SOCKETS: usize = 64;

/// A socket to be made inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketKind {
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP over IPv4.
    Udp4,
    /// UDP over IPv6.
    Udp6,
}

/// A step that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{step} failed: {cause}")]
pub struct Failure {
    /// The process it concerns; none when the cell itself could not be built.
    pub id: Option<u32>,
    /// Which layer.
    pub layer: Stage,
    /// What was tried, in words, with its object (`mounting /usr`).
    pub step: String,
    /// `errno`, where a system call failed.
    pub errno: Option<i32>,
    /// What went wrong, in words.
    pub cause: String,
}

/// The stage of the jail's work a failure belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Reading the spec.
    Spec,
    /// Entering the cgroups.
    Cgroup,
    /// Making the namespaces (one call for all but the cgroup namespace, which PID 1 makes once it is in its group).
    Namespaces,
    /// Writing the id maps, taking the identity.
    Identity,
    /// The root file system.
    Mounts,
    /// `/proc` of the cell.
    Proc,
    /// The loopback device.
    Network,
    /// Emptying the capability sets.
    Capabilities,
    /// Resource limits.
    Rlimits,
    /// `no_new_privs`.
    NoNewPrivileges,
    /// Landlock.
    Landlock,
    /// The system-call filter.
    Seccomp,
    /// Executing the program.
    Exec,
}
