//! Handing fds to a program about to be started, and watching fds.
#![expect(
    unsafe_code,
    reason = "`pre_exec` is the only way to place fds at given numbers; tokio cannot check an fd's life"
)]

use std::{
    os::fd::{AsRawFd, OwnedFd, RawFd},
    os::unix::process::CommandExt,
    process::Command,
};

use tokio::io::unix::AsyncFd;

/// Registers an owned fd with the runtime.
pub(super) fn watched(fd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` keeps the same open fd until it is dropped, and `AsyncFd` deregisters it before that.
    unsafe { AsyncFd::register(fd) }.map_err(Into::into)
}

/// Arranges that the started program has each fd under its number.
pub(super) fn hand_over<const N: usize>(command: &mut Command, fds: [(RawFd, OwnedFd); N]) {
    let place = move || {
        // First out of the way of one another, then to their places: dup2 clears close-on-exec.
        let mut moved = [0; N];
        for (to, (_, fd)) in moved.iter_mut().zip(&fds) {
            // SAFETY: fcntl and dup2 are async-signal-safe and change the fd table of the new process only.
            *to = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 64) };
            if *to < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        for (from, (number, _)) in moved.iter().zip(&fds) {
            // SAFETY: as above.
            if unsafe { libc::dup2(*from, *number) } < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing, takes no lock and calls async-signal-safe functions only.
    unsafe { command.pre_exec(place) };
}
