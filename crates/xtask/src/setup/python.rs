//! Servers and the client from PyPI, one environment a set of pins that fit together.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::once;
use crate::workspace::{Workspace, answer, must};

/// `NAME.txt` in `crates/testkit/packages/python` fills `CACHE/python-NAME`.
///
/// The SQLite server was last released for the first major version of its SDK, hence a second set; the HTTP clients that
/// runtimes are tried with are a set of their own.
const SETS: &[&str] = &["current", "sqlite", "uv", "runtimes"];

/// The environment of a peer that is only measured.
const MITMPROXY: &str = "mitmproxy";

/// Makes and fills the environments.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    fill(workspace, SETS)
}

/// Makes and fills that of mitmproxy.
pub fn prepare_mitmproxy(workspace: &Workspace) -> Result<()> {
    fill(workspace, &[MITMPROXY])
}

/// The program of mitmproxy; none if it is not installed.
pub fn mitmdump(workspace: &Workspace) -> Option<PathBuf> {
    let environment = workspace.cache.join(format!("python-{MITMPROXY}"));
    environment.join(".ready").is_file().then(|| environment.join("bin/mitmdump"))
}

fn fill(workspace: &Workspace, sets: &[&str]) -> Result<()> {
    let interpreter =
        answer(Command::new("python3").args(["-c", "import sys; print(sys.executable, sys.version)"]))
            .context("`python3` does not run")?;
    for set in sets {
        let pins = workspace.root.join(format!("crates/testkit/packages/python/{set}.txt"));
        let target = workspace.cache.join(format!("python-{set}"));
        let text =
            fs::read_to_string(&pins).with_context(|| format!("`{}` cannot be read", pins.display()))?;
        once(&target, &format!("{interpreter}\n{}\n{text}", target.display()), || {
            eprintln!("x: installing the PyPI test packages ({set})");
            must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&target))?;
            must(
                Command::new(target.join("bin/python"))
                    .args(["-m", "pip", "install", "-q", "--no-input", "--disable-pip-version-check"])
                    .args(["--no-deps", "--only-binary", ":all:", "-r"])
                    .arg(&pins),
            )
        })?;
    }
    Ok(())
}
