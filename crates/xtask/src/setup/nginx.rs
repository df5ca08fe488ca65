//! nginx for measurements: only its program, in the cache; a package that is installed would start a server.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::once;
use crate::workspace::{Workspace, answer, has_program, is_root, must};

/// Fetches and unpacks the Debian package, unless there is an nginx.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    if has_program("nginx") {
        return Ok(());
    }
    if !has_program("apt-get") {
        bail!("it comes from Debian's package `nginx`");
    }
    let target = workspace.cache.join("nginx");
    once(&target, "1", || {
        eprintln!("x: unpacking nginx");
        fs::create_dir_all(&target)?;
        if is_root() {
            must(Command::new("apt-get").args(["update", "-qq"]))?;
        }
        must(Command::new("apt-get").args(["download", "-qq", "nginx"]).current_dir(&target))?;
        let package = fs::read_dir(&target)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
            .context("no package was downloaded")?;
        must(Command::new("dpkg").arg("-x").arg(package).arg(&target))
    })
}

/// Its program; none if there is none that starts.
pub fn program(workspace: &Workspace) -> Option<PathBuf> {
    let unpacked = workspace.cache.join("nginx/usr/sbin/nginx");
    let program = if unpacked.is_file() { unpacked } else { "nginx".into() };
    answer(Command::new(&program).arg("-v")).is_some().then_some(program)
}
