//! Servers and the client from npm, exactly as locked, without running any script of theirs.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::once;
use crate::workspace::{Workspace, must};

/// Installs `crates/testkit/packages/npm` into `CACHE/npm`.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    let source = workspace.root.join("crates/testkit/packages/npm");
    let target = workspace.cache.join("npm");
    let lock =
        fs::read_to_string(source.join("package-lock.json")).context("the npm lock file cannot be read")?;
    once(&target, &lock, || {
        eprintln!("x: installing the npm test packages");
        fs::create_dir_all(&target)?;
        for name in ["package.json", "package-lock.json"] {
            fs::copy(source.join(name), target.join(name))
                .with_context(|| format!("cannot copy `{name}`"))?;
        }
        must(
            Command::new("npm")
                .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
                .current_dir(&target),
        )
    })
}
