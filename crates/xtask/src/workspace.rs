//! Where things are, and how a program is run.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::tree::Tree;

/// The checkout this program was built from.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Its top folder.
    pub root: PathBuf,
    /// Where packages for the tests are kept: `$FUMEHOOD_CACHE`, else `.cache` in the checkout.
    pub cache: PathBuf,
    /// Cargo's output folder.
    pub target: PathBuf,
}

impl Workspace {
    /// Finds the checkout.
    pub fn here() -> Result<Self> {
        // Cargo says where; what was compiled in may be another checkout with the same output folder.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = manifest.ancestors().nth(2).context("this program is not in a checkout")?.to_path_buf();
        let from_env = |name: &str, fallback: &str| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map_or_else(|| root.join(fallback), |value| root.join(value))
        };
        Ok(Self {
            cache: from_env("FUMEHOOD_CACHE", ".cache"),
            target: from_env("CARGO_TARGET_DIR", "target"),
            root,
        })
    }

    /// The text files that are tracked or would be, read into memory.
    pub fn tree(&self) -> Result<Tree> {
        Tree::read(&self.root)
    }

    /// `cargo` with these arguments, run in the checkout.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Builds the product as it is measured and shown; the path of its program.
    pub fn build_product(&self) -> Result<PathBuf> {
        must(&mut self.cargo(&["build", "-q", "--profile", "demo", "-p", "fumehood", "--bins"]))?;
        Ok(self.target.join("demo/fumehood"))
    }
}

/// Runs a command and fails with its words when it fails. Nothing is read from a terminal.
pub fn must(command: &mut Command) -> Result<()> {
    let words = words(command);
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("`{words}` could not be started"))?;
    if !status.success() {
        bail!("`{words}` failed ({status})");
    }
    Ok(())
}

/// What a command prints, trimmed; none when it cannot be started or fails.
pub fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether a program is on the `PATH`.
pub fn has_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Whether this is root.
pub fn is_root() -> bool {
    answer(Command::new("id").arg("-u")).as_deref() == Some("0")
}

fn words(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}
