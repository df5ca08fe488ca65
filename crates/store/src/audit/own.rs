//! Files and folders that are their owner's alone.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::Path,
    time::{Duration, Instant},
};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::AuditError;

/// How long another process may hold what is locked for a moment.
const PATIENCE: Duration = Duration::from_secs(20);

/// Makes an error of a system call.
pub(super) fn failed(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
    let path = path.to_owned();
    move |error| AuditError::Io { step, path, kind: error.kind(), reason: error.to_string() }
}

/// Makes a folder for its owner alone where it is missing, and everything above it.
pub(super) fn make_folder(folder: &Path) -> Result<(), AuditError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed("making", folder))?;
    check_folder(folder)
}

/// Looks at a folder.
pub(super) fn check_folder(folder: &Path) -> Result<(), AuditError> {
    match fs::symlink_metadata(folder) {
        Ok(facts) if facts.is_dir() => check(folder, &facts),
        Ok(_) => Err(AuditError::Kind { path: folder.to_owned(), wanted: "a folder" }),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(AuditError::Missing(folder.to_owned())),
        Err(error) => Err(failed("looking at", folder)(error)),
    }
}

/// Opens a file to read and write, and makes it where it is missing.
pub(super) fn open_or_make(path: &Path) -> Result<File, AuditError> {
    open(path, OpenOptions::new().read(true).write(true).create(true).mode(0o600))
}

/// Opens a file to read; nothing where there is none.
pub(super) fn open_to_read(path: &Path) -> Result<Option<File>, AuditError> {
    match open(path, OpenOptions::new().read(true)) {
        Ok(file) => Ok(Some(file)),
        Err(AuditError::Io { kind: ErrorKind::NotFound, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks at a file without opening it; its inode, or nothing where there is none. Closing a file takes every lock away that
/// this process has on it (fcntl(2)), also those of a database that it has open.
pub(super) fn look_at(path: &Path) -> Result<Option<u64>, AuditError> {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_file() => check(path, &facts).map(|()| Some(facts.ino())),
        Ok(_) => Err(AuditError::Kind { path: path.to_owned(), wanted: "a file" }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("looking at", path)(error)),
    }
}

/// Links are not followed, and nobody is waited for at the other end of a FIFO (open(2)).
fn open(path: &Path, options: &mut OpenOptions) -> Result<File, AuditError> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file = options.custom_flags(flags).open(path).map_err(failed("opening", path))?;
    let facts = file.metadata().map_err(failed("looking at", path))?;
    if !facts.is_file() {
        return Err(AuditError::Kind { path: path.to_owned(), wanted: "a file" });
    }
    check(path, &facts).map(|()| file)
}

/// Waits till no other process holds this file's lock.
pub(super) fn lock(file: &File, path: &Path) -> Result<(), AuditError> {
    lock_within(PATIENCE, file, path)
}

/// Waits so long at most.
pub(super) fn lock_within(patience: Duration, file: &File, path: &Path) -> Result<(), AuditError> {
    let begin = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if begin.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(failed("locking", path)(error.into())),
        }
    }
}

/// Whether no other process holds it; then it is held by this one.
pub(super) fn try_lock(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn check(path: &Path, facts: &Metadata) -> Result<(), AuditError> {
    let me = rustix::process::geteuid().as_raw();
    if facts.uid() != me {
        return Err(AuditError::Foreign { path: path.to_owned(), owner: facts.uid(), me });
    }
    let mode = facts.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(AuditError::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}
