//! A folder that may be anybody's, entered and written without following a link: a repository can hold one in the place of
//! any name, and a server that sees the project can put one there at any moment.

use std::{
    fs::{File, Permissions},
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::PermissionsExt,
    },
    path::Path,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, statat, unlinkat},
    io::Errno,
};

use super::random;
use crate::guard;

/// The folder, held open.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

impl Folder {
    /// By its path, which is the caller's own word: links on the way are followed.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self(open(path, flags(), Mode::empty())?))
    }

    /// A folder in it, made where it is not there.
    pub(crate) fn made(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&self.0, name, Mode::from(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.entered(name)
    }

    /// A folder in it; an error where it is not there, or is a link.
    pub(crate) fn entered(&self, name: &str) -> io::Result<Self> {
        let nofollow = if guard::off("lock-links") { OFlags::empty() } else { OFlags::NOFOLLOW };
        Ok(Self(openat(&self.0, name, flags() | nofollow, Mode::empty())?))
    }

    /// A new file in the old one's place, with its mode; all or nothing. Where a link was, there is a file afterwards.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let beside = format!(".{name}.{}", random::hex(8)?);
        let before = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let is_file = |mode: u32| mode & 0o170_000 == 0o100_000;
        let mode = before.map(|found| found.st_mode).filter(|mode| is_file(*mode));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, beside.as_str(), flags, Mode::from(0o644))?);
        let written = (|| {
            file.write_all(bytes)?;
            if let Some(mode) = mode {
                file.set_permissions(Permissions::from_mode(mode & 0o777))?;
            }
            file.sync_all()?;
            io::Result::Ok(renameat(&self.0, beside.as_str(), &self.0, name)?)
        })();
        if written.is_err() {
            // Half a file helps nobody.
            unlinkat(&self.0, beside.as_str(), AtFlags::empty()).ok();
        }
        Ok(written?)
    }

    /// Takes a file away, or a link; whether there was one.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        self.unlink(name, AtFlags::empty())
    }

    /// Takes an empty folder away; whether there was one.
    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<bool> {
        self.unlink(name, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, name: &str, flags: AtFlags) -> io::Result<bool> {
        match unlinkat(&self.0, name, flags) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn nothing_is_written_or_removed_through_a_link() {
        let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let theirs = elsewhere.path().join("theirs");
        fs::write(&theirs, "precious").unwrap();
        symlink(elsewhere.path(), here.path().join("folder")).unwrap();
        symlink(&theirs, here.path().join("file")).unwrap();
        let folder = Folder::at(here.path()).unwrap();
        assert!(folder.entered("folder").is_err() && folder.made("folder").is_err());
        folder.replace("file", b"ours").unwrap();
        assert_eq!(fs::read_to_string(here.path().join("file")).unwrap(), "ours");
        assert!(fs::symlink_metadata(here.path().join("file")).unwrap().is_file());
        assert!(folder.remove("folder").unwrap() && !folder.remove("folder").unwrap());
        assert_eq!(fs::read_to_string(theirs).unwrap(), "precious");
    }

    #[test]
    fn a_file_keeps_its_mode_and_leaves_nothing_beside_it() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("file");
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        Folder::at(here.path()).unwrap().replace("file", b"after").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
    }
}
