//! Raw system calls of the tests.

#![expect(unsafe_code, reason = "the tests ask the kernel what no safe library asks")]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What a process of the tests starts with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Under {
    /// As it is.
    Nothing,
    /// `no_new_privs` only: the control of [`Under::Filter`].
    NoNewPrivileges,
    /// `no_new_privs` and the filter.
    Filter,
}

/// Has it put on the program that `command` starts, between fork and exec.
pub(crate) fn put(under: Under, command: &mut Command) {
    if under == Under::Nothing {
        return;
    }
    let program = (under == Under::Filter).then(jail::seccomp::program);
    let put_on = move || {
        // SAFETY: takes numbers only.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        program.as_deref().map_or(Ok(()), jail::seccomp::install)
    };
    // SAFETY: between fork and exec only two system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(put_on) };
}

/// A system call; what it returned, or its errno.
pub(crate) fn raw(number: u32, arguments: [u64; 6]) -> Result<i64, i32> {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    // SAFETY: the callers pass numbers, pointers to strings that live, or addresses that the kernel refuses.
    let done = unsafe { libc::syscall(i64::from(number), first, second, third, fourth, fifth, sixth) };
    if done == -1 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { Ok(done) }
}

/// `getpid` by the door of i386: number 20 by interrupt 0x80.
#[cfg(target_arch = "x86_64")]
pub(crate) fn getpid_as_i386() -> Result<i64, i32> {
    let done: i32;
    // SAFETY: getpid reads no argument and no memory; the registers that the kernel may clear are given up.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("eax") 20 => done,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    if done < 0 { Err(-done) } else { Ok(i64::from(done)) }
}

/// Puts the filter on this thread without `no_new_privs`, as an ordinary user would; root may do that and is refused
/// here by giving up the capability first.
pub(crate) fn install_without_no_new_privileges() -> io::Result<()> {
    // SAFETY: takes a number only; where it is not root, it fails and changes nothing.
    if unsafe { libc::geteuid() } == 0 && unsafe { libc::setuid(65_534) } != 0 {
        return Err(io::Error::last_os_error());
    }
    jail::seccomp::install(&jail::seccomp::program())
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    // SAFETY: has no arguments and cannot fail.
    unsafe { libc::geteuid() == 0 }
}
