//! The store: every installed tree once, under the digest of its content, read-only.
//!
//! ```text
//! trees/<64 hex digits>/tree       the files: 0444 or 0555, folders 0555
//!                      /list       every file with its hash, links with their targets
//!                      /seen       what the file system said of every file when its hash was last right, and at which boot
//!                      /held       locked (shared) by whoever uses the tree
//! staging/<name>/…                 what is made now; its file `held` is locked by its maker
//! orders/<digest of an order>      what came of it
//! locks/<digest of an order>       locked by whoever carries it out
//! ```

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use model::digest::Digest;

pub use self::{
    copy::TreeError,
    gc::Collected,
    package::{Package, VerifyError},
};
use crate::order::Record;

mod copy;
mod gc;
mod held;
mod orders;
mod package;
mod remove;
mod seen;
mod staging;
mod tree;

pub(crate) use self::{
    orders::Claim,
    staging::{Made, Staging, sweep},
    tree::OWN,
};

/// Where installed trees lie: `$XDG_DATA_HOME/fumehood/store`, of this user only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// One tree of the store, for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The digest of its content: its name.
    pub content: Digest,
    /// Bytes of its files.
    pub size: u64,
    /// How many files, folders and links it has.
    pub entries: usize,
    /// When it was put there.
    pub since: Option<SystemTime>,
    /// What it was ordered as, where that is still known: sources as `npx:PKG@VERSION`, sorted.
    pub sources: Vec<String>,
}

/// The store cannot do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A tree that is not kept.
    #[error("the installed tree is not kept: {0}")]
    Tree(#[from] TreeError),
    /// A system call failed.
    #[error("{step} `{path}` failed: {source}")]
    Io {
        /// What was tried.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Tree(TreeError::Io { .. } | TreeError::Walk(_)) | Self::Io { .. } => {
                "see that your disk is not full and the folder is yours".to_owned()
            }
            Self::Tree(TreeError::TooMany { .. }) => "it is too large for one server".to_owned(),
            Self::Tree(_) => "do not use this package: no honest one needs that".to_owned(),
        }
    }

    pub(crate) fn io(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { step, path, source }
    }
}

impl Store {
    /// The store in this folder, whether it exists or not.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The tree of this content, where it is there. Whether it is still what it was is another question:
    /// [`Package::verify`].
    pub fn find(&self, content: &Digest) -> Option<Package> {
        Package::open(&self.tree(content), *content)
    }

    /// What was told when this content was installed, where that is still known.
    pub fn record(&self, content: &Digest) -> Option<Record> {
        orders::all(self).into_iter().find(|record| record.content == *content)
    }

    /// Every tree, by digest.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`] where the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Stored>, StoreError> {
        let orders = orders::all(self);
        let mut stored = Vec::new();
        for content in self.contents()? {
            let Some(package) = self.find(&content) else { continue };
            let (entries, size) = package.weight();
            let sources: BTreeSet<String> = orders
                .iter()
                .filter(|record| record.content == content)
                .map(|record| record.source.clone())
                .collect();
            stored.push(Stored {
                content,
                size,
                entries,
                since: package.since(),
                sources: sources.into_iter().collect(),
            });
        }
        Ok(stored)
    }

    /// Removes every tree whose digest is not in `keep` and that nobody uses now.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`] where something could not be removed; what was removed before is gone.
    pub fn gc(&self, keep: &BTreeSet<Digest>) -> Result<Collected, StoreError> {
        gc::collect(self, keep)
    }

    fn contents(&self) -> Result<Vec<Digest>, StoreError> {
        let folder = self.trees();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("reading", &folder)(error)),
        };
        let mut contents: Vec<Digest> =
            entries.filter_map(|entry| Digest::from_hex(entry.ok()?.file_name().to_str()?).ok()).collect();
        contents.sort_unstable();
        Ok(contents)
    }

    fn trees(&self) -> PathBuf {
        self.folder.join("trees")
    }

    fn tree(&self, content: &Digest) -> PathBuf {
        self.trees().join(content.hex())
    }

    /// Makes a folder of the store that only we can look into, and says where it is.
    fn own(&self, name: &str) -> Result<PathBuf, StoreError> {
        use std::os::unix::fs::DirBuilderExt;

        let folder = self.folder.join(name);
        let mut maker = fs::DirBuilder::new();
        maker.recursive(true).mode(0o700).create(&folder).map_err(StoreError::io("making", &folder))?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests;
