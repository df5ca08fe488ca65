//! The one system call that puts the filter on.

#![expect(unsafe_code, reason = "seccomp(2) takes a pointer, and no library of ours wraps it")]

use std::io;

use libc::{sock_filter, sock_fprog};

/// seccomp(2), `SECCOMP_SET_MODE_FILTER`.
pub(super) fn set_filter(program: &[sock_filter], flags: libc::c_ulong) -> io::Result<()> {
    let len = u16::try_from(program.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let described = sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: `described` and the program it points to live over the call, `len` is that program's length, and the
    // kernel only reads them.
    let done = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const described)
    };
    match done {
        0 => Ok(()),
        // With `SECCOMP_FILTER_FLAG_TSYNC`: the thread that cannot take it.
        1.. => Err(io::Error::other(format!("thread {done} has a filter of its own"))),
        _ => Err(io::Error::last_os_error()),
    }
}
