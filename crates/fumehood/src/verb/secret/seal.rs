//! `fumehood secret seal`: who can open the vault.

use std::process::ExitCode;

use secrets::vault::{Protection, Store, VaultError};

use super::backup::recipients;
use crate::{
    cli::secret::SecretSeal,
    passphrase::AtTerminal,
    stop::{Stop, USAGE},
    terminal,
};

/// Changes what was asked for, then says how it is.
pub(super) fn perform(asked: &SecretSeal, store: &Store) -> anyhow::Result<ExitCode> {
    let mut opener = AtTerminal::default();
    let (added, removed) = (recipients(&asked.recipients)?, recipients(&asked.without)?);
    let way = match (asked.passphrase, asked.key_file) {
        (true, _) => Some(Protection::Passphrase),
        (_, true) => Some(Protection::File),
        _ => None,
    };
    if let Some(way) = way {
        store.protect(way, &mut opener).map_err(Stop::from)?;
    }
    if !added.is_empty() || !removed.is_empty() {
        let change = |vault: &mut secrets::vault::Vault| {
            for recipient in added {
                vault.add_recipient(recipient)?;
            }
            Ok::<_, VaultError>(removed.into_iter().find(|recipient| !vault.remove_recipient(recipient)))
        };
        let unknown = store.change(&mut opener, change).map_err(Stop::from)?;
        if let Some(unknown) = unknown {
            let hint = "`fumehood secret seal` lists the recipients";
            return Err(Stop::new(USAGE, format!("`{unknown}` is not a recipient of the vault"), hint).into());
        }
    }
    tell(store, &mut opener)
}

fn tell(store: &Store, opener: &mut AtTerminal) -> anyhow::Result<ExitCode> {
    let way = match store.protection().map_err(Stop::from)? {
        Some(Protection::File) => "its key is in a file that only you can read",
        Some(Protection::Passphrase) => "its key is locked by a passphrase",
        None => {
            terminal::say("there is no vault");
            terminal::say("help: `fumehood secret set NAME --host HOST` makes one");
            return Ok(ExitCode::SUCCESS);
        }
    };
    terminal::say(&format!("vault `{}`: {way}", store.folder().display()));
    let vault = store.read(opener).map_err(Stop::from)?;
    for recipient in vault.recipients() {
        terminal::print(&format!("{recipient}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
