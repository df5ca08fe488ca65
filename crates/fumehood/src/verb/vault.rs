//! `fumehood vault`: the broker of one cell.

use std::{fs, io, os::fd::AsFd, os::unix::fs::MetadataExt, process::ExitCode};

use anyhow::Context;
use cell::folders::Folders;
use model::{
    config::{DeclaredSecret, SecretSource},
    needle::NeedleKey,
    secret::SecretName,
};
use secrets::{
    broker::{Order, Personal, serve},
    vault::{Store, UserKey},
};

use crate::{
    cli::{Given, secret::Broker},
    configuration::{Configuration, operators_file},
    passphrase::AtTerminal,
    places,
    stop::{REFUSED, Stop, USAGE},
};

/// Serves until the supervisor has gone.
pub(crate) fn perform(asked: Broker) -> anyhow::Result<ExitCode> {
    secrets::process::close_to_others().context("closing this process to others")?;
    if asked.needles {
        return needles();
    }
    let names = named(asked.names)?;
    let personal = match asked.user {
        Some(user) => {
            let user = UserKey::new(user).map_err(|error| Stop::new(USAGE, error.to_string(), ""))?;
            Some(Personal { user, names: named(asked.personal)?.into_iter().collect() })
        }
        None => None,
    };
    let socket = io::stdin().as_fd().try_clone_to_owned().context("taking the supervisor's connection")?;
    if rustix::net::sockopt::socket_type(&socket) != Ok(rustix::net::SocketType::STREAM) {
        let message = "stdin is not the connection to a supervisor";
        return Err(Stop::new(USAGE, message, "this verb is for `fumehood run` and the like").into());
    }
    let folders = places::folders()?;
    let configuration = Configuration::read(&folders, &Given::default())?;
    let mut declared = configuration.secrets().clone();
    declared.retain(|name, _| names.contains(name));
    check_author(&folders, declared.values())?;
    let order = Order { store: Store::at(folders.vault()), declared, names, personal };
    let mut opener = AtTerminal::for_peer(socket.try_clone()?);
    serve(&order, socket, &mut opener)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes to stdout what recognises every value.
fn needles() -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let configuration = Configuration::read(&folders, &Given::default())?;
    let declared = configuration.secrets();
    check_author(&folders, declared.values())?;
    let mut random = [0; 32];
    getrandom::fill(&mut random)?;
    let store = Store::at(folders.vault());
    let made = secrets::needles::make(&store, declared, NeedleKey::new(random), &mut AtTerminal::default());
    let made = made.map_err(Stop::from)?;
    crate::terminal::print(&serde_json::to_string(&made)?)?;
    Ok(ExitCode::SUCCESS)
}

fn named(texts: Vec<String>) -> anyhow::Result<Vec<SecretName>> {
    let names: Result<_, _> = texts.into_iter().map(SecretName::new).collect();
    Ok(names.map_err(|error| Stop::new(USAGE, error.to_string(), ""))?)
}

/// A file that others can change does not say which programs are run.
fn check_author<'a>(
    folders: &Folders,
    mut declared: impl Iterator<Item = &'a DeclaredSecret>,
) -> anyhow::Result<()> {
    if !declared.any(|secret| matches!(secret.source, SecretSource::Command(_))) {
        return Ok(());
    }
    let file = operators_file(folders);
    let facts = fs::metadata(&file).with_context(|| format!("looking at `{}`", file.display()))?;
    let me = rustix::process::geteuid().as_raw();
    if facts.mode() & 0o022 == 0 && (facts.uid() == me || facts.uid() == 0) {
        return Ok(());
    }
    let message = format!("`{}` can be changed by others, and names a program that is run", file.display());
    let hint = format!("`chmod go-w {}`, and let it belong to you or to root", file.display());
    Err(Stop::new(REFUSED, message, hint).into())
}
