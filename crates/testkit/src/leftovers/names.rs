//! What has a name: mounts, control groups, the locks of host ids, files.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};

use super::GROUP;

/// Every line of this process's `mountinfo`.
pub(super) fn mounts() -> io::Result<BTreeSet<String>> {
    Ok(fs::read_to_string("/proc/self/mountinfo")?.lines().map(str::to_owned).collect())
}

/// The names in a folder; none where there is no such folder.
pub(super) fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Everything below `folder`, but nothing below `kept`, links not followed.
pub(super) fn below(folder: &Path, kept: &[PathBuf], found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if kept.contains(&path) {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below(&path, kept, found);
        }
        found.insert(path);
    }
}

/// Every control group of a cell, and each group in it, in every hierarchy that is mounted here.
pub(super) fn groups() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut found = BTreeSet::new();
    for line in mounts.lines().filter(|line| is_hierarchy(line)) {
        // The mount point is the fifth field (proc_pid_mountinfo(5)).
        if let Some(point) = line.split(' ').nth(4) {
            groups_below(Path::new(point), false, &mut found);
        }
    }
    found.into_iter().collect()
}

/// Whether a line of `mountinfo` is about a hierarchy of control groups.
pub(super) fn is_hierarchy(line: &str) -> bool {
    line.contains(" - cgroup ") || line.contains(" - cgroup2 ")
}

fn groups_below(folder: &Path, inside: bool, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let inside = inside || entry.file_name().to_string_lossy().starts_with(GROUP);
        let path = entry.path();
        groups_below(&path, inside, found);
        if inside {
            found.insert(path);
        }
    }
}

/// The locks of those host ids that somebody holds.
pub(super) fn held_host_ids(ids: &BTreeSet<u32>) -> Vec<PathBuf> {
    let held = |path: &PathBuf| {
        File::open(path).is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err())
    };
    ids.iter().map(|id| Path::new(sandbox::identity::LOCKS).join(id.to_string())).filter(held).collect()
}
