//! The filter of system calls: an allow list of our own, never a kill.
//!
//! A call is answered by the kernel, or fails with an `errno`: `EPERM` where it is known and refused, `ENOSYS` where
//! programs should believe that the kernel does not have it (their fallback is what we want), and `ENOSYS` for every
//! number without a line in the table, for other architectures (`int 0x80`) and for x32. The table, with the
//! reason of each line, is in [`table`]; rules about arguments are in [`rules`].
//!
//! Deliberately absent: arguments that lie in memory. The filter cannot read them, and another thread could change
//! them after the look; calls whose danger lies there (`clone3`, `openat2`) are absent as a whole.

use std::io;

use libc::sock_filter;

mod compile;
mod markdown;
mod numbers;
pub mod rule;
pub mod rules;
mod sys;
pub mod table;

#[cfg(test)]
mod interpreter;
#[cfg(test)]
mod tests;

pub use markdown::markdown;

#[cfg(not(all(target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the system-call table is reviewed for x86_64 and little-endian aarch64 only");

/// The filter's program, at most 4096 instructions (`BPF_MAXINSNS`).
///
/// In a `guard-off` build [`crate::guard::off`] leaves out: everything (`seccomp`), the look at architecture and x32
/// (`seccomp-x32-arch`), a rule (`seccomp-` and its name: `seccomp-socket`, `seccomp-suid`, …) or a call's line
/// (`seccomp-` and the call's name: `seccomp-ptrace`, `seccomp-clone3`, …).
pub fn program() -> Vec<sock_filter> {
    without(&|guard| crate::guard::off(guard))
}

/// The filter of a supervisor: the tools' list, without starting programs, sockets of this machine and signals to others.
pub fn supervisor_program() -> Vec<sock_filter> {
    compile::compile(table::supervisor_calls(), &|guard| crate::guard::off(guard))
}

/// Puts the filter on every thread of this process and all they start from now on.
///
/// # Errors
/// As [`install`], and where another thread has a filter of its own.
pub fn install_everywhere(program: &[sock_filter]) -> io::Result<()> {
    sys::set_filter(program, libc::SECCOMP_FILTER_FLAG_TSYNC)
}

/// Puts the filter on the calling thread and all it starts from now on.
///
/// # Errors
/// What seccomp(2) says: `EACCES` where `no_new_privs` is not set (the caller sets it), `EINVAL` where the kernel has
/// no filters.
pub fn install(program: &[sock_filter]) -> io::Result<()> {
    sys::set_filter(program, 0)
}

fn without(off: &dyn Fn(&str) -> bool) -> Vec<sock_filter> {
    if off("seccomp") { compile::nothing_refused() } else { compile::compile(table::calls(), off) }
}
