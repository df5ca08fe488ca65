//! The repository's files as the rules of tidiness see them: names and texts, no disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Names and texts of the files that are tracked, or would be if somebody committed now.
#[derive(Debug, Default, Clone)]
pub struct Tree {
    names: BTreeSet<String>,
    texts: BTreeMap<String, String>,
}

impl Tree {
    /// Reads a checkout. Files that are not UTF-8 keep their name and lose their text.
    pub fn read(root: &Path) -> Result<Self> {
        let listed = Command::new("git")
            // A checkout may belong to another user than the one who runs the tests.
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("`git ls-files` could not be started")?;
        if !listed.status.success() {
            bail!("`git ls-files` failed: {}", String::from_utf8_lossy(&listed.stderr).trim());
        }
        let mut tree = Self::default();
        for name in String::from_utf8_lossy(&listed.stdout).split_terminator('\0') {
            // Listed and deleted, or being replaced by somebody else just now.
            let Ok(bytes) = fs::read(root.join(name)) else { continue };
            tree.names.insert(name.to_owned());
            if let Ok(text) = String::from_utf8(bytes) {
                tree.texts.insert(name.to_owned(), text);
            }
        }
        Ok(tree)
    }

    /// A tree of these files.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (name, text) in files {
            tree.names.insert((*name).to_owned());
            tree.texts.insert((*name).to_owned(), (*text).to_owned());
        }
        tree
    }

    /// One file's text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// All file names, `/`-separated, relative to the top.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// All text files with their texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// All Rust files with their texts.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(name, _)| has_extension(name, "rs"))
    }

    /// Whether a file or folder of this name is there.
    pub fn holds(&self, name: &str) -> bool {
        let folder = format!("{name}/");
        name.is_empty() || self.names.contains(name) || self.names().any(|other| other.starts_with(&folder))
    }
}

/// Whether a name ends in `.extension`.
pub fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}
