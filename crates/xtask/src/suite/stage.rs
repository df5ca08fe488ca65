//! A place from which the ordinary test user can run what was built.
//!
//! A checkout may lie below a folder only its owner may enter. The tests that act as the ordinary user then get
//! copies elsewhere; where the checkout can be reached nothing is copied.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::setup::user;
use crate::workspace::{Workspace, answer, is_root, must};

const PREFIX: &str = "fumehood-stage-";

/// Where programs and packages are; copies go when this does.
#[derive(Debug)]
pub(super) struct Stage {
    copies: Option<PathBuf>,
    programs: PathBuf,
    cache: PathBuf,
}

impl Stage {
    /// Looks whether the test user can reach the build and the cache, and copies them when it cannot.
    pub(super) fn of(workspace: &Workspace) -> Result<Self> {
        sweep(&env::temp_dir());
        let programs = workspace.target.join("debug");
        if !is_root() || (reachable(&programs) && reachable(&workspace.cache)) {
            return Ok(Self { copies: None, programs, cache: workspace.cache.clone() });
        }
        let copies = env::temp_dir().join(format!("{PREFIX}{}", std::process::id()));
        let stage = Self { programs: copies.join("bin"), cache: copies.join("cache"), copies: Some(copies) };
        fs::create_dir_all(&stage.programs).context("cannot make a folder for the ordinary test user")?;
        fs::create_dir_all(&stage.cache)?;
        for entry in fs::read_dir(&programs)? {
            let path = entry?.path();
            // Programs have no extension; everything else there is Cargo's.
            if path.is_file() && path.extension().is_none() {
                copy(&path, &stage.programs)?;
            }
        }
        for entry in fs::read_dir(&workspace.cache)? {
            let path = entry?.path();
            let Some(name) = path.file_name() else { continue };
            if name == "npm" {
                copy(&path, &stage.cache)?;
            } else {
                // Python environments hold their own absolute path; these and the rest only root uses.
                std::os::unix::fs::symlink(&path, stage.cache.join(name))?;
            }
        }
        Ok(stage)
    }

    /// The folder of the built programs.
    pub(super) fn programs(&self) -> &Path {
        &self.programs
    }

    /// The folder of the test packages.
    pub(super) fn cache(&self) -> &Path {
        &self.cache
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(copies) = &self.copies
            && let Err(error) = fs::remove_dir_all(copies)
        {
            eprintln!("x: `{}` is left behind: {error}", copies.display());
        }
    }
}

fn reachable(path: &Path) -> bool {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user::NAME, "--regid", user::NAME, "--clear-groups", "test", "-r"]).arg(path);
    answer(&mut command).is_some()
}

fn copy(from: &Path, into: &Path) -> Result<()> {
    must(Command::new("cp").args(["-a", "--reflink=auto"]).arg(from).arg(into))
}

/// Takes away what killed runs left.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|pid| pid.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            eprintln!("x: `{}` cannot be removed: {error}", entry.path().display());
        }
    }
}
