//! `fumehood store`: what is installed.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
};

use cell::folders::Folders;
use model::{digest::Digest, size};
use serde::Serialize;

use crate::{
    cli::lock::{Store, StoreVerb},
    finding, places,
    server::{staged, standing::packages_of},
    stop::{FAILURE, Stop},
    terminal,
};

/// One package; what `list --json` prints.
#[derive(Debug, Serialize)]
struct Row {
    source: String,
    content: Digest,
    bytes: u64,
    entries: usize,
    used_by: Vec<String>,
    /// Where its files are.
    folder: std::path::PathBuf,
}

/// Does what was asked.
pub(crate) fn perform(asked: &Store) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    match &asked.what {
        StoreVerb::List { json } => list(&folders, *json),
        StoreVerb::Gc => gc(&folders),
        StoreVerb::Verify => verify(&folders),
    }
}

fn list(folders: &Folders, json: bool) -> anyhow::Result<ExitCode> {
    let used = used(folders)?;
    let mut rows: Vec<Row> = Vec::new();
    for stored in packages_of(folders).list().map_err(stop)? {
        rows.push(Row {
            source: stored.sources.join(", "),
            used_by: used.get(&stored.content).cloned().unwrap_or_default(),
            folder: packages_of(folders)
                .find(&stored.content)
                .map(|package| package.tree())
                .unwrap_or_default(),
            content: stored.content,
            bytes: stored.size,
            entries: stored.entries,
        });
    }
    rows.sort_by(|a, b| a.source.cmp(&b.source));
    if json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = vec![["PACKAGE", "SIZE", "FILES", "USED BY", "CONTENT"].map(str::to_owned).to_vec()];
    for row in rows {
        let used_by = if row.used_by.is_empty() { "nothing".to_owned() } else { row.used_by.join(", ") };
        let entries = row.entries.to_string();
        table.push(vec![row.source, size::round(row.bytes), entries, used_by, row.content.to_string()]);
    }
    terminal::print(&terminal::table(&table))?;
    Ok(ExitCode::SUCCESS)
}

fn gc(folders: &Folders) -> anyhow::Result<ExitCode> {
    let keep: BTreeSet<Digest> = used(folders)?.into_keys().collect();
    let collected = packages_of(folders).gc(&keep).map_err(stop)?;
    let count = collected.removed.len();
    terminal::say(&format!("removed {count} trees of packages, {}", size::round(collected.freed)));
    for content in &collected.in_use {
        terminal::say(&format!("{content} is named by no lock, but runs now"));
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(folders: &Folders) -> anyhow::Result<ExitCode> {
    let store = packages_of(folders);
    let mut broken = 0;
    for stored in store.list().map_err(stop)? {
        let Some(package) = store.find(&stored.content) else { continue };
        match package.verify_every_byte() {
            Ok(()) => {
                terminal::say(&format!("{}: every file is as it was installed", stored.sources.join(", ")));
            }
            Err(error) => {
                broken += 1;
                terminal::say(&format!("{}: {error}", stored.sources.join(", ")));
                terminal::say(&format!("help: {}", error.hint()));
            }
        }
    }
    if broken > 0 {
        return Err(Stop::new(FAILURE, format!("{broken} are not as they were installed"), "").into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Which servers of which lock use a tree: of every lock that somebody on this machine has used, by what was accepted.
fn used(folders: &Folders) -> anyhow::Result<BTreeMap<Digest, Vec<String>>> {
    let mut used: BTreeMap<Digest, Vec<String>> = BTreeMap::new();
    for lock in finding::locks(folders)? {
        // A lock that cannot be read keeps everything: nothing is removed on a guess.
        for (name, pinned) in lock.read()?.iter() {
            for content in pinned.content.values() {
                used.entry(*content).or_default().push(name.to_string());
            }
        }
    }
    for (name, target) in finding::all(folders)? {
        if let Some(entry) = target.and_then(|target| staged::read(&target, folders))? {
            for content in entry.pinned.content.values() {
                used.entry(*content).or_default().push(format!("{name} (update)"));
            }
        }
    }
    Ok(used)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn stop(error: packages::store::StoreError) -> anyhow::Error {
    Stop::new(FAILURE, crate::stop::chain(&error), error.hint()).into()
}
