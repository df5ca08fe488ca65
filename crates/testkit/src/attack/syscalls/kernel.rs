//! Calls that reach into the kernel, or change what is seen.

use std::{fs::File, os::fd::AsRawFd as _};

use super::done;
use crate::attack::{Attempt, sys};

/// `AT_FDCWD` as the kernel takes it.
const FROM_HERE: u64 = (libc::AT_FDCWD as i64).cast_unsigned();

/// For faults of its own code only (`UFFD_USER_MODE_ONLY`), which every user may have.
pub(crate) fn userfaultfd(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_userfaultfd, [1]))
}

pub(crate) fn io_uring(_: &[&str]) -> Attempt {
    let mut ring = [0_u64; 15];
    done(sys::call(libc::SYS_io_uring_setup, [1, sys::into(&mut ring)]))
}

pub(crate) fn io_setup(_: &[&str]) -> Attempt {
    let mut context = 0_u64;
    done(sys::call(libc::SYS_io_setup, [1, sys::into(&mut context)]))
}

/// Counts its own time: a software event, without the kernel's part, which `perf_event_paranoid` 2 allows.
pub(crate) fn perf(_: &[&str]) -> Attempt {
    // struct perf_event_attr: type and size, config, …, and in the sixth word exclude_kernel and exclude_hv.
    let mut attributes = [0_u64; 16];
    for (to, from) in attributes.iter_mut().zip([1 | (128 << 32), 1, 0, 0, 0, (1 << 5) | (1 << 6)]) {
        *to = from;
    }
    let (nobody, anywhere) = (u64::MAX, u64::MAX);
    done(sys::call(libc::SYS_perf_event_open, [sys::at(&attributes), 0, anywhere, nobody, 0]))
}

/// A key for this process alone (`KEY_SPEC_PROCESS_KEYRING`).
pub(crate) fn add_key(_: &[&str]) -> Attempt {
    let own = (-2_i64).cast_unsigned();
    let (kind, name) = (c"user".to_bytes_with_nul(), c"hostile".to_bytes_with_nul());
    done(sys::call(libc::SYS_add_key, [sys::at(kind), sys::at(name), sys::at(name), 7, own]))
}

/// The number of its session keyring (`KEYCTL_GET_KEYRING_ID`, `KEY_SPEC_SESSION_KEYRING`).
pub(crate) fn keyring(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_keyctl, [0, (-3_i64).cast_unsigned(), 1]))
}

/// A key that nobody has; to be told so is to be listened to.
pub(crate) fn request_key(_: &[&str]) -> Attempt {
    let (kind, name) = (c"user".to_bytes_with_nul(), c"hostile-none".to_bytes_with_nul());
    match sys::call(libc::SYS_request_key, [sys::at(kind), sys::at(name), 0, 0]) {
        Err(libc::ENOKEY) => Ok("there is no such key".into()),
        other => done(other),
    }
}

/// With `FAN_REPORT_FID`, the form for every user.
pub(crate) fn fanotify(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_fanotify_init, [0x200, 0]))
}

pub(crate) fn secret_memory(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_memfd_secret, [0]))
}

/// What of an own file is in memory. The number is the same on all architectures.
pub(crate) fn cachestat(_: &[&str]) -> Attempt {
    const CACHESTAT: libc::c_long = 451;
    let file = File::create("/tmp/cachestat")?;
    let (range, mut answer) = ([0_u64, 4096], [0_u64; 5]);
    let fd = u64::from(file.as_raw_fd().unsigned_abs());
    done(sys::call(CACHESTAT, [fd, sys::at(&range), sys::into(&mut answer), 0]))
}

pub(crate) fn openat2(_: &[&str]) -> Attempt {
    let how = [u64::from(libc::O_PATH.unsigned_abs()), 0, 0];
    let path = c"/".to_bytes_with_nul();
    done(sys::call(libc::SYS_openat2, [FROM_HERE, sys::at(path), sys::at(&how), size_of_val(&how) as u64]))
}

/// The mounts below the root (`LSMT_ROOT`). The number is the same on all architectures.
pub(crate) fn listmount(_: &[&str]) -> Attempt {
    const LISTMOUNT: libc::c_long = 458;
    let (request, mut ids) = ([24_u64, u64::MAX, 0], [0_u64; 8]);
    done(sys::call(LISTMOUNT, [sys::at(&request), sys::into(&mut ids), 8, 0]))
}

/// The number is the same on all architectures.
pub(crate) fn lsm_modules(_: &[&str]) -> Attempt {
    const LSM_LIST_MODULES: libc::c_long = 461;
    let (mut ids, mut size) = ([0_u64; 32], 256_u32);
    done(sys::call(LSM_LIST_MODULES, [sys::into(&mut ids), sys::into(&mut size), 0]))
}

/// Everything in the kernel's log (`SYSLOG_ACTION_READ_ALL`).
pub(crate) fn kernel_log(_: &[&str]) -> Attempt {
    let mut text = [0_u8; 256];
    done(sys::call(libc::SYS_syslog, [3, sys::into(&mut text), 256]))
}

/// The default policy, again.
pub(crate) fn memory_policy(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_set_mempolicy, [0, 0, 0]))
}

/// How many file systems the kernel knows (`sysfs(3)`).
pub(crate) fn file_systems(_: &[&str]) -> Attempt {
    #[cfg(target_arch = "x86_64")]
    return done(sys::call(libc::SYS_sysfs, [3]));
    #[cfg(not(target_arch = "x86_64"))]
    Err(crate::attack::Held::errno(libc::ENOSYS))
}

pub(crate) fn mount(_: &[&str]) -> Attempt {
    let (kind, point) = (c"tmpfs".to_bytes_with_nul(), c"/workspace".to_bytes_with_nul());
    done(sys::call(libc::SYS_mount, [sys::at(kind), sys::at(point), sys::at(kind), 0, 0]))
}

/// A copy of the root's mount (`OPEN_TREE_CLONE`).
pub(crate) fn open_tree(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_open_tree, [FROM_HERE, sys::at(c"/".to_bytes_with_nul()), 1]))
}

pub(crate) fn fsopen(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_fsopen, [sys::at(c"tmpfs".to_bytes_with_nul()), 0]))
}

pub(crate) fn chroot(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_chroot, [sys::at(c"/usr".to_bytes_with_nul())]))
}

/// Renames the cell.
pub(crate) fn hostname(_: &[&str]) -> Attempt {
    done(sys::call(libc::SYS_sethostname, [sys::at("hostile"), 7]))
}
