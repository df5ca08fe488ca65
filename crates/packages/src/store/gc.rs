//! Removing what nobody needs.

use std::{collections::BTreeSet, fs};

use model::digest::Digest;

use super::{
    Store, StoreError, held, orders,
    staging::{self, Staging},
};

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collected {
    /// Trees that are gone.
    pub removed: Vec<Digest>,
    /// Bytes of their files.
    pub freed: u64,
    /// Trees that nobody named, but somebody uses now.
    pub in_use: Vec<Digest>,
}

pub(super) fn collect(store: &Store, keep: &BTreeSet<Digest>) -> Result<Collected, StoreError> {
    let mut collected = Collected::default();
    if !store.folder.exists() {
        return Ok(collected);
    }
    // Out of sight first, by one call each; removed when it goes out of scope, or by the next sweep.
    let away = Staging::begin(store)?;
    for content in store.contents()? {
        if keep.contains(&content) {
            continue;
        }
        let folder = store.tree(&content);
        let size = store.find(&content).map_or(0, |package| package.weight().1);
        let _quiet = staging::quiet(store)?;
        let Some(_held) = held::alone(&folder.join("held")).map_err(StoreError::io("locking", &folder))?
        else {
            collected.in_use.push(content);
            continue;
        };
        fs::rename(&folder, away.folder().join(content.hex()))
            .map_err(StoreError::io("removing", &folder))?;
        collected.removed.push(content);
        collected.freed += size;
    }
    orders::forget(store);
    Ok(collected)
}
