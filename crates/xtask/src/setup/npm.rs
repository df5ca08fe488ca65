//! Servers and the client from npm, exactly as locked, without running any script of theirs.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::once;
use crate::workspace::{Workspace, must};

/// `crates/testkit/packages/NAME` fills `CACHE/NAME`: servers and their clients, what the runtimes are tried with, a
/// registry to publish to, an OpenID provider, and the conformance suite with the Node that it needs.
const SETS: &[&str] = &["npm", "npm-runtimes", "npm-registry", "npm-identity", "npm-conformance"];

/// Installs the sets.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    SETS.iter().try_for_each(|set| prepare_set(workspace, set))
}

fn prepare_set(workspace: &Workspace, set: &str) -> Result<()> {
    let source = workspace.root.join("crates/testkit/packages").join(set);
    let target = workspace.cache.join(set);
    let lock =
        fs::read_to_string(source.join("package-lock.json")).context("the npm lock file cannot be read")?;
    once(&target, &lock, || {
        eprintln!("x: installing the npm test packages ({set})");
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
