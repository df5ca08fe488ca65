//! `fumehood review`: what a model would read, or what has changed of it, and a person's answer.

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

use anyhow::Context;
use cell::folders::Folders;
use egress::refusal::remedy::shell_word;
use serde::Serialize;
use store::{How, ReviewerKey};
use tokio::task::LocalSet;
use tools::lock::Pinned;

use super::runtime;
use crate::{
    cli::lock::Review,
    finding, places,
    server::{
        lock_file::{Accepted, Entry},
        pinning, preparing,
        progress::Shown,
        signed, staged,
        standing::{Standing, accepted, packages_of, surface_of, told, trust},
        target::{Home, Source, Target},
    },
    stop::{CHANGED, NOT_ACCEPTED, REFUSED, Stop, USAGE},
    terminal,
};

mod pages;
mod signing;

/// How it is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    /// By asking.
    Ask,
    /// Yes, to this fingerprint and no other.
    Accept(String),
    /// No.
    Reject,
}

impl Wish {
    /// From `--accept`.
    pub(crate) fn from_accept(accept: Option<&str>) -> Self {
        accept.map_or(Self::Ask, |fingerprint| Self::Accept(fingerprint.to_owned()))
    }
}

/// What there is to decide about a server.
#[derive(Debug)]
struct Case {
    /// As it would be pinned.
    wanted: Entry,
    /// As it was accepted before, where it was.
    before: Option<Entry>,
    /// What is about it besides its texts, in words.
    facts: Vec<String>,
    /// Whether it waits as an update.
    is_update: bool,
}

/// What there is to decide; what `--json` prints.
#[derive(Debug, Serialize)]
struct Told<'a> {
    name: &'a str,
    fingerprint: String,
    short: &'a str,
    source: &'a str,
    facts: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    review: serde_json::Value,
}

/// One server, or all that wait.
pub(crate) fn perform(asked: &Review) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    if let Some(file) = &asked.new_key {
        return signing::new_key(file, &folders);
    }
    let key = asked.sign.as_deref().map(signed::key).transpose()?;
    let runtime = runtime()?;
    let local = LocalSet::new();
    let code = runtime.block_on(local.run_until(async {
        let wish = match &asked.accept {
            _ if asked.reject => Wish::Reject,
            accept => Wish::from_accept(accept.as_deref()),
        };
        match &asked.name {
            Some(name) => {
                let target = finding::find(&folders, name)?;
                if asked.json {
                    print(&target, &folders).await
                } else {
                    one_signed(&target, &folders, &wish, key.as_ref()).await
                }
            }
            None => every(&folders, asked.json).await,
        }
    }));
    drop(local);
    runtime.shutdown_background();
    code
}

/// Everything that waits, one after the other. What fails keeps nothing else from being reviewed.
async fn every(folders: &Folders, json: bool) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut count = 0;
    for (name, target) in finding::all(folders)? {
        let outcome = async {
            let target = target?;
            let waits = !matches!(Standing::of(&target, folders)?, Standing::Ready(_))
                || staged::read(&target, folders)?.is_some();
            if !waits {
                return Ok(ExitCode::SUCCESS);
            }
            count += 1;
            if json { print(&target, folders).await } else { one(&target, folders, &Wish::Ask).await }
        };
        if let Err(error) = outcome.await {
            terminal::say(&format!("{name}:"));
            code = crate::stop::tell(&error);
        }
    }
    if count == 0 {
        terminal::say("nothing waits for a decision: `fumehood list` shows every server");
    }
    Ok(code)
}

/// One server, to its decision.
pub(crate) async fn one(target: &Target, folders: &Folders, wish: &Wish) -> anyhow::Result<ExitCode> {
    one_signed(target, folders, wish, None).await
}

