//! What people decide while the service runs: acceptances, changes of locks, trust in projects.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use cell::folders::Folders;
use tokio::sync::mpsc;

use crate::server::target::{Home, Target};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(700);

/// How a file or a folder was at one moment.
type Facts = Option<(u64, u64, i64, i64)>;

/// The places that decisions are written to.
#[derive(Debug, Clone)]
pub(crate) struct Places(Vec<PathBuf>);

impl Places {
    /// Of these servers.
    pub(crate) fn of<'a>(folders: &Folders, targets: impl IntoIterator<Item = &'a Target>) -> Self {
        let mut places = vec![folders.data.join("trust")];
        for target in targets {
            places.push(target.lock.path().to_owned());
            if let Home::Project { folder, .. } = &target.home {
                places.push(folder.join(model::config::Project::FILE_NAME));
            }
        }
        places.sort();
        places.dedup();
        Self(places)
    }

    fn look(&self) -> Vec<(PathBuf, Facts)> {
        let mut seen = Vec::new();
        for place in &self.0 {
            seen.push((place.clone(), facts(place)));
            // Folders below, and files in those: a file that is replaced changes its folder only.
            let below = walk(place);
            seen.extend(below.into_iter().map(|path| {
                let facts = facts(&path);
                (path, facts)
            }));
        }
        seen
    }
}

/// Looks for ever, and tells of each difference.
pub(crate) async fn watch(mut places: tokio::sync::watch::Receiver<Places>, tell: mpsc::Sender<()>) {
    let mut before = None;
    loop {
        let now = places.borrow_and_update().clone();
        // Disks may be slow.
        let seen = tokio::task::spawn_blocking(move || now.look()).await.ok();
        if before.is_some() && seen != before && tell.send(()).await.is_err() {
            return;
        }
        before = seen;
        tokio::time::sleep(LOOK).await;
        // Other places are no decision.
        if places.has_changed().unwrap_or(false) {
            before = None;
        }
    }
}

fn facts(path: &Path) -> Facts {
    let meta = std::fs::symlink_metadata(path).ok()?;
    Some((meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()))
}

/// Everything in a folder that is two levels deep at most; none where it is no folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        entries
    };
    let mut found = entries(folder);
    let below: Vec<PathBuf> = found.iter().flat_map(|path| entries(path)).collect();
    found.extend(below);
    found
}
