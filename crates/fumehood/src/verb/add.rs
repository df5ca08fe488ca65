//! `fumehood add`: a server declared, installed, read and reviewed.

use std::{collections::BTreeMap, fs, io, path::PathBuf, process::ExitCode};

use anyhow::Context;
use cell::folders::{Folders, make_private};
use model::{config::Project, digest::Digest, name::ServerName};
use tokio::task::LocalSet;

use super::{review, runtime};
use crate::{
    cli::{Given, lock::Add},
    configuration::{Configuration, operators_file},
    edit::{self, NewServer},
    finding, places,
    server::{
        lock_file::replace,
        standing::{told, trust},
        target::Home,
    },
    stop::{Stop, USAGE},
    terminal,
};

/// Declares it, and goes on to its review.
pub(crate) fn perform(asked: &Add) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let name =
        ServerName::new(asked.name.clone()).map_err(|error| Stop::new(USAGE, error.to_string(), ""))?;
    let configuration = Configuration::read(&folders, &Given::default())?;
    if configuration.declared_server(&folders, name.as_str())?.is_some() {
        let hint = format!("choose another name, or remove that one: `fumehood remove {name}`");
        return Err(Stop::new(USAGE, format!("a server `{name}` is declared already"), hint).into());
    }
    let (path, is_projects) = file(asked, &configuration, &folders)?;
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("reading `{}`", path.display())),
    };
    // The folder of this very file: a new one below another project's says nothing about that one.
    let home = match path.parent() {
        Some(folder) if is_projects => {
            Home::Project { folder: folder.to_owned(), digest: Digest::of(before.as_bytes()) }
        }
        _ => Home::Operator,
    };
    let trust = trust(&folders);
    let after = edit::with_server(&before, name.as_str(), &new_server(asked)?).map_err(|error| {
        let message = format!("`{}` was not changed: {error}", path.display());
        Stop::new(USAGE, message, "write the server into it by hand")
    })?;
    Configuration::check(&path, &after, is_projects)?;
    if !is_projects && let Some(folder) = path.parent() {
        make_private(folder)?;
    }
    replace(&path, after.as_bytes())?;
    terminal::say(&format!("`{}` declares {name}", path.display()));
    super::trust::carry_over(&trust, &home, &before, &after)?;
    let runtime = runtime()?;
    let local = LocalSet::new();
    let code = runtime.block_on(local.run_until(async {
        let target = finding::find(&folders, name.as_str())?;
        trust.clear_pending(&target.lock.key(&target.name)).map_err(told)?;
        review::one(&target, &folders, &review::Wish::from_accept(asked.accept.as_deref())).await
    }));
    drop(local);
    runtime.shutdown_background();
    if code.is_err() {
        terminal::say(&format!(
            "{name} stays declared: `fumehood review {name}` goes on, `fumehood remove {name}` takes it out"
        ));
    }
    code
}

/// Which file declares it.
fn file(asked: &Add, configuration: &Configuration, folders: &Folders) -> anyhow::Result<(PathBuf, bool)> {
    if asked.project {
        let here = std::env::current_dir().context("finding the working folder")?;
        return Ok((here.join(Project::FILE_NAME), true));
    }
    match configuration.nearest_project()? {
        Some((project, _)) if !asked.global => Ok((project.folder().join(Project::FILE_NAME), true)),
        _ => Ok((operators_file(folders), false)),
    }
}

fn new_server(asked: &Add) -> anyhow::Result<NewServer> {
    let mut server = NewServer {
        hosts: asked.hosts.clone(),
        mounts: asked.mounts.clone(),
        data: asked.data,
        client: (asked.client != "plain").then(|| asked.client.clone()),
        reads_with_keys: asked.read_with_keys,
        scripts: asked.scripts.clone(),
        ..NewServer::default()
    };
    match &asked.source {
        Some(source) => {
            if !["npx:", "uvx:", "https://", "http://"].iter().any(|start| source.starts_with(start)) {
                let hint = format!(
                    "write `npx:PACKAGE@VERSION`, `uvx:PACKAGE==VERSION` or `https://HOST/PATH`, or put `--` before a \
                     command: `fumehood add {} -- {source}`",
                    asked.name
                );
                return Err(Stop::new(USAGE, format!("`{source}` is no source"), hint).into());
            }
            server.source = Some(source.clone());
            server.args.clone_from(&asked.words);
        }
        None => server.command.clone_from(&asked.words),
    }
    for secret in &asked.secrets {
        let (name, variable) = secret.split_once('=').unwrap_or((secret, secret));
        server.secrets.insert(variable.to_owned(), name.to_owned());
    }
    let mut env = BTreeMap::new();
    for variable in &asked.env {
        let Some((name, value)) = variable.split_once('=') else {
            let hint = format!("write `--env {variable}=VALUE`: the file has to say it");
            return Err(Stop::new(USAGE, format!("`--env {variable}` has no value"), hint).into());
        };
        env.insert(name.to_owned(), value.to_owned());
    }
    server.env = env;
    Ok(server)
}
