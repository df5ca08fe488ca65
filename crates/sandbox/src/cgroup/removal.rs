//! Making room for a group, and taking groups away again.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, mkdir, statfs, unlinkat};
use rustix::io::Errno;

use super::obstacle::Obstacle;
use super::{PREFIX, controls};

/// `CGROUP2_SUPER_MAGIC` and `CGROUP_SUPER_MAGIC` of statfs(2).
const UNIFIED_MAGIC: u64 = 0x6367_7270;
const LEGACY_MAGIC: u64 = 0x0027_e0eb;

/// A group that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its folder.
    pub path: PathBuf,
    /// Why it stays.
    pub reason: String,
}

/// Removes the groups a dead owner left, as it had recorded them ([`super::CellGroups::paths`]), killing what is
/// still inside where the kernel can do that for a whole group. Returns those that are still there at the end;
/// waits for `patience` at the most.
///
/// A record is a file, so it is not trusted: a path that is not a group of ours — `fumehood-…` on a
/// control-group file system, spelled without `..` and symbolic links — is refused and listed.
pub fn sweep(paths: &[PathBuf], patience: Duration) -> Vec<Leftover> {
    let (ours, foreign): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| is_ours(path));
    let mut left: Vec<Leftover> = foreign
        .into_iter()
        .map(|path| Leftover { path: path.clone(), reason: "not a group of ours".to_owned() })
        .collect();
    left.extend(remove(ours, Instant::now() + patience));
    left
}

/// Kills what is in the groups where that can be done, and removes them in the order given, until all
/// are gone or `deadline` has passed.
pub(super) fn remove<'a>(folders: impl IntoIterator<Item = &'a PathBuf>, deadline: Instant) -> Vec<Leftover> {
    let mut left: Vec<&PathBuf> = folders.into_iter().collect();
    for folder in &left {
        // The file is missing in v1 hierarchies and before Linux 5.14; then the end of the cell's PID namespace has
        // to do, and is waited for below.
        let killed = controls::write(&folder.join("cgroup.kill"), "1");
        if killed.is_ok() {
            // A frozen process dies too, but one that gets moved in between does not; so the wait is for emptiness.
            let events = folder.join("cgroup.events");
            if !matches!(controls::wait_for(&events, "populated", 0, deadline), Ok(true)) {
                break;
            }
        }
    }
    let mut pause = Duration::from_millis(1);
    loop {
        let mut failed = Vec::new();
        left.retain(|folder| match rmdir(folder) {
            Ok(()) | Err(Errno::NOENT) => false,
            Err(errno) => {
                failed.push(errno);
                true
            }
        });
        let only_busy = failed.iter().all(|errno| matches!(*errno, Errno::BUSY | Errno::NOTEMPTY));
        if left.is_empty() || !only_busy || Instant::now() >= deadline {
            return left
                .into_iter()
                .zip(failed)
                .map(|(path, errno)| Leftover { path: path.clone(), reason: errno.to_string() })
                .collect();
        }
        std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Makes the folder. One of the same name that is there already was left by a dead owner if nothing is in it, and
/// then is removed first, so that no setting of it lives on; a group in use is not touched.
pub(super) fn make_fresh(folder: &Path, legacy: bool) -> Result<(), Obstacle> {
    let made = match mkdir(folder, Mode::from_raw_mode(0o755)) {
        Err(Errno::EXIST) => {
            discard(folder);
            mkdir(folder, Mode::from_raw_mode(0o755))
        }
        other => other,
    };
    match made {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(Obstacle::InUse { folder: folder.to_path_buf() }),
        Err(errno) => {
            let above = folder.parent().unwrap_or(folder).to_path_buf();
            Err(Obstacle::NoGroup { folder: above, legacy, errno })
        }
    }
}

/// Removes an empty group; one that is in use stays.
pub(super) fn discard(folder: &Path) {
    // Whoever needs the name finds out by making it.
    rmdir(folder).ok();
}

fn rmdir(folder: &Path) -> Result<(), Errno> {
    unlinkat(CWD, folder, AtFlags::REMOVEDIR)
}

fn is_ours(path: &Path) -> bool {
    let plain = path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let named = |name: Option<&OsStr>| {
        name.and_then(OsStr::to_str)
            .is_some_and(|name| name.strip_prefix(PREFIX).is_some_and(|id| !id.is_empty()))
    };
    let ours = named(path.file_name());
    plain && ours && is_group(path)
}

/// A folder of a control-group file system, reached without a symbolic link; or nothing at all, which is as good as
/// removed.
fn is_group(path: &Path) -> bool {
    match path.canonicalize() {
        Ok(real) => {
            let magic = statfs(path).map(|fs| u64::try_from(fs.f_type).unwrap_or_default());
            real == path && matches!(magic, Ok(UNIFIED_MAGIC | LEGACY_MAGIC))
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
