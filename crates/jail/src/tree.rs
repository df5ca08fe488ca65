//! Taking hold of host trees before the new root exists: each bind and device becomes a detached mount behind an fd,
//! already read-only, nosuid and nodev, so that nothing is ever reachable with weaker flags.

use std::{
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    mount::{OpenTreeFlags, open_tree},
};

use crate::{
    failure::Step,
    guard,
    idmap::OwnerMaps,
    message::{Failure, Stage},
    spec::{Entry, Spec},
    sys,
};

/// The devices of a cell; everything else of `/dev` is made new.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Detached mounts, to be put in place by [`crate::root`].
#[derive(Debug, Default)]
pub(crate) struct Trees {
    /// For each bind of the spec, in order: its own tree, then those of its guarded paths.
    pub(crate) binds: Vec<Vec<Tree>>,
    /// The files that stand before parts of the spec's contents or list links, in order.
    pub(crate) files: Vec<OwnedFd>,
    /// Device nodes.
    pub(crate) devices: Vec<Tree>,
    /// Sources whose owner could not be mapped.
    pub(crate) unmapped: Vec<String>,
}

/// One detached mount.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Where it goes inside.
    pub(crate) path: PathBuf,
    /// Whether it is a folder, so that its mount point can be made.
    pub(crate) folder: bool,
    /// The mount.
    pub(crate) mount: OwnedFd,
}

/// Takes hold of every tree of the spec. With `tool`, the owner of a source is mapped to that host id.
pub(crate) fn take(spec: &Spec, tool: Option<u32>) -> Result<Trees, Failure> {
    let mut trees = Trees::default();
    let mut maps = OwnerMaps::default();
    for entry in &spec.root {
        if let Entry::Part { after: Some(file), .. } | Entry::Links { list: file, .. } = entry {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::open(file, flags, Mode::empty());
            trees.files.push(opened.step(Stage::Mounts, || format!("opening {}", file.display()))?);
        }
        let Entry::Bind { source, path, write, map_owner, guarded, masked: _ } = entry else { continue };
        let owner = if *map_owner { tool } else { None };
        let mut taken = vec![bind(source, path, !*map_owner, *write, owner, &mut maps, &mut trees.unmapped)?];
        if *write && !guard::off("guarded-names") {
            for inner in guarded {
                let (source, path) = (source.join(inner), path.join(inner));
                taken.push(bind(&source, &path, false, false, owner, &mut maps, &mut trees.unmapped)?);
            }
        }
        trees.binds.push(taken);
    }
    for name in DEVICES {
        let source = Path::new("/dev").join(name);
        let mount = open(&source)?;
        let flags = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
        sys::mount_setattr(mount.as_fd(), false, flags, None)
            .step(Stage::Mounts, || format!("setting mount flags of {}", source.display()))?;
        trees.devices.push(Tree { path: source, folder: false, mount });
    }
    Ok(trees)
}

fn bind(
    source: &Path,
    path: &Path,
    links: bool,
    write: bool,
    owner: Option<u32>,
    maps: &mut OwnerMaps,
    unmapped: &mut Vec<String>,
) -> Result<Tree, Failure> {
    let mount = if links { open(source)? } else { open_without_links(source)? };
    let facts =
        rustix::fs::fstat(&mount).step(Stage::Mounts, || format!("looking at {}", source.display()))?;
    let folder = rustix::fs::FileType::from_raw_mode(facts.st_mode) == rustix::fs::FileType::Directory;
    let mut flags = 0;
    if !guard::off("mount-flags") {
        flags |= libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    }
    if !write && !guard::off("read-only") {
        flags |= libc::MOUNT_ATTR_RDONLY;
    }
    if flags != 0 {
        sys::mount_setattr(mount.as_fd(), true, flags, None)
            .step(Stage::Mounts, || format!("setting mount flags of {}", source.display()))?;
    }
    if let Some(tool) = owner
        && let Err(error) = maps.apply(mount.as_fd(), (facts.st_uid, facts.st_gid), tool)
    {
        unmapped.push(format!("{} ({error})", source.display()));
    }
    Ok(Tree { path: path.to_owned(), folder, mount })
}

/// What was declared lies where others may write too: a link that has appeared since it was looked at would lead to what
/// was never looked at.
fn open_without_links(source: &Path) -> Result<OwnedFd, Failure> {
    if guard::off("source-links") {
        return open(source);
    }
    let step = || format!("taking hold of {} without following links", source.display());
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let place = openat2(CWD, source, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve);
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(place.step(Stage::Mounts, step)?, "", flags).step(Stage::Mounts, step)
}

fn open(source: &Path) -> Result<OwnedFd, Failure> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, source, flags).step(Stage::Mounts, || format!("taking hold of {}", source.display()))
}
