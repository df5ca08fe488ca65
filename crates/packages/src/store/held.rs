//! Files that are locked as long as somebody needs what they stand for. The kernel lets go for whoever is killed.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

/// Makes the file where there is none, and locks it for us alone; nothing where somebody else has it.
pub(super) fn alone(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(is_still(path, &file).then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Locks a file that exists together with others; nothing where somebody has it alone, or it is gone.
pub(super) fn together(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock_shared().ok()?;
    is_still(path, &file).then_some(file)
}

/// Whether the name still leads to the file: else it was removed before it was locked.
fn is_still(path: &Path, file: &File) -> bool {
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => (named.dev(), named.ino()) == (open.dev(), open.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_counts_as_long_as_its_holder_lives_and_its_name_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("held");
        assert!(together(&path).is_none(), "none is made");
        let one = alone(&path).unwrap().unwrap();
        assert!(alone(&path).unwrap().is_none() && together(&path).is_none());
        drop(one);
        let (first, second) = (together(&path).unwrap(), together(&path).unwrap());
        assert!(alone(&path).unwrap().is_none());
        drop((first, second));
        let file = alone(&path).unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!is_still(&path, &file));
    }
}
