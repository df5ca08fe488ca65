//! Replacing a file as a whole: whoever is killed at any moment leaves the old one or the new one.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::{VaultError, folder::failed};

/// What becomes of the version that is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// It is kept under this name.
    As(&'static str),
    /// It is dropped.
    Nothing,
}

/// Where a write has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing has been done.
    Begun,
    /// A file is there, and empty.
    Made,
    /// A part is in it.
    Half,
    /// All of it is.
    Whole,
    /// It is on the disk.
    Synced,
    /// The version before has its second name.
    Linked,
    /// That name is the one it is kept under.
    Kept,
    /// The new version has its name.
    Replaced,
    /// The folder is on the disk.
    Done,
}

#[cfg(test)]
impl Step {
    pub(super) const ALL: [Self; 9] = [
        Self::Begun,
        Self::Made,
        Self::Half,
        Self::Whole,
        Self::Synced,
        Self::Linked,
        Self::Kept,
        Self::Replaced,
        Self::Done,
    ];
}

/// Puts `bytes` in the place of `folder`/`name`, whose mode becomes 0600. Only one process does so at a time.
pub(super) fn replace(
    folder: &Path,
    name: &str,
    bytes: &[u8],
    keep: Keep,
    reached: &mut dyn FnMut(Step),
) -> Result<(), VaultError> {
    let new = Scrap(folder.join(format!("{name}.new")));
    let place = folder.join(name);
    reached(Step::Begun);
    remove(&new.0)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new.0)
        .map_err(failed("making", &new.0))?;
    reached(Step::Made);
    let (first, second) = bytes.split_at_checked(bytes.len() / 2).unwrap_or((bytes, &[]));
    file.write_all(first).map_err(failed("writing", &new.0))?;
    reached(Step::Half);
    file.write_all(second).map_err(failed("writing", &new.0))?;
    reached(Step::Whole);
    file.sync_all().map_err(failed("writing", &new.0))?;
    reached(Step::Synced);
    if let Keep::As(kept) = keep {
        let linked = Scrap(folder.join(format!("{kept}.new")));
        remove(&linked.0)?;
        match second_name(&place, &linked.0) {
            Ok(()) => {
                reached(Step::Linked);
                let kept = folder.join(kept);
                fs::rename(&linked.0, &kept).map_err(failed("keeping", &kept))?;
                reached(Step::Kept);
            }
            // The first version replaces nothing.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed("keeping", &place)(error)),
        }
    }
    fs::rename(&new.0, &place).map_err(failed("replacing", &place))?;
    reached(Step::Replaced);
    sync(folder).map_err(failed("writing", folder))?;
    reached(Step::Done);
    Ok(())
}

/// A second name for the same bytes; a copy where the file system has no second names.
fn second_name(of: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(of, name) {
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) => {
            fs::copy(of, name)?;
            File::open(name)?.sync_all()
        }
        other => other,
    }
}

/// Makes the names of a folder last.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A file that is not left behind.
struct Scrap(PathBuf);

impl Drop for Scrap {
    fn drop(&mut self) {
        remove(&self.0).ok();
    }
}

pub(super) fn remove(path: &Path) -> Result<(), VaultError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("removing", path)(error)),
        _ => Ok(()),
    }
}
