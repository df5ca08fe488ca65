//! Watching fds.
#![expect(unsafe_code, reason = "tokio cannot check that an fd outlives its registration")]

use std::os::fd::OwnedFd;

use tokio::io::unix::AsyncFd;

/// Registers an owned fd with the runtime.
pub(super) fn watched(fd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` keeps the same open fd until it is dropped, and `AsyncFd` deregisters it before that.
    unsafe { AsyncFd::register(fd) }.map_err(Into::into)
}
