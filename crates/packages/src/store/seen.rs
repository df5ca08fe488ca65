//! What the file system says of every file of a tree, so that a start need not read them all again.
//!
//! Size, times and inode of a file that was written to differ afterwards: the change time cannot be set by any call. Only
//! who holds the disk itself could pass by; so the first look after a boot reads every byte.

use std::{
    ffi::CString,
    fs, io,
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat};

/// Room for names of one call, in bytes: a folder is mostly read by one.
const NAMES: usize = 16 << 10;
/// The most folders within one another; each has an open file here. A path of more is longer than `PATH_MAX`.
const DEEPEST: usize = 512;

/// What is said now, in one piece: it is only ever compared. Folders are opened one within the other and asked for their
/// entries by name, which takes a fraction of what whole paths take.
pub(super) fn look(root: &Path) -> io::Result<Vec<u8>> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let mut seen = format!("fumehood-seen/1 {}\n", boot.trim()).into_bytes();
    let facts = rustix::fs::lstat(root)?;
    add(&mut seen, b"", &facts);
    let mut open = vec![Folder::open(CWD, root)?];
    while let Some(folder) = open.last_mut() {
        let Some(name) = folder.names.pop() else {
            seen.push(b'/');
            open.pop();
            continue;
        };
        let facts = rustix::fs::statat(&folder.itself, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        add(&mut seen, name.as_bytes_with_nul(), &facts);
        if FileType::from_raw_mode(facts.st_mode) == FileType::Directory {
            let within = Folder::open(folder.itself.as_fd(), &name)?;
            open.push(within);
            if open.len() > DEEPEST {
                return Err(io::Error::other("its folders lie too deep"));
            }
        }
    }
    Ok(seen)
}

/// A folder that is being looked through.
struct Folder {
    itself: OwnedFd,
    /// Those that are left, the next one last.
    names: Vec<CString>,
}

impl Folder {
    fn open(at: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let itself = rustix::fs::openat(at, name, flags, Mode::empty())?;
        let mut names = Vec::new();
        let mut room = [MaybeUninit::uninit(); NAMES];
        let mut entries = RawDir::new(&itself, &mut room);
        while let Some(entry) = entries.next() {
            let name = entry?.file_name().to_owned();
            if !matches!(name.as_bytes(), b"." | b"..") {
                names.push(name);
            }
        }
        names.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Self { itself, names })
    }
}

/// The name, and eight bytes for each fact.
fn add(seen: &mut Vec<u8>, name: &[u8], facts: &Stat) {
    seen.extend_from_slice(name);
    for fact in [u64::from(facts.st_mode), u64::from(facts.st_uid), facts.st_dev, facts.st_ino] {
        seen.extend_from_slice(&fact.to_le_bytes());
    }
    for fact in [facts.st_size, facts.st_mtime, facts.st_ctime] {
        seen.extend_from_slice(&fact.to_le_bytes());
    }
    for fact in [facts.st_mtime_nsec, facts.st_ctime_nsec] {
        seen.extend_from_slice(&fact.to_le_bytes());
    }
}
