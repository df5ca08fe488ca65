//! Going through a whole tree by `getdents` alone: types come with the names, nothing is opened but folders, no link is
//! followed, file systems below are entered.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

/// One entry met.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Met<'a> {
    /// Its folder, relative to the start.
    pub(crate) folder: &'a Path,
    /// Its name.
    pub(crate) name: &'a OsStr,
    /// What it is.
    pub(crate) kind: FileType,
}

/// What to do after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Go on, into it if it is a folder.
    Enter,
    /// Go on past it.
    Pass,
    /// End here.
    End,
}

/// Why a walk did not reach its end.
#[derive(Debug)]
pub(crate) enum WalkError {
    /// More entries than allowed.
    TooMany,
    /// A folder that can be entered but not listed.
    Unreadable { folder: PathBuf, source: io::Error },
}

impl Met<'_> {
    /// The entry's path relative to the start.
    pub(crate) fn relative(&self) -> PathBuf {
        self.folder.join(self.name)
    }
}

/// Buffer of one `getdents64` call, in bytes.
const BUFFER: usize = 64 << 10;

struct Pending {
    parent: Option<Rc<OwnedFd>>,
    /// Relative to the start.
    path: PathBuf,
}

/// Shows every entry below the folder `start` to `visit`, at most `limit` of them.
pub(crate) fn walk(
    start: &Path,
    limit: u64,
    visit: &mut dyn FnMut(Met<'_>) -> Step,
) -> Result<(), WalkError> {
    let mut buffer = vec![MaybeUninit::<u8>::uninit(); BUFFER];
    let mut pending = vec![Pending { parent: None, path: PathBuf::new() }];
    let mut met = 0_u64;
    while let Some(next) = pending.pop() {
        let Some(folder) = open(start, &next)? else { continue };
        let folder = Rc::new(folder);
        let mut listing = RawDir::new(folder.as_fd(), &mut buffer);
        while let Some(entry) = listing.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(Errno::NOENT) => break,
                Err(error) => return Err(unreadable(start, &next.path, error)),
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            met += 1;
            if met > limit {
                return Err(WalkError::TooMany);
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(facts) => FileType::from_raw_mode(facts.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(error) => return Err(unreadable(start, &next.path, error)),
                },
                kind => kind,
            };
            let name = OsStr::from_bytes(name.to_bytes());
            match visit(Met { folder: &next.path, name, kind }) {
                Step::End => return Ok(()),
                Step::Enter if kind == FileType::Directory => {
                    pending.push(Pending { parent: Some(Rc::clone(&folder)), path: next.path.join(name) });
                }
                Step::Enter | Step::Pass => {}
            }
        }
    }
    Ok(())
}

/// Opens a pending folder; nothing where it vanished, became something else, or cannot be entered by us, who are
/// never less than the tool.
fn open(start: &Path, next: &Pending) -> Result<Option<OwnedFd>, WalkError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = next.path.file_name().unwrap_or_default();
    let opened = match &next.parent {
        None => rustix::fs::openat(CWD, start, flags, Mode::empty()),
        Some(parent) => rustix::fs::openat(parent.as_fd(), name, flags, Mode::empty()),
    };
    match (opened, &next.parent) {
        (Ok(folder), _) => Ok(Some(folder)),
        (Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP), Some(_)) => Ok(None),
        (Err(Errno::ACCESS), Some(parent)) if closed(parent, name) => Ok(None),
        (Err(error), _) => Err(unreadable(start, &next.path, error)),
    }
}

/// Whether nobody with our uid can reach what lies in a folder: it may not be entered, and is not ours to open up.
fn closed(parent: &OwnedFd, name: &OsStr) -> bool {
    let entered = rustix::fs::accessat(parent, name, Access::EXEC_OK, AtFlags::empty()).is_ok();
    let owner = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map(|facts| facts.st_uid);
    !entered && owner.is_ok_and(|owner| owner != rustix::process::geteuid().as_raw())
}

fn unreadable(start: &Path, relative: &Path, error: Errno) -> WalkError {
    WalkError::Unreadable { folder: start.join(relative), source: error.into() }
}
