//! Servers by the names that people give on the command line.

use std::{collections::BTreeSet, path::PathBuf};

use cell::folders::Folders;
use model::name::ServerName;

use crate::{
    cli::Given,
    configuration::Configuration,
    server::{
        lock_file::LockFile,
        target::{Home, Target},
        used,
    },
    stop::{Stop, USAGE},
};
use tools::lock::Pinned;

/// A declared server, or a command that was run without being declared: by its whole name, or by the part before the
/// digits where only one begins so.
pub(crate) fn find(folders: &Folders, word: &str) -> anyhow::Result<Target> {
    let configuration = Configuration::read(folders, &Given::default())?;
    if let Some(target) = configuration.declared_server(folders, word)? {
        return Ok(target);
    }
    let lock = Target::lock_of(&Home::CommandLine, folders).read()?;
    let mut found: Vec<(&ServerName, &Pinned)> = lock
        .iter()
        .filter(|(name, _)| {
            let rest = name.as_str().strip_prefix(word);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
        .collect();
    if let Some(whole) = found.iter().find(|(name, _)| name.as_str() == word).copied() {
        found = vec![whole];
    }
    match found.as_slice() {
        [(name, pinned)] => undeclared(folders, name, pinned),
        [] => {
            let mut known: Vec<String> = configuration
                .declared_servers(folders)?
                .into_iter()
                .map(|(name, _)| name.to_string())
                .collect();
            known.extend(lock.iter().map(|(name, _)| name.to_string()));
            let hint = if known.is_empty() {
                "`fumehood add NAME SOURCE` declares one".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            Err(Stop::new(USAGE, format!("no server is called `{word}`"), hint).into())
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
            let hint = format!("say which: {}", names.join(", "));
            Err(Stop::new(USAGE, format!("`{word}` was run in several ways"), hint).into())
        }
    }
}

/// Every server: declared ones, and commands that were run.
pub(crate) fn all(folders: &Folders) -> anyhow::Result<Vec<(ServerName, anyhow::Result<Target>)>> {
    let configuration = Configuration::read(folders, &Given::default())?;
    let mut all = configuration.declared_servers(folders)?;
    let lock = Target::lock_of(&Home::CommandLine, folders).read()?;
    for (name, pinned) in lock.iter() {
        all.push((name.clone(), undeclared(folders, name, pinned)));
    }
    Ok(all)
}

/// The locks in use on this machine: the operator's, the one of commands, that of this project, and those of every project
/// of which a server was accepted here, as far as they are still there.
pub(crate) fn locks(folders: &Folders) -> anyhow::Result<Vec<LockFile>> {
    let configuration = Configuration::read(folders, &Given::default())?;
    let mut places: BTreeSet<PathBuf> = [Home::Operator, Home::CommandLine]
        .iter()
        .map(|home| Target::lock_of(home, folders).path().to_owned())
        .collect();
    if let Some((project, _)) = configuration.nearest_project()? {
        places.insert(LockFile::at(project.folder()).path().to_owned());
    }
    places.extend(used::all(folders)?);
    Ok(places.iter().filter_map(|path| path.parent().map(LockFile::at)).collect())
}

/// A command that was run, as its table has it.
fn undeclared(folders: &Folders, name: &ServerName, pinned: &Pinned) -> anyhow::Result<Target> {
    let mut given = Given {
        name: name.as_str().rsplit_once('-').map(|(base, _)| base.to_owned()),
        hosts: pinned.hosts.clone(),
        mounts: pinned.mounts.clone(),
        ..Given::default()
    };
    for (variable, secret) in &pinned.secrets {
        match secret.strip_suffix(" exposed") {
            Some(secret) => given.exposed.push(format!("{secret}={variable}")),
            None => given.secrets.push(format!("{secret}={variable}")),
        }
    }
    let configuration = Configuration::read(folders, &given)?;
    let mut target = configuration.server(folders, pinned.command.clone(), true)?;
    target.name = name.clone();
    Ok(target)
}