async fn one_signed(
    target: &Target,
    folders: &Folders,
    wish: &Wish,
    key: Option<&ReviewerKey>,
) -> anyhow::Result<ExitCode> {
    let standing = Standing::of(target, folders)?;
    if let Standing::Untrusted { .. } = standing {
        let reason = standing.reason().unwrap_or_default();
        let hint = format!("`{}`", standing.remedy(target));
        return Err(Stop::new(NOT_ACCEPTED, format!("{}: {reason}", target.name), hint).into());
    }
    if let Standing::Absent(entry) = &standing {
        if let Some(case) = fetch(target, folders, entry).await? {
            return decide(target, folders, &case, wish, key);
        }
        if key.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let ready = match &standing {
        Standing::Ready(entry) | Standing::Absent(entry) => Some(entry.clone()),
        _ => None,
    };
    let case = match (case(target, folders, standing).await?, ready) {
        (Some(case), _) => case,
        // What others count on is decided by whoever signs, whatever was decided before.
        (None, Some(entry)) if key.is_some() => as_it_is(target, folders, &entry),
        (None, ready) => {
            if let Some(entry) = ready {
                shown_again(target, folders, &entry, wish)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
    };
    decide(target, folders, &case, wish, key)
}

/// At the first start at a terminal: prepared, shown, and asked. An error where it was not accepted.
pub(crate) async fn at_start(target: &Target, folders: &Folders, standing: Standing) -> anyhow::Result<()> {
    if let Standing::Absent(entry) = &standing {
        return match fetch(target, folders, entry).await? {
            Some(case) => decide(target, folders, &case, &Wish::Ask, None).map(drop),
            None => Ok(()),
        };
    }
    match case(target, folders, standing).await? {
        Some(case) => decide(target, folders, &case, &Wish::Ask, None).map(drop),
        None => Ok(()),
    }
}

/// Installs what was accepted. What there is to decide, where nobody has pinned yet what that comes to on this platform.
async fn fetch(target: &Target, folders: &Folders, entry: &Entry) -> anyhow::Result<Option<Case>> {
    let mut shown = Shown::new(target.spec.name.as_str());
    let record = preparing::fetch(target, folders, entry, &mut |step| shown.step(&step)).await?;
    drop(shown);
    if entry.pinned.content.contains_key(&record.platform) {
        terminal::say(&format!("{}: installed as it was accepted", target.name));
        return Ok(None);
    }
    let mut wanted = entry.clone();
    wanted.pinned.content.insert(record.platform.clone(), record.content);
    let mut facts = facts(target, &wanted.pinned, folders);
    facts
        .push(format!("new: the accepted versions on {}, which come to {}", record.platform, record.content));
    Ok(Some(Case { wanted, before: Some(entry.clone()), facts, is_update: false }))
}

/// What there is to decide; nothing where it is as it was accepted.
async fn case(target: &Target, folders: &Folders, standing: Standing) -> anyhow::Result<Option<Case>> {
    let prepared = async |pinned: Option<&Entry>| {
        let mut shown = Shown::new(target.spec.name.as_str());
        preparing::prepare(target, folders, pinned, &mut |step| shown.step(&step)).await
    };
    Ok(match standing {
        Standing::New => {
            let prepared = prepared(None).await.with_context(|| format!("{} is not ready", target.name))?;
            target.lock.write(&target.name, &prepared.entry)?;
            let facts = facts(target, &prepared.entry.pinned, folders);
            Some(Case { wanted: prepared.entry, before: None, facts, is_update: false })
        }
        Standing::Differs { entry, how } => {
            // Another command is another thing; what else was declared says nothing about versions.
            let same = entry.pinned.command == target.spec.command && entry.pinned.scripts == target.scripts;
            let prepared = prepared(same.then_some(&*entry)).await?;
            let mut facts = facts(target, &prepared.entry.pinned, folders);
            facts.extend(how.into_iter().map(|difference| format!("changed: {difference}")));
            let before = was_accepted(target, folders, &entry)?.then_some(*entry);
            Some(Case { wanted: prepared.entry, before, facts, is_update: false })
        }
        Standing::Unaccepted(entry) => {
            let facts = facts(target, &entry.pinned, folders);
            Some(Case { wanted: *entry, before: None, facts, is_update: false })
        }
        Standing::Changed(pending) => {
            let Some(before) = target.lock.entry(&target.name)? else {
                trust(folders).clear_pending(&target.lock.key(&target.name)).map_err(told)?;
                let message = format!("{} has changed, but is pinned no longer", target.name);
                return Err(Stop::new(
                    USAGE,
                    message,
                    format!("`fumehood review {}` begins anew", target.name),
                )
                .into());
            };
            let surface = surface_of(&pending)?;
            let mut wanted = before.clone();
            wanted.pinned.fingerprint = *surface.fingerprint();
            wanted.pinned.short = surface.short().to_owned();
            wanted.surface = surface;
            target.declared_into(&mut wanted.pinned);
            let mut facts = facts(target, &wanted.pinned, folders);
            facts.push(format!("seen running: first {}, last {}", pending.first_seen, pending.last_seen));
            if let Source::Package(_) = target.source {
                facts.push("its files are the pinned ones: it says something else all the same".to_owned());
            }
            Some(Case { wanted, before: Some(before), facts, is_update: false })
        }
        Standing::Ready(before) => match staged::read(target, folders)? {
            Some(wanted) => {
                let facts = super::swap::facts(&before, &wanted, target);
                Some(Case { wanted, before: Some(*before), facts, is_update: true })
            }
            None => None,
        },
        Standing::Untrusted { .. } | Standing::Absent(_) => None,
    })
}

fn was_accepted(target: &Target, folders: &Folders, entry: &Entry) -> anyhow::Result<bool> {
    Ok(accepted(target, folders, &entry.pinned)? == Accepted::Yes)
}

/// What is about a server besides its texts.
fn facts(target: &Target, pinned: &Pinned, folders: &Folders) -> Vec<String> {
    let mut facts = vec![match &target.source {
        Source::Package(_) => format!("package: {}", pinned.source),
        Source::Local => format!(
            "program of this machine: `{}`; its files are not pinned, only what it offers",
            target.spec.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
        ),
        Source::Remote { url, .. } => {
            format!("elsewhere: {url}; whoever runs it sees what it is called with")
        }
    }];
    if let Some(integrity) = &pinned.integrity {
        facts.push(format!("integrity: {integrity}"));
    }
    let mut also = |what: &str, list: Vec<String>| {
        if !list.is_empty() {
            facts.push(format!("{what}: {}", list.join(", ")));
        }
    };
    also("reaches", pinned.hosts.clone());
    also("uses your secrets", pinned.secrets.values().cloned().collect());
    also("sends headers", pinned.headers.clone());
    also("sees", pinned.mounts.clone());
    also("install scripts that ran", pinned.scripts.clone());
    let store = packages_of(folders);
    if let Some(record) = pinned.content.values().find_map(|content| store.record(content)) {
        also("packages with it", vec![record.dependencies.len().to_string()]);
        if !record.scripts_not_run.is_empty() {
            facts.push(format!(
                "install scripts that did not run: {}; if it does not work without, `allow_scripts` lets one run",
                record.scripts_not_run.join(", ")
            ));
        }
        facts.extend(record.notes);
    }
    facts.extend(signing::fact(target, pinned));
    facts
}

/// A server that is as it was accepted.
fn as_it_is(target: &Target, folders: &Folders, entry: &Entry) -> Case {
    let facts = facts(target, &entry.pinned, folders);
    Case { wanted: entry.clone(), before: None, facts, is_update: false }
}

/// Shows the case, and carries out the answer.
fn decide(
    target: &Target,
    folders: &Folders,
    case: &Case,
    wish: &Wish,
    key: Option<&ReviewerKey>,
) -> anyhow::Result<ExitCode> {
    let name = &target.name;
    let fingerprint = case.wanted.pinned.fingerprint.to_string();
    let how = match wish {
        Wish::Reject => return reject(target, folders, case),
        Wish::Accept(given) => {
            if *given != fingerprint {
                pages::print(target, case)?;
                let message = format!("`{given}` is not the fingerprint of {name}, which is {fingerprint}");
                let hint = "read it, and give the full fingerprint of what you have read";
                return Err(Stop::new(REFUSED, message, hint).into());
            }
            How::CommandLine
        }
        Wish::Ask => {
            if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
                pages::print(target, case)?;
                let code = if case.before.is_some() { CHANGED } else { NOT_ACCEPTED };
                let message = format!("{name} is accepted by a person at a terminal");
                let hint = format!(
                    "run `fumehood review {name}` at a terminal, or, if a person has read it: \
                     `fumehood review {name} --accept {fingerprint}`"
                );
                return Err(Stop::new(code, message, hint).into());
            }
            match pages::ask(target, case)? {
                pages::Answer::Accept => How::Terminal,
                pages::Answer::Reject => return reject(target, folders, case),
                pages::Answer::Later => {
                    let code = if case.before.is_some() { CHANGED } else { NOT_ACCEPTED };
                    let hint = format!("`fumehood review {name}` shows it again");
                    return Err(Stop::new(code, format!("{name} was not accepted"), hint).into());
                }
            }
        }
    };
    if case.is_update {
        super::swap::redeclare(target, folders, &case.wanted)?;
        let target = finding::find(folders, name.as_str())?;
        pinning::accept(&target, folders, &case.wanted, how)?;
        staged::clear(&target, folders)?;
    } else {
        pinning::accept(target, folders, &case.wanted, how)?;
    }
    terminal::say(&format!("{name} is accepted: {fingerprint}"));
    if let Some(key) = key {
        signed::sign(target, &case.wanted.pinned, key)?;
        signing::say(target, key);
    }
    if target.home != Home::CommandLine {
        terminal::say(&format!("help: `fumehood run {name}` is what a client starts"));
    }
    Ok(ExitCode::SUCCESS)
}

/// No: what was accepted before stays; what never was is taken out of the lock.
fn reject(target: &Target, folders: &Folders, case: &Case) -> anyhow::Result<ExitCode> {
    let name = &target.name;
    trust(folders).clear_pending(&target.lock.key(name)).map_err(told)?;
    let said = if case.is_update {
        staged::clear(target, folders)?;
        "the version in use stays"
    } else if case.before.is_some() {
        "what was accepted before stays; it is compared again at the next start"
    } else {
        target.lock.remove(name)?;
        "it is pinned no longer; `fumehood remove` takes it out of the file too"
    };
    terminal::say(&format!("{name} was rejected: {said}"));
    Ok(NOT_ACCEPTED.into())
}

/// A server that is as it was accepted.
fn shown_again(target: &Target, folders: &Folders, entry: &Entry, wish: &Wish) -> anyhow::Result<()> {
    if let Wish::Accept(given) = wish
        && *given != entry.pinned.fingerprint.to_string()
    {
        let message = format!("`{given}` is not the fingerprint of {}", target.name);
        return Err(Stop::new(REFUSED, message, "it is accepted as it is, under another one").into());
    }
    let case = as_it_is(target, folders, entry);
    if *wish == Wish::Reject {
        let hint = format!("`fumehood remove {}` takes it out", target.name);
        return Err(Stop::new(USAGE, format!("{} is accepted already", target.name), hint).into());
    }
    pages::print(target, &case)?;
    terminal::say(&format!("{} is accepted as it is: {}", target.name, entry.pinned.fingerprint));
    Ok(())
}

async fn print(target: &Target, folders: &Folders) -> anyhow::Result<ExitCode> {
    let standing = Standing::of(target, folders)?;
    let entry = match &standing {
        Standing::Ready(entry) => Some((**entry).clone()),
        _ => None,
    };
    let case = match case(target, folders, standing).await? {
        Some(case) => case,
        None => match entry {
            Some(entry) => as_it_is(target, folders, &entry),
            None => return Ok(ExitCode::SUCCESS),
        },
    };
    let told = Told {
        name: target.name.as_str(),
        fingerprint: case.wanted.pinned.fingerprint.to_string(),
        short: &case.wanted.pinned.short,
        source: &case.wanted.pinned.source,
        facts: &case.facts,
        before: case.before.as_ref().map(|before| before.pinned.fingerprint.to_string()),
        review: pages::json(&case)?,
    };
    terminal::print(&format!("{}\n", serde_json::to_string_pretty(&told)?))?;
    Ok(ExitCode::SUCCESS)
}
