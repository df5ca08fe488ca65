//! The user of the demonstration: a home folder with a key in it, and the product as that user runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use crate::workspace::Workspace;

/// A home folder with a private key in it, and folders for the configuration and state of this one demonstration.
pub(super) struct Home {
    folder: TempDir,
    product: PathBuf,
    sources: PathBuf,
}

impl Home {
    pub(super) fn new(workspace: &Workspace, product: PathBuf) -> Result<Self> {
        // Not below `/tmp`: a cell has its own.
        let folder = tempfile::Builder::new().prefix("fumehood-demo-").tempdir_in("/var/tmp")?;
        let sources = workspace.root.join("crates/xtask/src/demo");
        let home = Self { folder, product, sources };
        for name in ["home/.ssh", "home/.config/fumehood", "state", "tool"] {
            fs::create_dir_all(home.path(name))?;
        }
        fs::write(home.key(), "a private key that must not leave the host\n")?;
        Ok(home)
    }

    /// A path below the folder of this demonstration.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The private key.
    pub(super) fn key(&self) -> PathBuf {
        self.path("home/.ssh/id_demo")
    }

    /// Puts a program of the demonstration into the folder that cells may see.
    pub(super) fn tool(&self, name: &str) -> Result<PathBuf> {
        let place = self.path("tool").join(name);
        fs::copy(self.sources.join(name), &place)?;
        Ok(place)
    }

    /// What the user's own configuration file says.
    pub(super) fn configure(&self, text: &str) -> Result<()> {
        Ok(fs::write(self.path("home/.config/fumehood/config.toml"), text)?)
    }

    /// The product's program.
    pub(super) fn product(&self) -> &Path {
        &self.product
    }

    /// `fumehood`, as the user runs it.
    pub(super) fn fumehood(&self) -> Command {
        let mut command = Command::new(&self.product);
        command.envs(self.environment());
        command
    }

    /// What tells programs where this user's things are.
    pub(super) fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        [
            ("HOME", "home"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_DATA_HOME", "state"),
            ("XDG_RUNTIME_DIR", "state"),
            ("XDG_CONFIG_HOME", "home/.config"),
        ]
        .map(|(name, folder)| (name, self.path(folder)))
        .to_vec()
    }
}
