//! The broker: the process that alone has the vault's key. It gives one supervisor the secrets of its cell, and tells it
//! of changes until the supervisor has gone.
//!
//! Deliberately absent: the network, and whatever a tool or a host says: nothing untrusted is read here.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use model::{
    config::{DeclaredSecret, SecretSource},
    secret::{Binding, SecretName},
};

use crate::{
    plaintext::Plaintext,
    process,
    source::{self, SourceError},
    vault::{Opener, Store, UserKey, Vault, VaultError},
    wire,
};

mod confine;
mod watch;

pub use confine::{ConfineError, Confinement};

/// What a broker is started for.
#[derive(Debug)]
pub struct Order {
    /// The vault.
    pub store: Store,
    /// The secrets of the operator's file.
    pub declared: BTreeMap<SecretName, DeclaredSecret>,
    /// The secrets that the cell uses.
    pub names: Vec<SecretName>,
    /// Those among them that are a user's own, where the cell is a user's.
    pub personal: Option<Personal>,
}

/// The secrets that a cell has from its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Personal {
    /// Whose cell it is.
    pub user: UserKey,
    /// For these there is no other value than the user's own.
    pub names: BTreeSet<SecretName>,
}

/// A broker that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// It could not close itself to others.
    #[error("closing this process to others failed: {0}")]
    Process(#[source] io::Error),
    /// The supervisor cannot be reached.
    #[error("speaking to the supervisor failed: {0}")]
    Socket(#[source] io::Error),
}

/// Why nothing is given.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the secret `{0}` is in the vault and in `[secrets]` of the operator's file")]
    Twice(SecretName),
    #[error("there is no secret `{0}`")]
    Missing(SecretName),
    #[error("there is no value of the secret `{0}` for this user")]
    MissingForUser(SecretName),
    #[error(transparent)]
    Confine(#[from] ConfineError),
}

impl Refusal {
    fn hint(&self) -> String {
        match self {
            Self::Vault(error) => error.hint(),
            Self::Source(error) => error.hint(),
            Self::Twice(name) => format!("`fumehood secret rm {name}`, or take it out of that file"),
            Self::Missing(name) => format!("`fumehood secret set {name} --host HOST` keeps it in the vault"),
            Self::MissingForUser(name) => {
                format!("`fumehood secret set {name} --user 'ISSUER|SUBJECT' --host HOST` keeps one")
            }
            Self::Confine(error) => error.hint().to_owned(),
        }
    }
}

/// What a supervisor has been given of one secret.
struct Held {
    binding: Binding,
    value: Plaintext,
}

/// Serves the supervisor at the other end of `socket` until that is closed. What keeps it from giving the secrets is told
/// to the supervisor.
pub fn serve(order: &Order, socket: OwnedFd, opener: &mut dyn Opener) -> Result<(), BrokerError> {
    process::close_to_others().map_err(BrokerError::Process)?;
    rustix::thread::set_name(c"fumehood-vault").ok();
    let mut socket = UnixStream::from(socket);
    let (mut watch, held) = match begin(order, opener) {
        Ok(begun) => begun,
        Err(refusal) => {
            let is_missing = matches!(refusal, Refusal::MissingForUser(_));
            return wire::refuse(&mut socket, is_missing, &refusal.to_string(), &refusal.hint())
                .map_err(BrokerError::Socket);
        }
    };
    let served = held
        .iter()
        .try_for_each(|(name, held)| wire::give(&mut socket, name, &held.binding, &held.value))
        .and_then(|()| wire::complete(&mut socket))
        .and_then(|()| watch.run(&mut socket, held));
    match served {
        // It has gone, which is how it ends.
        Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
            Ok(())
        }
        other => other.map_err(BrokerError::Socket),
    }
}

/// Opens the vault, asks every source, then confines this process.
fn begin(
    order: &Order,
    opener: &mut dyn Opener,
) -> Result<(watch::Watch, BTreeMap<SecretName, Held>), Refusal> {
    let personal =
        |name: &SecretName| order.personal.as_ref().filter(|personal| personal.names.contains(name));
    let in_vault =
        order.names.iter().any(|name| personal(name).is_some() || !order.declared.contains_key(name));
    let stamp = order.store.stamp()?;
    // Names of the operator's file alone need no vault, and ask no passphrase.
    let (unlocked, mut vault) = if in_vault {
        order.store.unlock(opener).map(|(unlocked, vault)| (Some(unlocked), vault))?
    } else {
        (None, Vault::default())
    };
    let mut held = BTreeMap::new();
    let mut watched = watch::Watch::new(&order.store, unlocked, stamp);
    for name in &order.names {
        if let Some(Personal { user, .. }) = personal(name) {
            let entry = vault.take_for(name, user).ok_or_else(|| Refusal::MissingForUser(name.clone()))?;
            watched.add_sealed(name, Some(user));
            held.insert(name.clone(), Held { binding: entry.binding, value: entry.value });
            continue;
        }
        let entry = vault.remove(name).ok();
        let one = match (order.declared.get(name), entry) {
            (Some(_), Some(_)) => return Err(Refusal::Twice(name.clone())),
            (None, None) => return Err(Refusal::Missing(name.clone())),
            (None, Some(entry)) => {
                watched.add_sealed(name, None);
                Held { binding: entry.binding, value: entry.value }
            }
            (Some(declared), None) => {
                if let SecretSource::File(path) = &declared.source {
                    watched.add_file(name, path, &declared.binding);
                }
                let value = source::fetch(name, &declared.source, &declared.binding)?;
                Held { binding: declared.binding.clone(), value }
            }
        };
        held.insert(name.clone(), one);
    }
    drop(vault);
    // Away from the terminal: its Ctrl-C is for whoever runs the cell. A passphrase has been asked for by now.
    rustix::process::setsid().ok();
    Confinement::of(&order.store, watched.files()).enter()?;
    Ok((watched, held))
}

#[cfg(test)]
mod tests;
