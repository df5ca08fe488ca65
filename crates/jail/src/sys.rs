//! The system calls no safe wrapper covers. Everything unsafe of the jail is in this file.
#![expect(unsafe_code, reason = "raw system calls that rustix does not wrap")]

use std::{
    ffi::CStr,
    io,
    mem::size_of,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
    ptr,
};

/// Which side of a fork this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fork {
    /// The new process.
    Child,
    /// The old one; the child's pid as the old one sees it.
    Parent(i32),
}

/// Takes over an fd this program was started with.
pub(crate) fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD has no memory effects; it only tells whether the number is an open fd.
    if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the number is an open fd of this process, handed over at exec, and each is taken once, at the start.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC)?;
    Ok(owned)
}

/// `clone3` without shared memory: a fork into new namespaces (`CLONE_NEW*` flags) and, where one is given, a cgroup.
pub(crate) fn fork_into(namespaces: u64, cgroup: Option<BorrowedFd<'_>>) -> io::Result<Fork> {
    // clone(2); an unsigned 64-bit flag that the C library's type for flags cannot hold.
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    let into = if cgroup.is_some() { CLONE_INTO_CGROUP } else { 0 };
    let args = libc::clone_args {
        flags: namespaces | into,
        pidfd: 0,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: u64::from(libc::SIGCHLD.unsigned_abs()),
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: cgroup.map_or(0, |fd| u64::from(fd.as_raw_fd().unsigned_abs())),
    };
    // SAFETY: no CLONE_VM, so the child has its own copy of everything; the process has one thread, so no lock can be
    // held by a thread that is not there in the child; the struct outlives the call.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) };
    match i32::try_from(pid) {
        Ok(0) => Ok(Fork::Child),
        Ok(pid) if pid > 0 => Ok(Fork::Parent(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A cgroup namespace whose root are the groups this process is in.
pub(crate) fn new_cgroup_namespace() -> io::Result<()> {
    // SAFETY: changes a namespace of this process, which has one thread, and no memory.
    if unsafe { libc::unshare(libc::CLONE_NEWCGROUP) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The hard limit of a resource. rustix's own reading of it panics where the kernel refuses.
pub(crate) fn hard_limit(resource: rustix::process::Resource) -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct lives over the call; the numbers of `Resource` are the kernel's.
    let done = unsafe { libc::getrlimit(resource as libc::__rlimit_resource_t, &raw mut limit) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(limit.rlim_max) }
}

/// Ends this process at once: no destructors, no exit handlers.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit never returns and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

/// `mount_setattr(2)` on the mount behind `fd`, with everything below it when `recursive`.
pub(crate) fn mount_setattr(
    fd: BorrowedFd<'_>,
    recursive: bool,
    set: u64,
    userns: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let attr = MountAttr {
        set,
        clear: 0,
        propagation: 0,
        userns_fd: userns.map_or(0, |fd| u64::from(fd.as_raw_fd().unsigned_abs())),
    };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    let empty: &CStr = c"";
    // SAFETY: the path is a valid C string, the struct has the layout of `struct mount_attr` (VER0) and the size given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd.as_raw_fd(),
            empty.as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Blocks `SIGCHLD` and returns an fd that is readable when a child changed state.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: sigset_t is plain data; sigemptyset and sigaddset write only into it; signalfd reads it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// An empty signal mask and default actions, as a freshly started program expects them.
pub(crate) fn reset_signals() -> io::Result<()> {
    // SAFETY: as above; signal() with SIG_DFL installs no code of ours.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    Ok(())
}

/// Makes every fd from `first` on close at the next exec.
pub(crate) fn close_at_exec_from(first: u32) -> io::Result<()> {
    close_range(first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
}

/// Closes every fd above 2 but the given ones, before this program owns any other.
pub(crate) fn close_others(mut kept: [RawFd; 2]) -> io::Result<()> {
    kept.sort_unstable();
    let mut first = 3;
    for fd in kept {
        let fd = fd.unsigned_abs();
        if first < fd {
            close_range(first, fd - 1, 0)?;
        }
        first = fd.saturating_add(1);
    }
    close_range(first, u32::MAX, 0)
}

fn close_range(first: u32, last: u32, flags: u32) -> io::Result<()> {
    // SAFETY: changes the fd table only; closing is done at the program's start, where nothing owns an fd in the range.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Brings the loopback device of this network namespace up (netdevice(7)).
pub(crate) fn loopback_up() -> io::Result<()> {
    #[repr(C)]
    struct IfReq {
        name: [u8; libc::IFNAMSIZ],
        flags: libc::c_short,
        rest: [u8; 22],
    }
    // IFF_UP (netdevice(7)), as the short the structure holds.
    const UP: libc::c_short = 1;
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    let mut request = IfReq { name: [0; libc::IFNAMSIZ], flags: 0, rest: [0; 22] };
    for (to, from) in request.name.iter_mut().zip(b"lo") {
        *to = *from;
    }
    // SAFETY: the struct has the size and layout of `struct ifreq` on 64-bit Linux (40 bytes); both ioctls read the
    // name and read or write the flags only.
    let done = unsafe {
        let got = libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request);
        if got < 0 {
            got
        } else {
            request.flags |= UP;
            libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
        }
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The Landlock ABI of the running kernel, 0 where it has none (landlock_create_ruleset(2)).
pub(crate) fn landlock_abi() -> i32 {
    const VERSION: u32 = 1;
    // SAFETY: with a null attribute and size 0 the call only returns a number.
    let abi = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    i32::try_from(abi).unwrap_or(0).max(0)
}

/// `kill(-1, signal)`: everything this process may signal but itself and init.
pub(crate) fn kill_everyone(signal: i32) {
    // SAFETY: kill has no memory effects. Nobody left to signal (ESRCH) is no failure.
    unsafe { libc::kill(-1, signal) };
}
