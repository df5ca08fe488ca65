//! Reading a host's file tree as that host sees it, symbolic links included, whatever folder stands for its root.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Links followed in one path before it counts as a loop (`path_resolution(7)`).
const MAX_LINKS: usize = 40;
/// Largest configuration file read whole, in bytes.
const MAX_TEXT: u64 = 1 << 20;

/// A host's file tree below `root`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    root: PathBuf,
}

/// A symbolic link met on the way; `at` holds no link in its parents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    pub(crate) at: PathBuf,
    pub(crate) target: PathBuf,
}

/// Where a path leads.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    /// The path without any link in it.
    pub(crate) real: PathBuf,
    /// The places the last component stood at, from the written one (parents resolved) to `real`.
    pub(crate) hops: Vec<PathBuf>,
    /// Every link followed.
    pub(crate) links: Vec<Link>,
}

/// What a path is, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Dir,
    File,
    Other,
}

impl Trace {
    /// The written path with its parents resolved, the last link kept.
    pub(crate) fn written(&self) -> &Path {
        self.hops.first().map_or(&self.real, |hop| hop)
    }
}

impl View {
    /// A view of the tree below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The path by which this process reaches the host's `path`.
    pub(crate) fn outside(&self, path: &Path) -> PathBuf {
        if self.root == Path::new("/") {
            return path.to_owned();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Follows an absolute path to its end.
    pub(crate) fn trace(&self, path: &Path) -> io::Result<Trace> {
        let mut left: VecDeque<OsString> = VecDeque::new();
        push_front(&mut left, path);
        let (mut real, mut hops, mut links) = (PathBuf::from("/"), Vec::new(), Vec::new());
        while let Some(name) = left.pop_front() {
            if name == ".." {
                real.pop();
                continue;
            }
            let at = real.join(&name);
            if left.is_empty() {
                hops.push(at.clone());
            }
            match fs::read_link(self.outside(&at)) {
                Ok(target) => {
                    if links.len() == MAX_LINKS {
                        return Err(rustix::io::Errno::LOOP.into());
                    }
                    if target.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    push_front(&mut left, &target);
                    links.push(Link { at, target });
                }
                Err(error) if error.kind() == ErrorKind::InvalidInput => real = at,
                Err(error) => return Err(error),
            }
        }
        Ok(Trace { real, hops, links })
    }

    /// What `path` is, links followed; nothing where it does not exist or may not be looked at.
    pub(crate) fn kind(&self, path: &Path) -> Option<Kind> {
        self.metadata(path).map(|metadata| match metadata.file_type() {
            kind if kind.is_dir() => Kind::Dir,
            kind if kind.is_file() => Kind::File,
            _ => Kind::Other,
        })
    }

    /// Whether `path` is a folder.
    pub(crate) fn is_dir(&self, path: &Path) -> bool {
        self.kind(path) == Some(Kind::Dir)
    }

    /// Whether `path` is a regular file.
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        self.kind(path) == Some(Kind::File)
    }

    /// Whether `path` is a regular file somebody may execute, as `execvp` wants it.
    pub(crate) fn is_program(&self, path: &Path) -> bool {
        self.metadata(path)
            .is_some_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }

    /// Whether every uid may read `path` (and enter it, where it is a folder).
    pub(crate) fn is_public(&self, path: &Path) -> bool {
        self.metadata(path).is_some_and(|metadata| {
            let wanted = if metadata.is_dir() { 0o005 } else { 0o004 };
            metadata.permissions().mode() & wanted == wanted
        })
    }

    /// Device and inode of `path`, links followed.
    pub(crate) fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        self.metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
    }

    /// Size of what `path` leads to, in bytes.
    pub(crate) fn size(&self, path: &Path) -> Option<u64> {
        self.metadata(path).map(|metadata| metadata.len())
    }

    /// The link at `path`, unfollowed; nothing where it is none.
    pub(crate) fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(self.outside(path)).ok()
    }

    /// A small text file, links followed; nothing where it is missing, too large or no UTF-8.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        let real = self.trace(path).ok()?.real;
        let file = File::open(self.outside(&real)).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        let read = file.take(MAX_TEXT + 1).read_to_string(&mut text).ok()?;
        (u64::try_from(read).ok()? <= MAX_TEXT).then_some(text)
    }

    /// The first bytes of a regular file (at most `len`), links followed.
    pub(crate) fn head(&self, path: &Path, len: u64) -> Option<Vec<u8>> {
        let real = self.trace(path).ok()?.real;
        let mut bytes = Vec::new();
        File::open(self.outside(&real)).ok()?.take(len).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Names in a folder, sorted; none where it cannot be read.
    pub(crate) fn names(&self, path: &Path) -> Vec<OsString> {
        let Ok(real) = self.trace(path).map(|trace| trace.real) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(self.outside(&real)) else { return Vec::new() };
        let mut names: Vec<OsString> =
            entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
        names.sort();
        names
    }

    fn metadata(&self, path: &Path) -> Option<fs::Metadata> {
        let metadata = fs::symlink_metadata(self.outside(path)).ok()?;
        if !metadata.is_symlink() {
            return Some(metadata);
        }
        fs::symlink_metadata(self.outside(&self.trace(path).ok()?.real)).ok()
    }
}

/// The file name of a path as text; empty where it has none or is no UTF-8.
pub(crate) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

fn push_front(left: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => left.push_front(name.to_owned()),
            Component::ParentDir => left.push_front(OsString::from("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}
