//! Replacing a file as a whole: whoever is killed at any moment leaves the old one or the new one.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::{Duration, Instant},
};

use rustix::fs::{FlockOperation, flock};

use crate::{TrustError, folder::failed};

/// The file whose lock is held by whoever writes.
pub(crate) const LOCK: &str = "lock";
/// How long another process may take over a write.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a file is called till it is whole.
const NEW: &str = "new";

/// Where a write has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing has been done.
    Begun,
    /// A file is there, and empty.
    Made,
    /// A part is in it.
    Half,
    /// All of it is on the disk.
    Synced,
    /// The new version has its name.
    Replaced,
    /// The folder is on the disk.
    Done,
}

#[cfg(test)]
impl Step {
    pub(crate) const ALL: [Self; 6] =
        [Self::Begun, Self::Made, Self::Half, Self::Synced, Self::Replaced, Self::Done];
}

/// The right to write, for one process at a time; it ends with the value, or with the process.
#[derive(Debug)]
pub(crate) struct Turn {
    _file: File,
}

impl Turn {
    /// Waits for it.
    pub(crate) fn wait(folder: &Path) -> Result<Self, TrustError> {
        let path = folder.join(LOCK);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed("opening", &path))?;
        let begin = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(failed("locking", &path)(error.into())),
            }
            if begin.elapsed() > PATIENCE {
                return Err(TrustError::Busy { folder: folder.to_owned(), waited: PATIENCE });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Puts `bytes` in the place of `folder`/`name`, whose mode becomes 0600.
    #[expect(clippy::unused_self, reason = "who has no turn does not write")]
    pub(crate) fn replace(
        &self,
        folder: &Path,
        name: &str,
        bytes: &[u8],
        reached: &mut dyn FnMut(Step),
    ) -> Result<(), TrustError> {
        let place = folder.join(name);
        let new = place.with_extension(NEW);
        reached(Step::Begun);
        sweep(folder)?;
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            reached(Step::Made);
            let (first, second) = bytes.split_at_checked(bytes.len() / 2).unwrap_or((bytes, &[]));
            file.write_all(first)?;
            reached(Step::Half);
            file.write_all(second)?;
            file.sync_all()?;
            reached(Step::Synced);
            fs::rename(&new, &place)
        })();
        if let Err(error) = written {
            fs::remove_file(&new).ok();
            return Err(failed("writing", &place)(error));
        }
        reached(Step::Replaced);
        sync(folder)?;
        reached(Step::Done);
        Ok(())
    }

    /// Takes a file away; whether there was one.
    #[expect(clippy::unused_self, reason = "who has no turn does not write")]
    pub(crate) fn remove(&self, folder: &Path, name: &str) -> Result<bool, TrustError> {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Ok(()) => sync(folder).map(|()| true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed("removing", &path)(error)),
        }
    }
}

/// Removes what somebody who was killed did not finish: whoever has the turn is the only one who writes.
fn sweep(folder: &Path) -> Result<(), TrustError> {
    for entry in fs::read_dir(folder).map_err(failed("reading", folder))? {
        let path = entry.map_err(failed("reading", folder))?.path();
        if path.extension().is_some_and(|extension| extension == NEW) {
            fs::remove_file(&path).map_err(failed("removing", &path))?;
        }
    }
    Ok(())
}

/// Makes the names of a folder last.
fn sync(folder: &Path) -> Result<(), TrustError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed("writing", folder))
}
