//! Reading files that may be anybody's: a repository can hold a link to a device that never ends.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// The most that a configuration file may hold, in bytes.
pub(crate) const CONFIGURATION: u64 = 1 << 20;
/// The most that a lock, a surface or a tree file may hold, in bytes.
pub(crate) const LOCKED: u64 = 64 << 20;

/// A whole file, if it is one and holds no more than `most` bytes.
pub(crate) fn file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Opening a FIFO must not wait for its writer (open(2)).
    let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file: File = OpenOptions::new().read(true).custom_flags(nonblock).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len().min(most)).unwrap_or(0));
    file.take(most + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > most) {
        let message = format!("it holds more than {}", model::size::format(most));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_or_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("plain"), "abc").unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), 0o600.into()).unwrap();
        assert_eq!(file(&path("plain"), 3).unwrap(), b"abc");
        assert_eq!(file(&path("plain"), 2).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        for name in ["zero", "fifo", "."] {
            assert_eq!(file(&path(name), 3).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        assert_eq!(file(&path("none"), 3).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
