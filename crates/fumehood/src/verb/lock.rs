//! `fumehood lock`: everything that is declared is pinned, or found not to be.

use std::{fs, process::ExitCode};

use anyhow::Context;
use serde::Serialize;
use tokio::task::LocalSet;
use tools::lock::{Lists, Merged, merge};

use super::runtime;
use crate::{
    cli::{Given, lock::Lock},
    configuration::Configuration,
    finding, places,
    server::{
        lock_file::replace,
        preparing,
        progress::Shown,
        standing::{Standing, content},
        target::{Source, Target},
    },
    stop::{CHANGED, FAILURE, NOT_ACCEPTED, Stop},
    terminal,
};

/// What came of one server; what `--json` prints.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    ok: bool,
    what: String,
}

/// Does what was asked.
pub(crate) fn perform(asked: &Lock) -> anyhow::Result<ExitCode> {
    if let Some(files) = &asked.merge {
        let [base, ours, theirs] = files.as_slice() else {
            return Err(Stop::new(FAILURE, "three files", "").into());
        };
        let read = |path: &std::path::PathBuf| {
            fs::read(path).with_context(|| format!("reading `{}`", path.display()))
        };
        let merged = merge(&read(base)?, &read(ours)?, &read(theirs)?)
            .map_err(|error| Stop::new(FAILURE, error.to_string(), error.hint()))?;
        // As git wants it: the result in the place of ours, and an exit code.
        replace(ours, merged.text().as_bytes())?;
        return Ok(match merged {
            Merged::Clean(_) => ExitCode::SUCCESS,
            Merged::Conflict(_) => FAILURE.into(),
        });
    }
    let folders = places::folders()?;
    let targets: Vec<Target> = if asked.names.is_empty() {
        let configuration = Configuration::read(&folders, &Given::default())?;
        let declared = configuration.declared_servers(&folders)?;
        declared.into_iter().map(|(_, target)| target).collect::<anyhow::Result<_>>()?
    } else {
        asked.names.iter().map(|name| finding::find(&folders, name)).collect::<anyhow::Result<_>>()?
    };
    let runtime = runtime()?;
    let local = LocalSet::new();
    let mut rows = Vec::new();
    for target in &targets {
        let outcome = runtime.block_on(local.run_until(async {
            if asked.check { check(target, &folders).await } else { pin(target, &folders).await }
        }));
        let (ok, what) = match outcome {
            Ok(what) => (true, what),
            Err(error) => {
                let hint = error.downcast_ref::<Stop>().map(Stop::hint).filter(|hint| !hint.is_empty());
                (false, hint.map_or_else(|| format!("{error:#}"), |hint| format!("{error:#}: {hint}")))
            }
        };
        rows.push(Row { name: target.name.to_string(), ok, what });
    }
    drop(local);
    runtime.shutdown_background();
    let failed = rows.iter().filter(|row| !row.ok).count();
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
    } else {
        for row in &rows {
            terminal::say(&format!("{}: {}", row.name, row.what));
        }
    }
    if failed > 0 {
        let message = format!("{failed} of {} servers are not as they are pinned", rows.len());
        let hint = if asked.check { "`fumehood review` shows each, and asks" } else { "" };
        return Err(Stop::new(if asked.check { CHANGED } else { FAILURE }, message, hint).into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Pins what is not pinned, or is declared otherwise. Whether it is accepted is another question.
async fn pin(target: &Target, folders: &cell::folders::Folders) -> anyhow::Result<String> {
    trusted(target, folders)?;
    let lock = target.lock.read()?;
    let pinned = lock.get(&target.name);
    // Where the file beside is damaged, this mends it.
    let entry = target.lock.entry(&target.name).ok().flatten();
    if let (Some(pinned), Some(entry)) = (pinned, &entry)
        && target.differences(pinned).is_empty()
    {
        if content(folders, entry).is_none_or(|package| package.verify().is_ok()) {
            return Ok(format!("pinned already: {}", pinned.source));
        }
        // Nobody uses a tree that was changed, so the installation puts another one in its place.
        let mut shown = Shown::new(target.spec.name.as_str());
        preparing::fetch(target, folders, entry, &mut |step| shown.step(&step)).await?;
        return Ok(format!("installed anew, as it is pinned: {}", pinned.source));
    }
    let same = entry.filter(|entry| {
        entry.pinned.command == target.spec.command && entry.pinned.scripts == target.scripts
    });
    let mut shown = Shown::new(target.spec.name.as_str());
    let prepared = preparing::prepare(target, folders, same.as_ref(), &mut |step| shown.step(&step)).await;
    drop(shown);
    let prepared = prepared?;
    target.lock.write(&target.name, &prepared.entry)?;
    Ok(format!(
        "pinned: {}; `fumehood review {}` asks whether it is accepted",
        prepared.entry.pinned.source, target.name
    ))
}

/// What a project asks for is not done before a person has read it.
fn trusted(target: &Target, folders: &cell::folders::Folders) -> anyhow::Result<()> {
    let standing = Standing::of_project(target, folders)?;
    let Some(standing) = standing else { return Ok(()) };
    let message = standing.reason().unwrap_or_default();
    Err(Stop::new(NOT_ACCEPTED, message, format!("`{}`", standing.remedy(target))).into())
}

/// Installs what is pinned where it is not here, reads the server, and compares. Neither trust nor acceptance is asked for:
/// a machine that checks has neither. But for a server that is read with keys: those are not for whatever a checkout asks.
async fn check(target: &Target, folders: &cell::folders::Folders) -> anyhow::Result<String> {
    if target.lists == Lists::Keys {
        trusted(target, folders)?;
    }
    let Some(entry) = target.lock.entry(&target.name)? else {
        return Err(
            Stop::new(CHANGED, format!("`{}` does not pin it", target.lock.path().display()), "").into()
        );
    };
    let differences = target.differences(&entry.pinned);
    if !differences.is_empty() {
        return Err(Stop::new(CHANGED, format!("declared otherwise: {}", differences.join("; ")), "").into());
    }
    let mut shown = Shown::new(target.spec.name.as_str());
    if matches!(target.source, Source::Package(_)) && content(folders, &entry).is_none() {
        preparing::fetch(target, folders, &entry, &mut |step| shown.step(&step)).await?;
    }
    let prepared = preparing::prepare(target, folders, Some(&entry), &mut |step| shown.step(&step)).await;
    drop(shown);
    let now = prepared?.entry;
    if now.pinned.fingerprint != entry.pinned.fingerprint {
        let message =
            format!("it offers {} where {} is pinned", now.pinned.fingerprint, entry.pinned.fingerprint);
        return Err(Stop::new(CHANGED, message, "").into());
    }
    Ok(match Standing::of(target, folders)? {
        Standing::Ready(_) => format!("as pinned: {}", entry.pinned.source),
        other => format!("as pinned: {} (here, {})", entry.pinned.source, other.reason().unwrap_or_default()),
    })
}
