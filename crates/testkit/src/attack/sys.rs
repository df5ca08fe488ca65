//! System calls by number, as a hostile tool makes them.

#![expect(unsafe_code, reason = "an attack asks the kernel what no safe library asks")]

use std::io;

/// A system call with up to six arguments; what it returned, or its errno.
///
/// The arguments are numbers, addresses that the kernel refuses, or addresses of values that the caller keeps alive and
/// that are as large as the call wants.
pub(super) fn call<const N: usize>(number: libc::c_long, arguments: [u64; N]) -> Result<i64, i32> {
    let mut all = [0_u64; 6];
    for (to, from) in all.iter_mut().zip(arguments) {
        *to = from;
    }
    let [first, second, third, fourth, fifth, sixth] = all;
    // SAFETY: see above; the kernel checks every address it is handed.
    let done = unsafe { libc::syscall(number, first, second, third, fourth, fifth, sixth) };
    if done == -1 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { Ok(done) }
}

/// The address of a value, to be handed to [`call`].
pub(super) fn at<T: ?Sized>(value: &T) -> u64 {
    std::ptr::from_ref(value).cast::<u8>().addr() as u64
}

/// The address of a value that the kernel writes to.
pub(super) fn into<T: ?Sized>(value: &mut T) -> u64 {
    std::ptr::from_mut(value).cast::<u8>().addr() as u64
}

/// `getpid` by the door of i386: number 20 by interrupt 0x80.
#[cfg(target_arch = "x86_64")]
pub(super) fn getpid_as_i386() -> Result<i64, i32> {
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

/// Has this process killed when its parent ends.
pub(super) fn end_with_parent() {
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
}

/// A fork by number: this process has one thread and, in the child, only makes system calls and ends.
pub(super) fn fork() -> Result<i64, i32> {
    call(libc::SYS_clone, [u64::from(libc::SIGCHLD.unsigned_abs())])
}

/// Ends this process at once.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: never returns and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

/// Reads a byte where there is no memory.
pub(super) fn fault() {
    // SAFETY: it is not; the process is to crash here, and nothing is done with what would be read.
    unsafe { std::ptr::read_volatile(std::ptr::without_provenance::<u8>(8)) };
}

/// Has a signal do nothing.
pub(super) fn ignore(signal: i32) {
    // SAFETY: installs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}
