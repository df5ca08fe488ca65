//! Weighs a data folder now and then. A watch, not an enforcement: between two looks a fast tool can overshoot.

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(250);
/// Longest time between two looks.
const LONGEST: Duration = Duration::from_secs(2);
/// What a file or folder weighs at least, so that empty ones cannot fill the file system's inode table.
const LEAST: u64 = 4_096;
/// Entries looked at before others get their turn: the supervisor has one thread.
const AT_ONCE: u32 = 500;

/// What a folder holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// Bytes on disk; every entry counts 4 KiB at least, a hard-linked file once.
    pub(crate) bytes: u64,
    /// Files and folders.
    pub(crate) files: u64,
}

/// Waits until the folder weighs more than `quota` bytes, and returns what it weighs then.
pub(crate) async fn exceeded(folder: PathBuf, quota: u64) -> Weight {
    let mut interval = SHORTEST;
    let mut before = Weight::default();
    loop {
        let begin = Instant::now();
        let weight = weigh(&folder, quota).await;
        if weight.bytes > quota {
            return weight;
        }
        interval = next_interval(interval, weight == before, begin.elapsed());
        before = weight;
        tokio::time::sleep(interval).await;
    }
}

/// Seldom while nothing changes, often while something does, and never more than a twentieth of one core.
fn next_interval(last: Duration, unchanged: bool, cost: Duration) -> Duration {
    let wanted = if unchanged { last * 2 } else { SHORTEST };
    wanted.max(cost * 20).clamp(SHORTEST, LONGEST)
}

/// Adds up everything below `folder`, following no link. Stops early once `enough` bytes were seen.
pub(crate) async fn weigh(folder: &Path, enough: u64) -> Weight {
    let mut total = Weight::default();
    let mut linked = HashSet::new();
    let mut pending = vec![folder.to_owned()];
    let mut turn = 0;
    while let Some(dir) = pending.pop() {
        // What vanishes or is closed while it is looked at weighs nothing that this look could know.
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            turn += 1;
            if turn % AT_ONCE == 0 {
                tokio::task::yield_now().await;
            }
            let Ok(found) = entry.metadata() else { continue };
            if found.nlink() > 1 && !found.is_dir() && !linked.insert((found.dev(), found.ino())) {
                continue;
            }
            total.files += 1;
            total.bytes = total.bytes.saturating_add(found.blocks().saturating_mul(512).max(LEAST));
            if found.is_dir() {
                pending.push(entry.path());
            }
            if total.bytes > enough {
                return total;
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn links_are_not_followed_and_hard_links_weigh_once() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("large"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("away")).unwrap();
        fs::write(root.path().join("a"), vec![1; 100_000]).unwrap();
        fs::hard_link(root.path().join("a"), root.path().join("b")).unwrap();
        let weight = run(weigh(root.path(), u64::MAX));
        assert_eq!(weight.files, 2, "{weight:?}");
        assert!((100_000..300_000).contains(&weight.bytes), "{weight:?}");
    }

    #[test]
    fn empty_files_weigh_too_and_a_sparse_one_only_what_it_takes() {
        let root = tempfile::tempdir().unwrap();
        for n in 0..50 {
            fs::write(root.path().join(n.to_string()), b"").unwrap();
        }
        fs::File::create(root.path().join("sparse")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(run(weigh(root.path(), u64::MAX)), Weight { bytes: 51 * LEAST, files: 51 });
    }

    #[test]
    fn growth_beyond_the_quota_is_seen() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("grows");
        let weight = run(async {
            let watch = exceeded(root.path().to_owned(), 1 << 20);
            let grow = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                fs::write(&file, vec![1; 2 << 20]).unwrap();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                weight = watch => weight,
                () = grow => unreachable!(),
            }
        });
        assert!(weight.bytes > 1 << 20);
    }

    #[test]
    fn the_interval_grows_while_nothing_changes_and_costs_little() {
        assert_eq!(next_interval(SHORTEST, true, Duration::ZERO), SHORTEST * 2);
        assert_eq!(next_interval(LONGEST, true, Duration::ZERO), LONGEST);
        assert_eq!(next_interval(LONGEST, false, Duration::ZERO), SHORTEST);
        assert_eq!(next_interval(SHORTEST, false, Duration::from_millis(50)), Duration::from_secs(1));
    }
}
