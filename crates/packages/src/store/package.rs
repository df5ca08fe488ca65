//! One tree of the store.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use model::digest::Digest;

use super::{
    copy, held, seen,
    tree::{self, Listing},
};

/// A tree of the store. As long as it is held, no collection takes it away.
#[derive(Debug)]
pub struct Package {
    /// `trees/<digest>`.
    folder: PathBuf,
    content: Digest,
    _held: File,
}

/// The tree is not what it was when it was installed.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A file was changed, added, or is missing.
    #[error("`{path}` {what} since it was installed")]
    Changed {
        /// Which, within the tree.
        path: PathBuf,
        /// `was changed`, `was added` or `is missing`.
        what: &'static str,
    },
    /// The list of files is not the one of this tree.
    #[error("the list of what was installed is damaged")]
    List,
    /// It cannot be read.
    #[error("reading the installed tree failed: {0}")]
    Io(#[from] io::Error),
}

impl VerifyError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        "do not use what is there; `fumehood lock SERVER` installs it anew, as it is pinned".to_owned()
    }
}

impl Package {
    pub(super) fn open(folder: &Path, content: Digest) -> Option<Self> {
        let held = held::together(&folder.join("held"))?;
        Some(Self { folder: folder.to_owned(), content, _held: held })
    }

    /// The digest of its content.
    pub fn content(&self) -> Digest {
        self.content
    }

    /// Where its files are.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// Whether it is what was installed. Quick where the file system says of every file what it said before, at this boot;
    /// else every byte is read.
    ///
    /// # Errors
    ///
    /// [`VerifyError`] where it is not: it must not be started.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let seen = seen::look(&self.tree())?;
        if fs::read(self.folder.join("seen")).is_ok_and(|before| before == seen) {
            return Ok(());
        }
        self.verify_every_byte()?;
        // What was changed while it was read differs from this at the next look.
        self.remember(&seen)?;
        Ok(())
    }

    /// The same, with every byte read.
    ///
    /// # Errors
    ///
    /// [`VerifyError`] where it is not.
    pub fn verify_every_byte(&self) -> Result<(), VerifyError> {
        let list = Listing::from_bytes(&fs::read(self.folder.join("list"))?).ok_or(VerifyError::List)?;
        if list.content() != self.content {
            return Err(VerifyError::List);
        }
        if let Some((path, what)) = list.difference(&copy::list(&self.tree())?) {
            return Err(VerifyError::Changed { path, what });
        }
        Ok(())
    }

    /// Entries, and bytes of files.
    pub(super) fn weight(&self) -> (usize, u64) {
        let (mut entries, mut size) = (0, 0);
        // What cannot be read is not counted: this is for a list.
        tree::walk(&self.tree(), &mut |_, _, facts| -> io::Result<()> {
            entries += 1;
            size += if facts.is_file() { facts.size() } else { 0 };
            Ok(())
        })
        .ok();
        (entries, size)
    }

    pub(super) fn since(&self) -> Option<SystemTime> {
        fs::metadata(self.folder.join("list")).ok()?.modified().ok()
    }

    fn remember(&self, seen: &[u8]) -> io::Result<()> {
        // Others may do the same now: each writes a file of its own.
        let own = self.folder.join(format!("seen.{}", std::process::id()));
        fs::write(&own, seen)?;
        fs::rename(own, self.folder.join("seen"))
    }
}
