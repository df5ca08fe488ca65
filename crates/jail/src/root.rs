//! The new root: a small read-only tmpfs into which everything else is put, then `pivot_root`, and the host's tree is
//! gone from this mount namespace.

use std::{
    fs::File,
    io::Read as _,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::mount::{
    MountAttrFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags, mount_change, move_mount, unmount,
};

use crate::{
    failure::{Step, refuse},
    guard, kernel,
    message::{Failure, Stage},
    place::{attach_at, file, folder, joined, mask, parent, put, tmpfs},
    spec::{Entry, Spec},
    sys,
    tree::Trees,
};

/// Where the new root is assembled. A folder that every host has and that nothing is read from afterwards: all trees
/// are held by fd before it is covered.
const STAGING: &str = "/tmp";

/// Ceilings of the root tmpfs itself: it holds folders, links and the small files of the spec.
const ROOT_SIZE: &str = "8m";
const ROOT_FILES: &str = "8192";
/// Largest list of links, in bytes.
const MAX_LIST: u64 = 1 << 20;

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
    let (mut binds, mut files) = (trees.binds.into_iter(), trees.files.into_iter());
    for entry in &spec.root {
        let path = entry.path();
        match entry {
            Entry::Dir { .. } => drop(folder(root, path)?),
            Entry::Symlink { target, .. } => symlink(root, path, target)?,
            Entry::File { contents, .. } => file(root, path, contents.as_bytes())?,
            Entry::Part { begin, size, after, .. } => {
                let before = after.as_ref().and_then(|_| files.next());
                // Checked when the spec was read.
                let part = spec.part(*begin, *size).unwrap_or_default();
                joined(root, path, before.as_ref().map(OwnedFd::as_fd), part)?;
            }
            Entry::Links { .. } => {
                if let Some(list) = files.next() {
                    links(root, path, File::from(list))?;
                }
            }
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

fn links(root: BorrowedFd<'_>, path: &Path, list: File) -> Result<(), Failure> {
    let step = || format!("linking in {}", path.display());
    let mut text = Vec::new();
    list.take(MAX_LIST).read_to_end(&mut text).step(Stage::Mounts, step)?;
    let at = folder(root, path)?;
    let mut words = text.split(|byte| *byte == 0);
    while let (Some(name), Some(target)) = (words.next(), words.next()) {
        if name.is_empty() || name.contains(&b'/') {
            return Err(refuse(Stage::Mounts, step(), "the list holds something else"));
        }
        rustix::fs::symlinkat(target, &at, name).step(Stage::Mounts, step)?;
    }
    Ok(())
}

fn attach(mount: BorrowedFd<'_>, at: BorrowedFd<'_>, path: &str) -> rustix::io::Result<()> {
    move_mount(mount, "", at, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

fn symlink(root: BorrowedFd<'_>, path: &Path, target: &Path) -> Result<(), Failure> {
    let (at, name) = parent(root, path)?;
    match rustix::fs::symlinkat(target, &at, &name) {
        Err(rustix::io::Errno::EXIST) => {
            // Two reasons may ask for the same link; anything else at that place stays what it is.
            let step = || format!("linking {}", path.display());
            let there = rustix::fs::readlinkat(&at, &name, Vec::new()).step(Stage::Mounts, step)?;
            if there.to_bytes() == target.as_os_str().as_encoded_bytes() {
                Ok(())
            } else {
                Err(refuse(Stage::Mounts, step(), "something else is already there"))
            }
        }
        other => other.step(Stage::Mounts, || format!("linking {}", path.display())),
    }
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
