//! Putting things into the new root: folders, files and detached mounts, never through a symbolic link.

use std::{
    ffi::OsString,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, ResolveFlags},
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
        fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
    },
};

use crate::{
    failure::{Step, refuse},
    message::{Failure, Stage},
    tree::Tree,
};

/// How much of another file is copied at once, in bytes.
const PIECE: usize = 8 << 20;

/// Makes the mount point where it is missing and moves the tree onto it.
pub(crate) fn put(root: BorrowedFd<'_>, tree: &Tree) -> Result<(), Failure> {
    let point = if tree.folder { folder(root, &tree.path)? } else { file_point(root, &tree.path)? };
    attach_at(tree.mount.as_fd(), point.as_fd())
        .step(Stage::Mounts, || format!("mounting {}", tree.path.display()))
}

/// Covers a file or folder with an empty one.
pub(crate) fn mask(root: BorrowedFd<'_>, path: &Path) -> Result<(), Failure> {
    let step = || format!("covering {}", path.display());
    let covered = open(root, path, OFlags::PATH).step(Stage::Mounts, step)?;
    let facts = rustix::fs::fstat(&covered).step(Stage::Mounts, step)?;
    let cover = if rustix::fs::FileType::from_raw_mode(facts.st_mode) == rustix::fs::FileType::Directory {
        tmpfs(&[("size", "4k"), ("nr_inodes", "2"), ("mode", "0555")], MountAttrFlags::MOUNT_ATTR_RDONLY)
    } else {
        open_tree(root, "dev/null", OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)
    };
    let cover = cover.step(Stage::Mounts, step)?;
    attach_at(cover.as_fd(), covered.as_fd()).step(Stage::Mounts, step)
}

/// A tmpfs behind an fd, nosuid and nodev. Options are `(key, value)`.
pub(crate) fn tmpfs(options: &[(&str, &str)], flags: MountAttrFlags) -> rustix::io::Result<OwnedFd> {
    filesystem("tmpfs", options, flags | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)
}

/// Any file system behind an fd. An option with an empty value is a flag.
pub(crate) fn filesystem(
    kind: &str,
    options: &[(&str, &str)],
    flags: MountAttrFlags,
) -> rustix::io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        if value.is_empty() {
            fsconfig_set_flag(&context, *key)?;
        } else {
            fsconfig_set_string(&context, *key, *value)?;
        }
    }
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)
}

/// Moves a detached mount onto the object behind `point`.
pub(crate) fn attach_at(mount: BorrowedFd<'_>, point: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", point, "", flags)
}

/// A folder inside, made with its parents where missing; what exists is used, a symbolic link on the way is refused.
pub(crate) fn folder(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Failure> {
    let step = || format!("making {}", path.display());
    match open(root, path, OFlags::PATH | OFlags::DIRECTORY) {
        Err(rustix::io::Errno::NOENT) => {}
        other => return other.step(Stage::Mounts, step),
    }
    let (at, name) = parent(root, path)?;
    rustix::fs::mkdirat(&at, &name, Mode::from_raw_mode(0o755)).step(Stage::Mounts, step)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&at, &name, flags, Mode::empty()).step(Stage::Mounts, step)
}

/// Opens what lies at `path` inside, crossing mounts but never a symbolic link.
pub(crate) fn open(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let inner = path.strip_prefix("/").unwrap_or(path);
    let inner = if inner == Path::new("") { Path::new(".") } else { inner };
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, inner, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}

pub(crate) fn parent(root: BorrowedFd<'_>, path: &Path) -> Result<(OwnedFd, OsString), Failure> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((folder(root, parent)?, name.to_owned())),
        _ => Err(refuse(Stage::Mounts, format!("making {}", path.display()), "the root itself is no entry")),
    }
}

fn file_point(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Failure> {
    let step = || format!("making {}", path.display());
    let (at, name) = parent(root, path)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(&at, &name, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => {
            let make = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            drop(rustix::fs::openat(&at, &name, make, Mode::from_raw_mode(0o644)).step(Stage::Mounts, step)?);
            rustix::fs::openat(&at, &name, flags, Mode::empty()).step(Stage::Mounts, step)
        }
        other => other.step(Stage::Mounts, step),
    }
}

pub(crate) fn file(root: BorrowedFd<'_>, path: &Path, contents: &[u8]) -> Result<(), Failure> {
    joined(root, path, None, contents)
}

/// A new file that holds all of another, and then `contents`.
pub(crate) fn joined(
    root: BorrowedFd<'_>,
    path: &Path,
    before: Option<BorrowedFd<'_>>,
    contents: &[u8],
) -> Result<(), Failure> {
    let step = || format!("writing {}", path.display());
    let (at, name) = parent(root, path)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&at, &name, flags, Mode::from_raw_mode(0o644)).step(Stage::Mounts, step)?;
    if let Some(before) = before {
        while rustix::fs::sendfile(&file, before, None, PIECE).step(Stage::Mounts, step)? > 0 {}
    }
    let mut rest = contents;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest).step(Stage::Mounts, step)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Whether something is there, without following a link.
pub(crate) fn exists(root: BorrowedFd<'_>, path: &str) -> bool {
    rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}
