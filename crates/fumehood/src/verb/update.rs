//! `fumehood update`: a newer version, installed beside the one in use, compared, and swapped on a person's yes.

use std::{collections::BTreeMap, fs, process::ExitCode, time::SystemTime};

use anyhow::Context;
use cell::folders::Folders;
use model::config::Project;
use tokio::task::LocalSet;

use super::{review, runtime};
use crate::{
    cli::{Given, lock::Update},
    configuration::{Configuration, operators_file},
    edit, places,
    server::{
        finding,
        lock_file::{Entry, Tree, replace},
        preparing,
        progress::Shown,
        staged,
        standing::{Standing, told, trust},
        target::{Home, Source, Target},
    },
    stop::{Stop, USAGE},
    terminal,
};

/// Each in its turn. What fails keeps no other from being updated.
pub(crate) fn perform(asked: &Update) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let targets: Vec<Target> = if asked.names.is_empty() {
        finding::all(&folders)?.into_iter().filter_map(|(_, target)| target.ok()).collect()
    } else {
        asked.names.iter().map(|name| finding::find(&folders, name)).collect::<anyhow::Result<_>>()?
    };
    if asked.accept.is_some() && targets.len() != 1 {
        return Err(Stop::new(USAGE, "`--accept` is for one server", "name it").into());
    }
    let runtime = runtime()?;
    let local = LocalSet::new();
    let mut code = ExitCode::SUCCESS;
    for target in targets {
        let Source::Package(_) = &target.source else {
            if !asked.names.is_empty() {
                terminal::say(&format!("{}: it is no package, so it has no versions", target.name));
            }
            continue;
        };
        let outcome = runtime.block_on(local.run_until(one(&target, &folders, asked.accept.as_deref())));
        match outcome {
            Ok(outcome) if outcome == ExitCode::SUCCESS => {}
            Ok(other) => code = other,
            Err(error) => {
                terminal::say(&format!("{}:", target.name));
                code = crate::stop::tell(&error);
            }
        }
    }
    drop(local);
    runtime.shutdown_background();
    Ok(code)
}

async fn one(target: &Target, folders: &Folders, accept: Option<&str>) -> anyhow::Result<ExitCode> {
    let standing = Standing::of(target, folders)?;
    let (Standing::Ready(before) | Standing::Absent(before)) = standing else {
        let reason = standing.reason().unwrap_or_default();
        let hint = format!("`{}` comes first", standing.remedy(target));
        return Err(Stop::new(USAGE, format!("{}: {reason}", target.name), hint).into());
    };
    let Source::Package(asked) = &target.source else { return Ok(ExitCode::SUCCESS) };
    let newest = packages::newest(asked, &version(&before.pinned.source)).await.map_err(|error| {
        let hint = error.hint();
        Stop::new(crate::stop::FAILURE, error.to_string(), hint)
    })?;
    let mut wanted = target.clone();
    // A version that the declaration names is replaced; one that it leaves open is chosen anew.
    let names_version = asked.at(None) != *asked;
    if names_version && target.home == Home::CommandLine {
        terminal::say(&format!(
            "{}: its command names the version; {} is the newest",
            target.name, newest.version
        ));
        return Ok(ExitCode::SUCCESS);
    }
    if names_version {
        let next = asked.at(Some(&newest.version));
        if let (Some(old), Some(new)) = (&asked.main, &next.main) {
            for word in &mut wanted.spec.command {
                if word == old {
                    word.clone_from(new);
                }
            }
        }
        wanted.source = Source::Package(next);
    }
    let mut shown = Shown::new(target.spec.name.as_str());
    let prepared = preparing::prepare(&wanted, folders, None, &mut |step| shown.step(&step)).await;
    drop(shown);
    let prepared = prepared?;
    if prepared.entry.tree == before.tree && prepared.entry.pinned.fingerprint == before.pinned.fingerprint {
        terminal::say(&format!("{}: {} is the newest there is", target.name, before.pinned.source));
        staged::clear(target, folders)?;
        return Ok(ExitCode::SUCCESS);
    }
    staged::write(target, folders, &prepared.entry)?;
    let min_age = Configuration::read(folders, &Given::default())?.min_age();
    if let Some(age) = newest.released.and_then(|released| SystemTime::now().duration_since(released).ok())
        && age < min_age
    {
        terminal::say(&format!(
            "{}: {} was released {} ago, which is younger than {} days: a theft of an author's account is often \
             noticed within days",
            target.name,
            newest.version,
            days(age.as_secs()),
            min_age.as_secs() / 86_400
        ));
    }
    if let Some(why) = &newest.withdrawn {
        terminal::say(&format!("{}: its author has withdrawn {}: {why}", target.name, newest.version));
    }
    review::one(target, folders, &review::Wish::from_accept(accept)).await
}

