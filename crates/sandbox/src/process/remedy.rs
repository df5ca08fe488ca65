//! What a person can do about a layer that could not be made on this host.

use jail::message::{Failure, Stage};

use super::StartError;

impl StartError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Program { program, .. } => format!(
                "`fumehood-jail` belongs beside `fumehood`; install both programs again, so that `{}` exists",
                program.display()
            ),
            Self::Layer(failure) => of(failure),
            Self::Silent { .. } => {
                "the host may be overloaded; try again, then look at `fumehood doctor`".into()
            }
            Self::Io { .. } => "look at `fumehood doctor`".into(),
        }
    }

    /// Whether this host cannot hold a wall (rather than a mistake of the caller, or of ours).
    pub fn is_host(&self) -> bool {
        match self {
            Self::Layer(failure) => !matches!(failure.layer, Stage::Spec | Stage::Exec),
            Self::Program { .. } | Self::Silent { .. } | Self::Io { .. } => false,
        }
    }
}

/// The remedy of one failure.
fn of(failure: &Failure) -> String {
    let text = match (failure.layer, failure.errno) {
        (Stage::Namespaces | Stage::Mounts, Some(libc::ENOSPC)) => {
            "namespaces are used up or switched off: as root, `sysctl user.max_user_namespaces=15000`; `sysctl -a \
             --pattern '^user.max_'` shows the other kinds"
        }
        (Stage::Namespaces, Some(libc::EPERM | libc::EACCES)) => {
            "user namespaces are refused: as root, on Debian `sysctl kernel.unprivileged_userns_clone=1`; on Ubuntu \
             24.04 and later install an AppArmor profile for fumehood or `sysctl \
             kernel.apparmor_restrict_unprivileged_userns=0`; inside a container, allow user namespaces to it"
        }
        (Stage::Namespaces, Some(libc::ENOSYS | libc::EINVAL)) => {
            "the kernel lacks a namespace: WSL1 and kernels built without user namespaces cannot hold the wall; use \
             WSL2 or a kernel from 5.12 on"
        }
        (Stage::Identity, Some(libc::EPERM | libc::EACCES)) => {
            "the id map was refused: on Ubuntu 24.04 and later AppArmor restricts user namespaces; install an \
             AppArmor profile for fumehood or, as root, `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
        }
        (Stage::Proc, Some(libc::EPERM)) => {
            "the kernel gives a new /proc only where the present one is not masked: in a container start it with an \
             unmasked /proc (Docker: `--security-opt systempaths=unconfined`; Kubernetes: `procMount: Unmasked`), \
             under systemd leave out ProtectKernelTunables= and ProtectProc="
        }
        (Stage::Mounts | Stage::Proc, Some(libc::ENOSYS)) => {
            "the kernel lacks the mount API of 5.12; boot a newer one"
        }
        (Stage::Mounts, Some(libc::ENOENT)) => {
            "the path went away, or a link on the way to it changed; look at it and start again"
        }
        (Stage::Mounts, Some(libc::EACCES)) => "the path is not readable to the user who starts the cell",
        (Stage::Landlock, _) => "the kernel has Landlock but refused the rules; look at `fumehood doctor`",
        (Stage::NoNewPrivileges | Stage::Seccomp, _) => {
            "the kernel refused a system-call filter: it needs CONFIG_SECCOMP_FILTER"
        }
        (Stage::Cgroup, _) => "the cgroup went away or is not writable; look at `fumehood doctor`",
        (Stage::Exec, Some(libc::ENOENT)) => {
            "the program, or the interpreter its first line names, is not in the cell: mount its folder with `--mount`"
        }
        (Stage::Exec, Some(libc::EACCES)) => "the program is not executable by the tool",
        (Stage::Exec, Some(libc::ENOEXEC)) => {
            "the program is of another architecture, or a script without a first line `#!`"
        }
        (Stage::Exec, Some(libc::E2BIG)) => "arguments and environment together are too long for the kernel",
        (Stage::Exec, Some(libc::EAGAIN)) => {
            "the ceiling of processes is reached: raise it with `--limit processes=`"
        }
        (Stage::Network, Some(libc::EAFNOSUPPORT)) => {
            "the kernel lacks sockets that set up the loopback device: boot one with CONFIG_INET and netlink"
        }
        (Stage::Mounts | Stage::Network | Stage::Capabilities | Stage::Rlimits, Some(libc::EPERM)) => {
            "a security policy of this host refuses it (AppArmor, SELinux, or the seccomp profile of a container): \
             allow it to fumehood and its user namespaces"
        }
        (Stage::Spec, _) => "this is a mistake in Fumehood: please report it with this message",
        _ => "look at `fumehood doctor`",
    };
    text.to_owned()
}
