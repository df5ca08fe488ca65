//! Which locks are in use on this machine: what they pin is kept in the store.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

use anyhow::Context;
use cell::folders::{Folders, make_private};
use model::digest::Digest;

use super::lock_file::{LockFile, replace};

fn folder(folders: &Folders) -> PathBuf {
    folders.data.join("locks")
}

/// Remembers a lock.
pub(crate) fn remember(folders: &Folders, lock: &LockFile) -> anyhow::Result<()> {
    let path = fs::canonicalize(lock.path()).unwrap_or_else(|_| lock.path().to_owned());
    let bytes = path.as_os_str().as_bytes();
    let file = folder(folders).join(Digest::of(bytes).hex());
    if file.exists() {
        return Ok(());
    }
    make_private(&folder(folders))?;
    replace(&file, bytes)
}

/// Every lock that was remembered and is still there.
pub(crate) fn all(folders: &Folders) -> anyhow::Result<Vec<PathBuf>> {
    let folder = folder(folders);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("reading `{}`", folder.display())),
    };
    let mut locks = Vec::new();
    for entry in entries {
        let bytes = fs::read(entry.with_context(|| format!("reading `{}`", folder.display()))?.path())?;
        let path = PathBuf::from(OsString::from_vec(bytes));
        if path.is_file() {
            locks.push(path);
        }
    }
    locks.sort();
    Ok(locks)
}
