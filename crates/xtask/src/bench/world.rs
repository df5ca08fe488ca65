//! Folders of one measurement, and the product in them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::api;
use crate::workspace::Workspace;

/// State folders that go with the measurement.
#[derive(Debug)]
pub(super) struct World {
    product: PathBuf,
    packages: PathBuf,
    state: TempDir,
}

impl World {
    pub(super) fn new(workspace: &Workspace, product: &Path) -> Result<Self> {
        let state = TempDir::with_prefix("fumehood-bench-")?;
        Ok(Self { product: product.to_owned(), packages: workspace.cache.join("npm"), state })
    }

    /// `node` and the program of a server from npm.
    pub(super) fn server(&self, name: &str) -> Vec<String> {
        let path =
            self.packages.join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
        vec!["node".to_owned(), path.display().to_string()]
    }

    /// A server from npm in a cell.
    pub(super) fn confined(&self, name: &str) -> Command {
        self.confined_with(name, &[])
    }

    /// A server from npm in a cell, with more options.
    pub(super) fn confined_with(&self, name: &str, options: &[&str]) -> Command {
        let mut command = Command::new(&self.product);
        command
            .args(["run", "--unreviewed", "--name", name, "--mount"])
            .arg(&self.packages)
            .args(options)
            .arg("--")
            .args(self.server(name));
        self.settle(&mut command);
        command
    }

    /// Keeps a secret in this measurement's vault, for requests to `host`.
    pub(super) fn keep_secret(&self, name: &str, value: &str, host: &str) -> Result<()> {
        let mut command = self.fumehood(&["secret", "set", name, "--host", host]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().context("no stdin")?.write_all(value.as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("the vault took no secret: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// Model-written code in a cell.
    pub(super) fn exec(&self, program: &[String]) -> Command {
        let mut command = Command::new(&self.product);
        command.args(["exec", "--"]).args(program);
        self.settle(&mut command);
        command
    }

    /// The product with these arguments.
    pub(super) fn fumehood(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.product);
        command.args(arguments);
        self.settle(&mut command);
        command
    }

    /// A file that goes with the measurement.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.state.path().join(name)
    }

    /// Writes the operator's file.
    pub(super) fn configure(&self, text: &str) -> Result<()> {
        let folder = self.state.path().join("fumehood");
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join("config.toml"), text)?)
    }

    /// Gives a command this measurement's folders.
    pub(super) fn settle(&self, command: &mut Command) {
        for name in ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
            command.env(name, self.state.path());
        }
        // The memory server otherwise looks into its own package.
        command.env("MEMORY_FILE_PATH", self.state.path().join("memory.jsonl"));
        command.current_dir(self.state.path());
    }

    /// Takes away what this machine trusts besides: it costs every start of Node.js outside, and a cell has its own.
    pub(super) fn without_own_roots(command: &mut Command) {
        for name in ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
            command.env_remove(name);
        }
    }

    /// The sockets of running cells.
    pub(super) fn sockets(&self) -> Vec<PathBuf> {
        api::sockets(self.state.path())
    }
}
