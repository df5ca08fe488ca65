//! Why a group or a ceiling could not be had, and what would change that.

use std::path::PathBuf;

use rustix::io::Errno;

use super::Controller;

/// What stood in the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Obstacle {
    #[error("`{id}` cannot be part of a group's name")]
    Name { id: String },
    #[error("`{file}` cannot be read: {errno}")]
    Proc { file: String, errno: Errno },
    #[error("no cgroup v2 file system is mounted")]
    NotMounted,
    #[error("the `{controllers}` hierarchy (cgroup v1) is not mounted")]
    LegacyNotMounted { controllers: String },
    #[error("our own group `{group}` is not below any mounted part of its hierarchy")]
    NotVisible { group: String },
    #[error("the kernel has no `{}` controller", controller.name())]
    NoController { controller: Controller },
    #[error("the `{}` controller is not handed down to `{}`", controller.name(), folder.display())]
    NotDelegated { controller: Controller, folder: PathBuf },
    #[error("`{}` holds processes, so the kernel refuses to hand down controllers there", folder.display())]
    Populated { folder: PathBuf },
    #[error("`{}` is part of a threaded subtree", folder.display())]
    Threaded { folder: PathBuf },
    #[error("group `{}` is in use", folder.display())]
    InUse { folder: PathBuf },
    #[error("no group can be made in `{}`: {errno}", folder.display())]
    NoGroup { folder: PathBuf, legacy: bool, errno: Errno },
    #[error("writing `{value}` to `{}` failed: {errno}", file.display())]
    Write { file: PathBuf, value: String, errno: Errno },
}

impl Obstacle {
    /// An instruction to a person; empty where there is nothing a person could do.
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Name { .. } => "use 1 to 64 letters, digits, `.`, `_` or `-`".to_owned(),
            Self::Proc { .. } => "mount /proc".to_owned(),
            Self::NotMounted => "mount the unified hierarchy: on a host without systemd \
                `mount -t cgroup2 none /sys/fs/cgroup`, beside cgroup v1 in a folder of its own"
                .to_owned(),
            Self::LegacyNotMounted { controllers } => format!(
                "mount it (`mount -t cgroup -o {controllers} none /sys/fs/cgroup/{controllers}`), or boot with the \
                 unified hierarchy (`systemd.unified_cgroup_hierarchy=1`)"
            ),
            Self::NotVisible { .. } => {
                "start the container with a cgroup namespace of its own (`--cgroupns=private`)".to_owned()
            }
            Self::NoController { controller } => {
                let name = controller.name();
                format!("boot without `cgroup_disable={name}`, on boards that need it with `cgroup_enable={name}`")
            }
            Self::NotDelegated { .. } => "let systemd hand it down: `Delegate=cpu memory pids` in a drop-in for \
                user@.service or for the unit Fumehood runs in"
                .to_owned(),
            Self::InUse { .. } => "end what runs in it, then remove the folder".to_owned(),
            Self::NoGroup { errno: Errno::ROFS, .. } | Self::Write { errno: Errno::ROFS, .. } => {
                "start the container with a cgroup namespace of its own and a writable /sys/fs/cgroup".to_owned()
            }
            Self::NoGroup { errno: Errno::ACCESS | Errno::PERM, legacy: true, .. } => {
                "on cgroup v1 only root makes groups: start Fumehood as root, or boot with the unified hierarchy \
                 (`systemd.unified_cgroup_hierarchy=1`)"
                    .to_owned()
            }
            Self::Populated { .. }
            | Self::Threaded { .. }
            | Self::NoGroup { errno: Errno::ACCESS | Errno::PERM, .. }
            | Self::Write { errno: Errno::ACCESS | Errno::PERM, .. } => DELEGATE.to_owned(),
            Self::NoGroup { errno: Errno::AGAIN, .. } => {
                "raise `cgroup.max.descendants` of a group above".to_owned()
            }
            Self::NoGroup { .. } | Self::Write { .. } => String::new(),
        }
    }
}

const DELEGATE: &str = "start Fumehood in a group handed to this user: `systemd-run --user --scope -p Delegate=yes \
    fumehood …`, or a unit with `Delegate=yes`";
