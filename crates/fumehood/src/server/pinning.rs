//! Writing a person's yes down: the lock first, then the acceptance, which is worth nothing without it.

use std::time::SystemTime;

use cell::folders::Folders;
use store::{Acceptance, How};

use super::{
    lock_file::Entry,
    standing::{told, trust},
    target::Target,
    used,
};

/// Puts this entry into the lock, and accepts it.
pub(crate) fn accept(target: &Target, folders: &Folders, entry: &Entry, how: How) -> anyhow::Result<()> {
    let trust = trust(folders);
    let before = target.lock.entry(&target.name).ok().flatten();
    if before.as_ref().is_none_or(|before| before.pinned != entry.pinned || before.tree != entry.tree) {
        target.lock.write(&target.name, entry)?;
    }
    used::remember(folders, &target.lock)?;
    let fingerprint = entry.pinned.fingerprint.to_string();
    trust
        .accept(&Acceptance {
            name: target.name.clone(),
            table: entry.pinned.digest(&target.name),
            fingerprint: fingerprint.clone(),
            source: entry.pinned.source.clone(),
            accepted_at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            how,
        })
        .map_err(told)?;
    // A change that came after the one that was looked at goes on waiting.
    trust.clear_pending_of(&target.lock.key(&target.name), &fingerprint).map_err(told)?;
    Ok(())
}
