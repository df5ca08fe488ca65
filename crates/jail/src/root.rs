//! The new root: a small read-only tmpfs into which everything else is put, then `pivot_root`, and the host's tree is
//! gone from this mount namespace.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, ResolveFlags},
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags,
        fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
        unmount,
    },
};

use crate::{
    failure::{Step, refuse},
    guard, kernel,
    message::{Failure, Stage},
    spec::{Entry, Spec},
    sys,
    tree::{Tree, Trees},
};

/// Where the new root is assembled. A folder that every host has and that nothing is read from afterwards: all trees
/// are held by fd before it is covered.
const STAGING: &str = "/tmp";

/// Ceilings of the root tmpfs itself: it holds folders, links and the small files of the spec.
const ROOT_SIZE: &str = "8m";
const ROOT_FILES: &str = "8192";

/// Builds the root and moves into it.
pub(crate) fn build(spec: &Spec, trees: Trees) -> Result<(), Failure> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .step(Stage::Mounts, || "making mounts private".into())?;
    let kernel = kernel::Mounts::prepare(spec)?;
    let root =
        tmpfs(&[("size", ROOT_SIZE), ("nr_inodes", ROOT_FILES), ("mode", "0755")], MountAttrFlags::empty())
            .step(Stage::Mounts, || "making the root tmpfs".into())?;
    // A control that stays on the host's root looks at the host's `/tmp`.
    let staging = if guard::off("root") { "/mnt" } else { STAGING };
    attach(root.as_fd(), rustix::fs::CWD, staging)
        .step(Stage::Mounts, || format!("putting the new root on {staging}"))?;
    fill(root.as_fd(), spec, trees, kernel)?;
    if guard::off("root") {
        return Ok(());
    }
    let read_only = if guard::off("read-only") { 0 } else { libc::MOUNT_ATTR_RDONLY };
    sys::mount_setattr(root.as_fd(), false, read_only | libc::MOUNT_ATTR_NODEV, None)
        .step(Stage::Mounts, || "making the root read-only".into())?;
    rustix::process::fchdir(&root).step(Stage::Mounts, || "entering the new root".into())?;
    rustix::process::pivot_root(".", ".").step(Stage::Mounts, || "changing the root".into())?;
    unmount(".", UnmountFlags::DETACH).step(Stage::Mounts, || "letting go of the host's root".into())?;
    rustix::process::chdir("/").step(Stage::Mounts, || "entering the new root".into())
}

fn fill(root: BorrowedFd<'_>, spec: &Spec, trees: Trees, kernel: kernel::Mounts) -> Result<(), Failure> {
    kernel.put(root, spec, trees.devices)?;
    let mut binds = trees.binds.into_iter();
    for entry in &spec.root {
        let path = entry.path();
        match entry {
            Entry::Dir { .. } => drop(folder(root, path)?),
            Entry::Symlink { target, .. } => symlink(root, path, target)?,
            Entry::File { contents, .. } => file(root, path, contents)?,
            Entry::Tmpfs { size, files, sticky, .. } => scratch(root, path, *size, *files, *sticky)?,
            Entry::Bind { masked, .. } => {
                for tree in binds.next().unwrap_or_default() {
                    put(root, &tree)?;
                }
                for inner in masked {
                    mask(root, &path.join(inner))?;
                }
            }
        }
    }
    Ok(())
}

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
        rustix::mount::open_tree(
            root,
            "dev/null",
            rustix::mount::OpenTreeFlags::OPEN_TREE_CLONE | rustix::mount::OpenTreeFlags::OPEN_TREE_CLOEXEC,
        )
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

fn attach(mount: BorrowedFd<'_>, at: BorrowedFd<'_>, path: &str) -> rustix::io::Result<()> {
    move_mount(mount, "", at, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
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

fn parent(root: BorrowedFd<'_>, path: &Path) -> Result<(OwnedFd, std::ffi::OsString), Failure> {
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

fn symlink(root: BorrowedFd<'_>, path: &Path, target: &Path) -> Result<(), Failure> {
    let (at, name) = parent(root, path)?;
    match rustix::fs::symlinkat(target, &at, &name) {
        Err(rustix::io::Errno::EXIST) => {
            // Two reasons may ask for the same link; anything else at that place stays what it is.
            let step = || format!("linking {}", path.display());
            let there = rustix::fs::readlinkat(&at, &name, Vec::new()).step(Stage::Mounts, step)?;
            if Path::new(std::ffi::OsStr::new(&*there.to_string_lossy())) == target {
                Ok(())
            } else {
                Err(refuse(Stage::Mounts, step(), "something else is already there"))
            }
        }
        other => other.step(Stage::Mounts, || format!("linking {}", path.display())),
    }
}

pub(crate) fn file(root: BorrowedFd<'_>, path: &Path, contents: &str) -> Result<(), Failure> {
    let step = || format!("writing {}", path.display());
    let (at, name) = parent(root, path)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&at, &name, flags, Mode::from_raw_mode(0o644)).step(Stage::Mounts, step)?;
    let mut rest = contents.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest).step(Stage::Mounts, step)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

fn scratch(root: BorrowedFd<'_>, path: &Path, size: u64, files: u64, sticky: bool) -> Result<(), Failure> {
    let (size, files) = (size.to_string(), files.to_string());
    let mode = if sticky { "1777" } else { "0700" };
    let ceilings = [("size", size.as_str()), ("nr_inodes", files.as_str()), ("mode", mode)];
    let options =
        if guard::off("tmpfs-ceilings") { ceilings.get(2..).unwrap_or_default() } else { &ceilings };
    let step = || format!("mounting a tmpfs on {}", path.display());
    let mount = tmpfs(options, MountAttrFlags::empty()).step(Stage::Mounts, step)?;
    let point = folder(root, path)?;
    attach_at(mount.as_fd(), point.as_fd()).step(Stage::Mounts, step)
}

/// Whether something is there, without following a link.
pub(crate) fn exists(root: BorrowedFd<'_>, path: &str) -> bool {
    rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}
