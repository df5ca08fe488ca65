//! Orders that are carried out, each by one at a time, and what came of them.

use std::{
    fs::{self, File},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use model::digest::Digest;

use super::{Store, StoreError, held};
use crate::order::Record;

/// How often it is looked whether the other one is ready.
const LOOK: Duration = Duration::from_millis(50);

/// The right to carry an order out.
#[derive(Debug)]
pub(crate) struct Claim {
    /// Since when it was wanted.
    since: SystemTime,
    /// Whether somebody else had it meanwhile.
    has_waited: bool,
    lock: PathBuf,
    result: PathBuf,
    held: Option<File>,
}

impl Claim {
    /// Waits until nobody else carries out the same order; tells `waiting` where that takes time.
    pub(crate) async fn take(
        store: &Store,
        key: &Digest,
        waiting: &mut dyn FnMut(),
    ) -> Result<Self, StoreError> {
        let since = SystemTime::now();
        let lock = store.own("locks")?.join(key.hex());
        let result = store.own("orders")?.join(key.hex());
        let mut has_waited = false;
        loop {
            if let Some(held) = held::alone(&lock).map_err(StoreError::io("locking", &lock))? {
                return Ok(Self { since, has_waited, lock, result, held: Some(held) });
            }
            if !has_waited {
                waiting();
            }
            has_waited = true;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// What came of it the last time. With `pinned` content it does not matter when that was; else only what somebody
    /// else has made while we waited counts: versions may have come since.
    pub(crate) fn result(&self, pinned: Option<Digest>) -> Option<Record> {
        let record: Record = serde_json::from_slice(&fs::read(&self.result).ok()?).ok()?;
        let written = fs::metadata(&self.result).and_then(|facts| facts.modified()).ok()?;
        let counts = match pinned {
            Some(content) => record.content == content,
            None => self.has_waited && written >= self.since,
        };
        counts.then_some(record)
    }

    /// Keeps what came of it.
    pub(crate) fn keep(&self, record: &Record) -> Result<(), StoreError> {
        let text = serde_json::to_vec(record)
            .map_err(|error| StoreError::io("writing", &self.result)(error.into()))?;
        let beside = self.result.with_extension("new");
        fs::write(&beside, text)
            .and_then(|()| fs::rename(&beside, &self.result))
            .map_err(StoreError::io("writing", &self.result))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While it is still locked: whoever opened it meanwhile sees that its name is gone.
        fs::remove_file(&self.lock).ok();
        self.held.take();
    }
}

/// What came of all orders, as far as that can be read.
pub(super) fn all(store: &Store) -> Vec<Record> {
    files(store).into_iter().filter_map(|file| serde_json::from_slice(&fs::read(file).ok()?).ok()).collect()
}

/// Forgets orders whose trees are no more.
pub(super) fn forget(store: &Store) {
    for file in files(store) {
        let record: Option<Record> =
            fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let is_there = record.is_some_and(|record| store.tree(&record.content).exists());
        if !is_there {
            // What stays does no harm.
            fs::remove_file(&file).ok();
        }
    }
}

fn files(store: &Store) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(store.folder.join("orders")) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_none()).collect()
}