/// What is about an update besides its texts: versions, hosts, and every package of the tree that comes, goes or changes.
pub(super) fn facts(before: &Entry, wanted: &Entry, target: &Target) -> Vec<String> {
    let mut facts = vec![format!("update: {} instead of {}", wanted.pinned.source, before.pinned.source)];
    if let Some(integrity) = &wanted.pinned.integrity {
        facts.push(format!("integrity: {integrity}"));
    }
    if wanted.pinned.hosts == before.pinned.hosts {
        facts.push(format!("reaches the same hosts ({})", wanted.pinned.hosts.len()));
    } else {
        facts.push(format!(
            "reaches {} instead of {}",
            listed(&wanted.pinned.hosts),
            listed(&before.pinned.hosts)
        ));
    }
    let (old, new) = (versions(before.tree.as_ref()), versions(wanted.tree.as_ref()));
    for (name, version) in &new {
        match old.get(name) {
            None => facts.push(format!("package comes: {name} {version}")),
            Some(before) if before != version => {
                facts.push(format!("package changes: {name} {before} → {version}"))
            }
            Some(_) => {}
        }
    }
    facts.extend(
        old.iter()
            .filter(|(name, _)| !new.contains_key(*name))
            .map(|(name, version)| format!("package goes: {name} {version}")),
    );
    if old == new {
        facts.push("the same packages".to_owned());
    }
    if !target.scripts.is_empty() {
        facts.push(format!("install scripts that ran: {}", target.scripts.join(", ")));
    }
    facts
}

/// Versions by package of a tree file.
fn versions(tree: Option<&Tree>) -> BTreeMap<String, String> {
    let Some(tree) = tree else { return BTreeMap::new() };
    packages::listed(&tree.name, &tree.bytes).into_iter().fold(
        BTreeMap::new(),
        |mut all: BTreeMap<String, String>, package| {
            all.entry(package.name)
                .and_modify(|versions| {
                    versions.push_str(", ");
                    versions.push_str(&package.version);
                })
                .or_insert(package.version);
            all
        },
    )
}

/// The declaration names the version that was accepted.
pub(super) fn redeclare(target: &Target, folders: &Folders, wanted: &Entry) -> anyhow::Result<()> {
    if wanted.pinned.command == target.spec.command {
        return Ok(());
    }
    let (path, is_projects) = match &target.home {
        Home::Project { folder, .. } => (folder.join(Project::FILE_NAME), true),
        Home::Operator => (operators_file(folders), false),
        // What a command line says is up to whoever writes it.
        Home::CommandLine => {
            let hint = format!("write `{}` where the old command stands", wanted.pinned.command.join(" "));
            return Err(
                Stop::new(USAGE, "a command that no file declares names its own version", hint).into()
            );
        }
    };
    let (Source::Package(old), Some(new)) = (&target.source, packages::words::read(&wanted.pinned.command))
    else {
        return Ok(());
    };
    let (Some(old), Some(new)) = (&old.main, &new.main) else { return Ok(()) };
    let before = fs::read_to_string(&path).with_context(|| format!("reading `{}`", path.display()))?;
    let after = edit::with_version(&before, target.name.as_str(), old, new).map_err(|error| {
        let message = format!("`{}` was not changed: {error}", path.display());
        Stop::new(
            USAGE,
            message,
            format!("write `{new}` in place of `{old}` by hand, and run `fumehood review` again"),
        )
    })?;
    Configuration::check(&path, &after, is_projects)?;
    let trust = trust(folders);
    let was_trusted = super::trust::is_trusted(&trust, &target.home)?;
    replace(&path, after.as_bytes())?;
    if was_trusted {
        super::trust::again(&trust, &target.home)?;
    }
    // A change that was seen of the old version says nothing of the new one.
    trust.clear_pending(&target.lock.key(&target.name)).map_err(told)?;
    Ok(())
}

fn listed(hosts: &[String]) -> String {
    if hosts.is_empty() { "nothing".to_owned() } else { hosts.join(", ") }
}

/// The version in a source such as `npx:x@1.2` or `uvx:x==1.2`.
pub(super) fn version(source: &str) -> String {
    source.rsplit_once(['@', '=']).map(|(_, version)| version.to_owned()).unwrap_or_default()
}

/// As a person says it.
pub(super) fn days(seconds: u64) -> String {
    match seconds / 3_600 {
        0 => "less than an hour".to_owned(),
        hours @ 1..=47 => format!("{hours} hours"),
        hours => format!("{} days", hours / 24),
    }
}
