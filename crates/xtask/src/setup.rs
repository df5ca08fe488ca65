//! What the tests need on the machine: system packages, the ordinary user, real servers from npm and PyPI.
//!
//! Everything is looked at first and done only when missing, so that a second run costs nothing.

pub mod machine;
pub mod nginx;
pub mod npm;
pub mod python;
pub mod system;
pub mod user;

use std::fs::{self, File};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// What is being prepared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// The tests.
    Tests,
    /// The demonstration.
    Demo,
    /// Measurements, which need the other sandboxes too.
    Bench,
}

/// Prepares the machine; says what it does on stderr, and nothing when all is there.
pub fn prepare(workspace: &Workspace, purpose: For) -> Result<()> {
    fs::create_dir_all(&workspace.cache)
        .with_context(|| format!("cannot make `{}`", workspace.cache.display()))?;
    // Two runs in one checkout would otherwise install into the same folder at once.
    let lock =
        File::create(workspace.cache.join("lock")).context("cannot make the lock of the cache folder")?;
    lock.lock().context("cannot lock the cache folder")?;
    system::prepare(purpose)?;
    user::prepare()?;
    npm::prepare(workspace)?;
    python::prepare(workspace)?;
    if purpose == For::Bench {
        // Measurements go on without the programs of others.
        for (name, prepared) in
            [("nginx", nginx::prepare(workspace)), ("mitmproxy", python::prepare_mitmproxy(workspace))]
        {
            if let Err(error) = prepared {
                eprintln!("x: {name} is not installed: {error:#}");
            }
        }
    }
    if purpose == For::Tests {
        machine::prepare(workspace);
    }
    Ok(())
}

/// Does `work` unless `folder/.ready` already holds `key`; writes it afterwards.
fn once(folder: &std::path::Path, key: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = folder.join(".ready");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == key) {
        return Ok(());
    }
    work()?;
    fs::write(&stamp, key).with_context(|| format!("cannot write `{}`", stamp.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_a_key_and_again_after_a_failure() {
        let folder = std::env::temp_dir().join(format!("fumehood-once-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut runs = 0;
        assert!(once(&folder, "a", || anyhow::bail!("no network")).is_err());
        for key in ["a", "a", "b", "b"] {
            once(&folder, key, || {
                runs += 1;
                Ok(())
            })
            .unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(runs, 2);
    }
}
