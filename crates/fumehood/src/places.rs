//! Where this user's things lie, and which programs belong together.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use cell::folders::Folders;
use sandbox::process::Launcher;

use crate::stop::{self, Stop};

/// How long building a cell may take on an overloaded host.
const BUILDING: Duration = Duration::from_secs(20);

/// The folders, by the environment.
pub(crate) fn folders() -> anyhow::Result<Folders> {
    Folders::find(|name| std::env::var_os(name).map(PathBuf::from))
        .map_err(|error| Stop::new(stop::USAGE, error.to_string(), "set `HOME`").into())
}

/// Where the record of every call lies.
pub(crate) fn audit(folders: &Folders) -> PathBuf {
    folders.data.join("audit")
}

/// Clears up after supervisors that were killed; says what it could not remove.
pub(crate) fn sweep(folders: &Folders, verbose: bool) {
    match cell::sweep::sweep(folders) {
        Ok(swept) => {
            for id in swept.removed.iter().filter(|_| verbose) {
                crate::terminal::say(&format!(
                    "removed what was left of cell {id}, whose supervisor is dead"
                ));
            }
            for stuck in &swept.stuck {
                crate::terminal::say(&format!("what is left of a dead cell cannot be removed: {stuck}"));
            }
        }
        Err(error) => crate::terminal::say(&format!("cannot look for dead cells: {error}")),
    }
}

/// This program.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    let me = std::env::current_exe().context("reading /proc/self/exe")?;
    // One that was replaced while it runs is named so (proc(5)); the new one will do.
    Ok(match me.to_str().and_then(|path| path.strip_suffix(" (deleted)")) {
        Some(path) => PathBuf::from(path),
        None => me,
    })
}

/// The jail program lies beside this one, under this one's name and `-jail`.
pub(crate) fn launcher() -> anyhow::Result<Launcher> {
    let me = program()?;
    let mut program = me.into_os_string();
    program.push("-jail");
    Ok(Launcher { program: program.into(), timeout: BUILDING })
}
