//! Servers and the client from PyPI, one environment a set of pins that fit together.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::once;
use crate::workspace::{Workspace, answer, must};

/// `NAME.txt` in `crates/testkit/packages/python` fills `CACHE/python-NAME`.
///
/// The SQLite server was last released for the first major version of its SDK, hence a second set.
const SETS: &[&str] = &["current", "sqlite", "uv"];

/// Makes and fills the environments.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    let interpreter =
        answer(Command::new("python3").args(["-c", "import sys; print(sys.executable, sys.version)"]))
            .context("`python3` does not run")?;
    for set in SETS {
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
