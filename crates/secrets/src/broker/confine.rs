//! What the broker takes from itself before it gives the first secret away: every file but those it looks at, every new
//! socket, every program, every other process.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::vault::Store;

/// What stays open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    readable: Vec<PathBuf>,
}

/// A broker that cannot confine itself.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// The filter of system calls is refused.
    #[error("the broker cannot confine itself: {0}")]
    Filter(#[from] seccompiler::Error),
    /// The table of calls makes no filter here.
    #[error("the broker cannot confine itself: {0}")]
    Table(#[from] seccompiler::BackendError),
    /// Gaining privileges cannot be given up.
    #[error("the broker cannot confine itself: giving up new privileges failed: {0}")]
    Privileges(#[source] io::Error),
    /// Landlock is there and refuses.
    #[error("the broker cannot confine itself: {0}")]
    Landlock(#[from] landlock::RulesetError),
}

impl ConfineError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "`fumehood doctor` shows what this host's kernel can hold"
    }
}

impl Confinement {
    /// For a broker of this vault that looks at these files.
    pub fn of<'a>(store: &Store, files: impl Iterator<Item = &'a Path>) -> Self {
        let mut readable = vec![store.folder().to_owned()];
        readable.extend(files.map(place));
        Self { readable }
    }

    /// Confines this thread, and whatever it would start. Landlock as far as this kernel has it.
    pub fn enter(&self) -> Result<(), ConfineError> {
        rustix::thread::set_no_new_privs(true).map_err(|error| ConfineError::Privileges(error.into()))?;
        self.close_files()?;
        seccompiler::apply_filter(&filter()?)?;
        Ok(())
    }

    fn close_files(&self) -> Result<(), ConfineError> {
        let abi = ABI::V6;
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .scope(Scope::from_all(abi))?
            .create()?;
        for path in &self.readable {
            // What is not there needs no way in.
            let Ok(opened) = PathFd::new(path) else { continue };
            let folder = AccessFs::ReadFile | AccessFs::ReadDir;
            let access = if path.is_dir() { folder } else { AccessFs::ReadFile.into() };
            rules = rules.add_rule(PathBeneath::new(opened, access))?;
        }
        rules.restrict_self()?;
        Ok(())
    }
}

/// The folder of a file, since a file is often replaced by another under its name; the file alone where that folder holds
/// somebody's home, or everything.
fn place(file: &Path) -> PathBuf {
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let home = std::env::var_os("HOME").and_then(|home| std::fs::canonicalize(home).ok());
    match file.parent() {
        Some(folder)
            if folder.components().count() > 2 && home.is_none_or(|home| !home.starts_with(folder)) =>
        {
            folder.to_owned()
        }
        _ => file,
    }
}

/// Everything that is not named fails with `EPERM`.
fn filter() -> Result<BpfProgram, ConfineError> {
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> =
        CALLS.iter().map(|call| (*call, Vec::new())).collect();
    let refused = u32::try_from(libc::EPERM).unwrap_or(1);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Errno(refused),
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok(filter.try_into()?)
}

/// What a broker needs once it has begun: reading files, writing to the one socket it has, memory, time, its end.
const CALLS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_lseek,
    libc::SYS_fcntl,
    libc::SYS_geteuid,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mlock,
    libc::SYS_munlock,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_sched_yield,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

#[cfg(test)]
mod tests;
