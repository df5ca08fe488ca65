//! What an update swaps: versions in a declaration, packages in a tree.

use std::{collections::BTreeMap, fs};

use anyhow::Context;
use cell::folders::Folders;
use model::config::Project;

use crate::{
    configuration::{Configuration, operators_file},
    edit,
    server::{
        lock_file::{Entry, Tree, replace},
        standing::{told, trust},
        target::{Home, Source, Target},
    },
    stop::{Stop, USAGE},
};

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
                facts.push(format!("package changes: {name} {before} → {version}"));
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
    replace(&path, after.as_bytes())?;
    super::trust::carry_over(&trust, &target.home, &before, &after)?;
    // A change that was seen of the old version says nothing of the new one.
    trust.clear_pending(&target.lock.key(&target.name)).map_err(told)?;
    Ok(())
}

fn listed(hosts: &[String]) -> String {
    if hosts.is_empty() { "nothing".to_owned() } else { hosts.join(", ") }
}
