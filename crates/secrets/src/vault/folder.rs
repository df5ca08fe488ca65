//! The vault's folder and files: whose they are, and who else can get at them.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io::{self, ErrorKind, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::VaultError;

/// The largest sealed vault, in bytes: every secret of the greatest length, with an index and the seal.
pub(super) const LARGEST: u64 = 16 << 20;

/// Makes an error of a system call.
pub(super) fn failed(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> VaultError {
    let path = path.to_owned();
    move |source| VaultError::Io { step, path, source }
}

/// Makes the folder where it is missing, for its owner alone.
pub(super) fn make(folder: &Path) -> Result<(), VaultError> {
    if let Some(parent) = folder.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed("making", parent))?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed("making", folder)(error)),
    }
    check_folder(folder).map(|_| ())
}

/// Looks at the folder; whether there is one.
pub(super) fn check_folder(folder: &Path) -> Result<bool, VaultError> {
    let facts = match fs::symlink_metadata(folder) {
        Ok(facts) => facts,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(failed("looking at", folder)(error)),
    };
    if !facts.is_dir() {
        return Err(VaultError::Kind { path: folder.to_owned(), wanted: "a folder" });
    }
    check(folder, &facts, 0o700)?;
    Ok(true)
}

/// Reads a file of its owner's alone; nothing where there is none. Links are not followed.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, VaultError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed("reading", path))?;
    Ok(Some(bytes))
}

/// Opens such a file.
pub(super) fn open(path: &Path) -> Result<Option<File>, VaultError> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(no_follow.bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(VaultError::Kind { path: path.to_owned(), wanted: "a file" });
        }
        Err(error) => return Err(failed("opening", path)(error)),
    };
    let facts = file.metadata().map_err(failed("looking at", path))?;
    if !facts.is_file() {
        return Err(VaultError::Kind { path: path.to_owned(), wanted: "a file" });
    }
    check(path, &facts, 0o600)?;
    Ok(Some(file))
}

/// Whether a name is taken, by whatever it is.
pub(super) fn exists(path: &Path) -> Result<bool, VaultError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(failed("looking at", path)(error)),
    }
}

/// Moves a file out of the way, in place of one that was moved before.
pub(super) fn set_aside(path: &Path) -> Result<Option<PathBuf>, VaultError> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".set-aside");
    let aside = PathBuf::from(aside);
    match fs::rename(path, &aside) {
        Ok(()) => Ok(Some(aside)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("moving away", path)(error)),
    }
}

fn check(path: &Path, facts: &Metadata, wanted: u32) -> Result<(), VaultError> {
    let me = rustix::process::geteuid().as_raw();
    if facts.uid() != me {
        return Err(VaultError::Foreign { path: path.to_owned(), owner: facts.uid(), me });
    }
    let mode = facts.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(VaultError::Exposed { path: path.to_owned(), mode, wanted });
    }
    Ok(())
}
