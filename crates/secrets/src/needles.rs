//! What recognises values in what others say: made where the values are, given to whoever looks for them.

use std::collections::BTreeMap;

use model::{
    config::DeclaredSecret,
    needle::{Needle, NeedleKey},
    secret::SecretName,
};
use serde::{Deserialize, Serialize};

use crate::{
    plaintext::Plaintext,
    source,
    value::MIN_SUBSTITUTED,
    vault::{Opener, Store, VaultError},
};

/// Needles of everything there is, and how they were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// With which all of them were made.
    pub key: NeedleKey,
    /// Each with the name of its secret. A secret that each user has may have many.
    pub needles: Vec<(SecretName, Needle)>,
    /// Secrets of the operator's file whose value could not be had, and why.
    pub left_out: Vec<(SecretName, String)>,
}

/// Makes a needle of every value in the vault and of every secret in the operator's file. Values below
/// [`MIN_SUBSTITUTED`] bytes are left out: they stand in texts by chance, and whoever has a needle of one could try all.
///
/// # Errors
/// If the vault does not open. A source that gives no value is left out, and told.
pub fn make(
    store: &Store,
    declared: &BTreeMap<SecretName, DeclaredSecret>,
    key: NeedleKey,
    opener: &mut dyn Opener,
) -> Result<Made, VaultError> {
    let vault = store.read(opener)?;
    let mut made = Made { key, needles: Vec::new(), left_out: Vec::new() };
    for (name, entry) in vault.entries() {
        made.add(name, &entry.value);
    }
    for (name, kept) in vault.users() {
        made.add(name, &kept.entry.value);
    }
    drop(vault);
    for (name, secret) in declared {
        match source::fetch(name, &secret.source, &secret.binding) {
            Ok(value) => made.add(name, &value),
            Err(error) => made.left_out.push((name.clone(), error.to_string())),
        }
    }
    Ok(made)
}

impl Made {
    fn add(&mut self, name: &SecretName, value: &Plaintext) {
        if value.len() >= MIN_SUBSTITUTED
            && let Some(needle) = Needle::of(value.expose(), &self.key)
        {
            self.needles.push((name.clone(), needle));
        }
    }
}

#[cfg(test)]
mod tests;
