//! What of the system interface the type system cannot check.

#![expect(
    unsafe_code,
    reason = "an inherited fd is a bare number until somebody owns it; the reactor keeps numbers too"
)]

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd, RawFd},
};

use tokio::io::{Interest, unix::AsyncFd};

/// Lets the reactor watch a descriptor for input. Must be called within a tokio runtime with I/O enabled.
pub(crate) fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names the same open descriptor for as long as it lives, and `AsyncFd` takes it out of the
    // reactor before it drops it; nobody can take it out of the `AsyncFd` without that.
    Ok(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?)
}

/// Takes over a file descriptor that was inherited at `exec`. `None` when no such descriptor is open.
///
/// Call it once for a number, before anything else in the process could own that number.
pub fn adopt(fd: RawFd) -> Option<OwnedFd> {
    if fd < 0 {
        return None;
    }
    // SAFETY: `fd` is not -1, and the caller says that nothing else owns it; that it is open is asked for below, before
    // it could be handed to anybody.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    if rustix::io::fcntl_getfd(&owned).is_ok() {
        Some(owned)
    } else {
        // Closing a descriptor that is not open would be a bug elsewhere if the number were reused meanwhile.
        std::mem::forget(owned);
        None
    }
}
