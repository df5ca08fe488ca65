//! A new version of a server, installed beside the one in use, until a person has decided about it.

use std::{fs, io, path::PathBuf};

use anyhow::Context;
use cell::folders::{Folders, make_private};

use super::{
    lock_file::{Entry, LockFile},
    target::Target,
};

fn folder(target: &Target, folders: &Folders) -> PathBuf {
    folders.data.join("updates").join(target.lock.key(&target.name))
}

/// The version that waits, where one does.
pub(crate) fn read(target: &Target, folders: &Folders) -> anyhow::Result<Option<Entry>> {
    LockFile::at(&folder(target, folders)).entry(&target.name)
}

/// Keeps a version until it is decided about, in the place of another one.
pub(crate) fn write(target: &Target, folders: &Folders, entry: &Entry) -> anyhow::Result<()> {
    let folder = folder(target, folders);
    make_private(&folder)?;
    LockFile::at(&folder).write(&target.name, entry)
}

/// Forgets it; whether there was one.
pub(crate) fn clear(target: &Target, folders: &Folders) -> anyhow::Result<bool> {
    let folder = folder(target, folders);
    match fs::remove_dir_all(&folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("removing `{}`", folder.display())),
    }
}
