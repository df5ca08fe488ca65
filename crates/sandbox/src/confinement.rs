//! Confining this very process: a supervisor, once everything that needs more is done.
//!
//! Two layers. Landlock leaves it the paths it is given; the system-call filter is the tools' own list, without starting
//! programs, without Unix sockets, without signals to others. Neither can be taken off again.

use std::{io, path::PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, PathFdError, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use model::layer::{Layer, LayerName, LayerState};

/// What may be done below a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading files and listing folders.
    Read,
    /// Reading and changing files that are there: control files of the kernel.
    Control,
    /// Everything that is done with plain files and folders.
    Write,
    /// Listing folders; no file can be opened.
    List,
    /// Removing empty folders.
    RemoveFolders,
}

/// A path and what may be done below it. One that does not exist is passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub access: Access,
}

/// This process could not be confined. It may be confined in part, and must not go on.
#[derive(Debug, thiserror::Error)]
pub enum ConfinementError {
    /// Another thread would stay outside.
    #[error("this process has {threads} threads, of which only one would be confined")]
    Threads {
        /// How many there are.
        threads: usize,
    },
    /// Landlock is there but refused.
    #[error("entering the Landlock domain failed: {cause}")]
    Landlock {
        /// In words.
        cause: String,
    },
    /// New privileges cannot be given up, which the tool's own wall needs too.
    #[error("giving up new privileges failed: {0}")]
    Privileges(#[source] io::Error),
    /// The filter was refused.
    #[error("putting the system-call filter on failed: {0}")]
    Filter(#[source] io::Error),
}

impl ConfinementError {
    /// The layer that the host does not hold, as the jail would call it.
    pub fn layer(&self) -> &'static str {
        match self {
            Self::Privileges(_) => "no-new-privileges",
            Self::Filter(_) => "seccomp",
            Self::Landlock { .. } => "landlock",
            Self::Threads { .. } => "supervisor",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Threads { .. } => {
                "this is a mistake in Fumehood: please report it with this message".into()
            }
            Self::Landlock { .. } => {
                "the kernel has Landlock but refused the rules; look at `fumehood doctor`".into()
            }
            Self::Privileges(_) | Self::Filter(_) => {
                "the kernel refused a system-call filter: it needs CONFIG_SECCOMP_FILTER".into()
            }
        }
    }
}

/// How a supervisor on this host is confined.
pub fn layer() -> Layer {
    describe(jail::landlock_abi())
}

/// Confines this process for the rest of its life to `grants`, and to system calls that start no program and reach no
/// other process. The network stays as it is.
///
/// # Errors
/// Where the process has a second thread, or the kernel refuses. A kernel without Landlock is no error but a layer that
/// is missing.
pub fn enter(grants: &[Grant]) -> Result<Layer, ConfinementError> {
    let threads = threads();
    if threads != 1 {
        return Err(ConfinementError::Threads { threads });
    }
    rustix::thread::set_no_new_privs(true).map_err(|error| ConfinementError::Privileges(error.into()))?;
    let abi = jail::landlock_abi();
    if abi > 0 {
        let confined = domain(grants, ABI::from(abi));
        confined.map_err(|error| ConfinementError::Landlock { cause: error.to_string() })?;
    }
    let program = jail::seccomp::supervisor_program();
    jail::seccomp::install_everywhere(&program).map_err(ConfinementError::Filter)?;
    Ok(describe(abi))
}

/// Threads of this process. One that was joined a moment ago may still be there for an instant.
fn threads() -> usize {
    const LOOKS: usize = 50;
    let mut found = 0;
    for _ in 0..LOOKS {
        found = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        if found == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    found
}

fn domain(grants: &[Grant], abi: ABI) -> Result<(), Box<dyn std::error::Error>> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    // Signals are not scoped: the cell's PID 1 is outside of the domain and must be ended. The filter leaves no other way
    // to send one than a handle that is open already.
    let scopes = Scope::from_all(abi) & Scope::AbstractUnixSocket;
    if !scopes.is_empty() {
        ruleset = ruleset.scope(scopes)?;
    }
    let mut rules = ruleset.create()?;
    for grant in grants {
        rules = add(rules, grant, abi)?;
    }
    let status = rules.restrict_self()?;
    if status.ruleset == RulesetStatus::FullyEnforced {
        Ok(())
    } else {
        Err("the kernel did not enforce all of it".into())
    }
}

fn add(rules: RulesetCreated, grant: &Grant, abi: ABI) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let there = match PathFd::new(&grant.path) {
        Ok(there) => there,
        Err(PathFdError::OpenCall { source, .. })
            if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
        {
            return Ok(rules);
        }
        Err(error) => return Err(error.into()),
    };
    let folder = grant.path.is_dir();
    let mut access = rights(grant.access) & AccessFs::from_all(abi);
    if !folder {
        access &= AccessFs::from_file(abi);
    }
    if access.is_empty() {
        return Ok(rules);
    }
    Ok(rules.add_rule(PathBeneath::new(there, access))?)
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    match access {
        Access::Read => read,
        Access::Control => read | AccessFs::WriteFile,
        Access::Write => {
            read | AccessFs::WriteFile
                | AccessFs::Truncate
                | AccessFs::MakeReg
                | AccessFs::MakeDir
                | AccessFs::RemoveFile
                | AccessFs::RemoveDir
        }
        Access::List => AccessFs::ReadDir.into(),
        Access::RemoveFolders => AccessFs::RemoveDir.into(),
    }
}

fn describe(abi: i32) -> Layer {
    let calls = "no programs, no Unix sockets, no other processes";
    let (state, detail, remedy) = if abi > 0 {
        (LayerState::Enforced, format!("its own folders alone (Landlock ABI {abi}); {calls}"), "")
    } else {
        let remedy = "boot a kernel from 5.13 on with `landlock` in its `lsm=` list";
        (LayerState::Missing, format!("{calls}, but files of the user: the kernel has no Landlock"), remedy)
    };
    Layer { name: LayerName::Supervisor, state, detail, remedy: remedy.into() }
}

#[cfg(test)]
mod tests;
