//! `fumehood secret`: the vault's contents, without ever showing a value.

use std::{
    fs::File,
    io::{self, IsTerminal},
    os::fd::AsFd,
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use model::secret::SecretName;
use secrets::{
    plaintext::Plaintext,
    source::without_line_end,
    terminal::{self as hidden, AskError},
    value::MAX_VALUE,
    vault::{Store, Vault, VaultError},
};

use crate::{
    cli::secret::{Secret, SecretName as Asked, SecretVerb},
    passphrase::AtTerminal,
    places,
    stop::{FAILURE, Stop, USAGE},
    terminal,
};

mod backup;
mod list;
mod seal;
mod set;
mod user;

/// Does what was asked of the vault.
pub(crate) fn perform(asked: Secret) -> anyhow::Result<ExitCode> {
    secrets::process::close_to_others().context("closing this process to others")?;
    let folders = places::folders()?;
    let store = Store::at(folders.vault());
    match asked.what {
        SecretVerb::Set(set) => set::perform(&set, &folders, &store),
        SecretVerb::List(list) => list::perform(&list, &folders, &store),
        SecretVerb::ShowBinding(show) => list::show(&show, &folders, &store),
        SecretVerb::Rotate(asked) => rotate(&asked, &store),
        SecretVerb::Rm(asked) => remove(&asked, &store),
        SecretVerb::Export(export) => backup::export(&export, &store),
        SecretVerb::Restore(restore) => backup::restore(&restore, &store),
        SecretVerb::Seal(seal) => seal::perform(&seal, &store),
    }
}

fn rotate(asked: &Asked, store: &Store) -> anyhow::Result<ExitCode> {
    let (name, user) = (named(&asked.name)?, user::of(&asked.whose)?);
    // Before a value is typed in vain.
    let vault = store.read(&mut AtTerminal::default()).map_err(Stop::from)?;
    let missing = match &user {
        Some(user) if !vault.has_for(&name, &user.key) => {
            Some(VaultError::UnknownFor { name: name.clone(), user: user.to_string() })
        }
        None if !vault.entries().contains_key(&name) => Some(VaultError::Unknown(name.clone())),
        _ => None,
    };
    drop(vault);
    if let Some(missing) = missing {
        return Err(Stop::from(missing).into());
    }
    let value = value(&name)?;
    let change = |vault: &mut Vault| match &user {
        Some(user) => vault.rotate_for(&name, user, value, now()),
        None => vault.rotate(&name, value, now()),
    };
    store.change(&mut AtTerminal::default(), change).map_err(Stop::from)?;
    let whose = user::whose(user.as_ref());
    terminal::say(&format!("{name}{whose} has another value; running cells use it from the next request on"));
    Ok(ExitCode::SUCCESS)
}

fn remove(asked: &Asked, store: &Store) -> anyhow::Result<ExitCode> {
    let (name, user) = (named(&asked.name)?, user::of(&asked.whose)?);
    let change = |vault: &mut Vault| match &user {
        Some(user) => vault.remove_for(&name, user).map(drop),
        None => vault.remove(&name).map(drop),
    };
    store.change(&mut AtTerminal::default(), change).map_err(Stop::from)?;
    let whose = user::whose(user.as_ref());
    terminal::say(&format!("{name}{whose} is out of the vault, and running cells lose it"));
    terminal::say("help: the version before still holds it until the next change");
    Ok(ExitCode::SUCCESS)
}

fn named(text: &str) -> anyhow::Result<SecretName> {
    Ok(SecretName::new(text).map_err(|error| Stop::new(USAGE, error.to_string(), ""))?)
}

/// The value: asked for at a terminal without showing it, else read from stdin. Never an argument: every process of this
/// machine can read those.
fn value(name: &SecretName) -> anyhow::Result<Plaintext> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let typed = hidden::ask_hidden(&format!("value of {name}"));
        return Ok(typed.map_err(|error| not_asked(&error))?);
    }
    // Not through the buffer of the standard library, which would keep a copy.
    let mut file = File::from(stdin.as_fd().try_clone_to_owned()?);
    match Plaintext::read(&mut file, MAX_VALUE + 2) {
        Ok(value) => Ok(without_line_end(value)),
        Err(error) => {
            Err(Stop::new(USAGE, format!("reading the value from stdin failed: {error}"), "").into())
        }
    }
}

fn not_asked(error: &AskError) -> Stop {
    Stop::new(FAILURE, error.to_string(), error.hint())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
