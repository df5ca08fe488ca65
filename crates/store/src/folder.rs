//! Folders and files that are their owner's alone.

use std::{
    fs::{self, DirBuilder, Metadata, OpenOptions},
    io::{self, ErrorKind, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;

use crate::TrustError;

/// The largest file, in bytes: a surface of the greatest size, every byte of it escaped.
const LARGEST: u64 = 64 << 20;

/// Makes an error of a system call.
pub(crate) fn failed(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TrustError {
    let path = path.to_owned();
    move |source| TrustError::Io { step, path, source }
}

/// Makes a folder for its owner alone where it is missing, and everything above it.
pub(crate) fn make(folder: &Path) -> Result<(), TrustError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed("making", folder))?;
    check(folder).map(|_| ())
}

/// Looks at a folder; whether there is one.
pub(crate) fn check(folder: &Path) -> Result<bool, TrustError> {
    match fs::symlink_metadata(folder) {
        Ok(facts) if facts.is_dir() => is_alone(folder, &facts, 0o700).map(|()| true),
        Ok(_) => Err(TrustError::Kind { path: folder.to_owned(), wanted: "a folder" }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("looking at", folder)(error)),
    }
}

/// Reads a file of its owner's alone; nothing where there is none. Links are not followed.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, TrustError> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(TrustError::Kind { path: path.to_owned(), wanted: "a file" });
        }
        Err(error) => return Err(failed("opening", path)(error)),
    };
    let facts = file.metadata().map_err(failed("looking at", path))?;
    if !facts.is_file() {
        return Err(TrustError::Kind { path: path.to_owned(), wanted: "a file" });
    }
    is_alone(path, &facts, 0o600)?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(failed("reading", path))?;
    Ok(Some(bytes))
}

fn is_alone(path: &Path, facts: &Metadata, wanted: u32) -> Result<(), TrustError> {
    let me = rustix::process::geteuid().as_raw();
    if facts.uid() != me {
        return Err(TrustError::Foreign { path: path.to_owned(), owner: facts.uid(), me });
    }
    let mode = facts.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TrustError::Exposed { path: path.to_owned(), mode, wanted });
    }
    Ok(())
}
