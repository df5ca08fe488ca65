//! The layers a cell is made of, and how well each is held on this host.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One layer of a cell's confinement, as it was really set up (never as it was asked for).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Which layer.
    pub name: LayerName,
    /// How it is held.
    pub state: LayerState,
    /// What exactly: an ABI level, the path of a cgroup, the reason it is missing. Empty where the name says it all.
    pub detail: String,
    /// What would improve it, as an instruction to a person; empty where nothing needs doing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// The closed list of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerName {
    /// User namespace with its own id map.
    UserNamespace,
    /// Mount namespace with a root of its own.
    MountNamespace,
    /// PID namespace whose PID 1 is ours.
    PidNamespace,
    /// Network namespace with nothing in it but a loopback device.
    NetworkNamespace,
    /// IPC namespace.
    IpcNamespace,
    /// UTS namespace.
    UtsNamespace,
    /// Cgroup namespace.
    CgroupNamespace,
    /// All five capability sets empty.
    Capabilities,
    /// `no_new_privs`.
    NoNewPrivileges,
    /// The system-call allow list.
    Seccomp,
    /// No host uid 0, no host group left.
    Identity,
    /// Supplementary groups of the user are dropped.
    Groups,
    /// The owners of mounted trees are mapped to the tool, where started by root.
    MountOwners,
    /// Landlock over the same paths.
    Landlock,
    /// Memory ceiling.
    Memory,
    /// CPU ceiling.
    Cpu,
    /// Process-count ceiling.
    Processes,
    /// Freezing and killing the cell as a whole.
    Lifecycle,
    /// Quota of the persistent data folder.
    DataQuota,
    /// Whether the host's core handler would see a crash inside.
    CoreDumps,
    /// What the supervisor itself could still do, were it taken over.
    Supervisor,
}

impl LayerName {
    /// A wall is there or the start is refused; everything else is depth, whose absence is shown.
    pub fn is_wall(self) -> bool {
        match self {
            Self::UserNamespace
            | Self::MountNamespace
            | Self::PidNamespace
            | Self::NetworkNamespace
            | Self::IpcNamespace
            | Self::UtsNamespace
            | Self::CgroupNamespace
            | Self::Capabilities
            | Self::NoNewPrivileges
            | Self::Seccomp
            | Self::Identity => true,
            Self::Groups
            | Self::MountOwners
            | Self::Landlock
            | Self::Memory
            | Self::Cpu
            | Self::Processes
            | Self::Lifecycle
            | Self::DataQuota
            | Self::CoreDumps
            | Self::Supervisor => false,
        }
    }
}

impl fmt::Display for LayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UserNamespace => "user namespace",
            Self::MountNamespace => "mount namespace",
            Self::PidNamespace => "pid namespace",
            Self::NetworkNamespace => "network namespace",
            Self::IpcNamespace => "ipc namespace",
            Self::UtsNamespace => "uts namespace",
            Self::CgroupNamespace => "cgroup namespace",
            Self::Capabilities => "capabilities",
            Self::NoNewPrivileges => "no_new_privs",
            Self::Seccomp => "seccomp",
            Self::Identity => "identity",
            Self::Groups => "groups",
            Self::MountOwners => "mount owners",
            Self::Landlock => "landlock",
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Processes => "processes",
            Self::Lifecycle => "life-cycle",
            Self::DataQuota => "data quota",
            Self::CoreDumps => "core dumps",
            Self::Supervisor => "supervisor",
        })
    }
}

/// How a layer is held. *Enforced* and *watched* are never said for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerState {
    /// The kernel holds it.
    Enforced,
    /// A process of ours looks and reacts; a fast tool can overshoot.
    Watched,
    /// Not there.
    Missing,
}

impl fmt::Display for LayerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Enforced => "enforced",
            Self::Watched => "watched",
            Self::Missing => "missing",
        })
    }
}
