//! Calls about processes.

use std::{fs::File, os::fd::AsRawFd as _};

use super::{done, hexadecimal};
use crate::attack::{Attempt, Held, sys};

/// New namespaces: the flags are the argument, hexadecimal.
pub(crate) fn unshare(arguments: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_unshare, [hexadecimal(arguments, 0)]))
}

/// A child in new namespaces: the flags are the argument, hexadecimal.
pub(crate) fn clone(arguments: &[&str]) -> Attempt {
    let flags = hexadecimal(arguments, 0) | u64::from(libc::SIGCHLD.unsigned_abs());
    born(sys::call(libc::SYS_clone, [flags]))
}

/// A plain child by `clone3`.
pub(crate) fn clone3(_: &[&str]) -> Attempt {
    // struct clone_args: the fifth word is the signal at the child's end.
    let arguments = [0_u64, 0, 0, 0, u64::from(libc::SIGCHLD.unsigned_abs()), 0, 0, 0];
    born(sys::call(libc::SYS_clone3, [sys::at(&arguments), size_of_val(&arguments) as u64]))
}

fn born(answer: Result<i64, i32>) -> Attempt {
    match answer {
        Ok(0) => sys::exit(0),
        other => done(other),
    }
}

/// Its own namespace of names, entered again.
pub(crate) fn setns(_: &[&str]) -> Attempt {
    let namespace = File::open("/proc/self/ns/uts")?;
    let fd = u64::from(namespace.as_raw_fd().unsigned_abs());
    done(sys::call(libc::SYS_setns, [fd, u64::from(libc::CLONE_NEWUTS.unsigned_abs())]))
}

pub(crate) fn trace_me(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_ptrace, [u64::from(libc::PTRACE_TRACEME), 0, 0, 0]))
}

pub(crate) fn copy_own_memory(_: &[&str]) -> Attempt {
    let (from, mut to) = ([7_u8; 1], [0_u8; 1]);
    let (remote, local) = ([sys::at(&from), 1], [sys::into(&mut to), 1]);
    let own = u64::from(std::process::id());
    done(sys::call(libc::SYS_process_vm_readv, [own, sys::at(&local), 1, sys::at(&remote), 1, 0]))
}

/// Its own stdin, taken as if from another process.
pub(crate) fn take_fd(_: &[&str]) -> Attempt {
    let handle = sys::call(libc::SYS_pidfd_open, [u64::from(std::process::id()), 0]).map_err(Held::errno)?;
    done(sys::call(libc::SYS_pidfd_getfd, [handle.unsigned_abs(), 0, 0]))
}

pub(crate) fn compare(_: &[&str]) -> Attempt {
    let own = u64::from(std::process::id());
    done(sys::call(libc::SYS_kcmp, [own, own, 0, 1, 2]))
}

/// Without address randomisation (`ADDR_NO_RANDOMIZE`).
pub(crate) fn personality(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_personality, [0x0004_0000]))
}

/// `PR_SET_MM`, its mildest form: how large the map would be (`PR_SET_MM_MAP_SIZE`).
pub(crate) fn own_map(_: &[&str]) -> Attempt {
    let mut size = 0_u32;
    done(sys::call(libc::SYS_prctl, [35, 15, sys::into(&mut size), 0, 0]))
}

/// A filter of its own with a listener (`SECCOMP_SET_MODE_FILTER`, `NEW_LISTENER`) that allows everything.
pub(crate) fn listener(_: &[&str]) -> Attempt {
    let allow = 0x06_u64 | (u64::from(libc::SECCOMP_RET_ALLOW) << 32);
    let program = [1_u64, sys::at(&allow)];
    done(sys::call(libc::SYS_seccomp, [1, 1 << 3, sys::at(&program)]))
}

/// Slows PID 1 down.
pub(crate) fn init_priority(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_setpriority, [0, 1, 19]))
}

/// Sets a limit of PID 1: to what it is.
pub(crate) fn init_limits(_: &[&str]) -> Attempt {
    let mut limit = [0_u64; 2];
    let files = u64::from(libc::RLIMIT_NOFILE);
    sys::call(libc::SYS_prlimit64, [1, files, 0, sys::into(&mut limit)]).map_err(Held::errno)?;
    done(sys::call(libc::SYS_prlimit64, [1, files, sys::at(&limit), 0]))
}

/// Ties PID 1 to processors: those it may use.
pub(crate) fn init_affinity(_: &[&str]) -> Attempt {
    let mut mask = [0_u64; 16];
    let size = size_of_val(&mask) as u64;
    sys::call(libc::SYS_sched_getaffinity, [1, size, sys::into(&mut mask)]).map_err(Held::errno)?;
    done(sys::call(libc::SYS_sched_setaffinity, [1, size, sys::at(&mask)]))
}

pub(crate) fn init_io_priority(_: &[&str]) -> Attempt {
    // IOPRIO_WHO_PROCESS, process 1, class "idle".
    done(sys::call(libc::SYS_ioprio_set, [1, 1, 3 << 13]))
}

/// Reads its segment table.
pub(crate) fn segments(_: &[&str]) -> Attempt {
    #[cfg(target_arch = "x86_64")]
    {
        let mut table = [0_u8; 64];
        done(sys::call(libc::SYS_modify_ldt, [0, sys::into(&mut table), 64]))
    }
    #[cfg(not(target_arch = "x86_64"))]
    Err(Held::errno(libc::EPERM))
}

/// Asks for the level it has.
pub(crate) fn io_privilege(_: &[&str]) -> Attempt {
    #[cfg(target_arch = "x86_64")]
    return done(sys::call(libc::SYS_iopl, [0]));
    #[cfg(not(target_arch = "x86_64"))]
    Err(Held::errno(libc::EPERM))
}
