//! Where secrets lie sealed.
//!
//! A vault is a folder of its owner's alone: `vault.age`, sealed with `age` (age-encryption.org/v1) to the vault's own
//! key and to recipients who can recover it; the version before, `vault.age.previous`; and the key, `key`, or `key.age`
//! where a passphrase locks it. A version replaces the one before as a whole, under a lock, so that no two changes
//! lose each other, and whoever reads needs no lock.

use std::collections::BTreeMap;

use model::secret::{Binding, SecretName};

use crate::{
    plaintext::Plaintext,
    value::{self, ValueError},
};

mod content;
mod error;
mod folder;
mod key;
mod opener;
mod seal;
mod store;
mod users;
mod write;

pub use content::ContentError;
pub use error::VaultError;
pub use key::Protection;
pub use opener::Opener;
pub use seal::{Recipient, RecipientError};
pub(crate) use store::Unlocked;
pub use store::{Seal, Stamp, Store};
pub use users::{MOST_USER_VALUES, User, UserEntry, UserKey, UserKeyError};

/// The most secrets of a vault, those of users apart.
pub const MOST_SECRETS: usize = 256;
/// The most recipients besides the vault's own key.
pub const MOST_RECIPIENTS: usize = 16;

/// What a vault holds, opened.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "it holds values")]
pub struct Vault {
    entries: BTreeMap<SecretName, Entry>,
    users: users::Users,
    recipients: Vec<Recipient>,
}

/// A secret in the vault.
#[expect(missing_debug_implementations, reason = "it holds a value")]
pub struct Entry {
    /// Where the value may be written. Without hosts it can only be exposed.
    pub binding: Binding,
    /// The value.
    pub value: Plaintext,
    /// When it was first set, in seconds since 1970.
    pub created: u64,
    /// When its value was last changed, in seconds since 1970.
    pub rotated: u64,
}

impl Vault {
    /// The secrets by name.
    pub fn entries(&self) -> &BTreeMap<SecretName, Entry> {
        &self.entries
    }

    /// Who can open it besides its own key.
    pub fn recipients(&self) -> &[Recipient] {
        &self.recipients
    }

    /// Keeps a secret, in place of one of that name. `now` is in seconds since 1970.
    pub fn set(
        &mut self,
        name: SecretName,
        binding: Binding,
        value: Plaintext,
        now: u64,
    ) -> Result<(), VaultError> {
        value::check(&value, &binding).map_err(VaultError::Value)?;
        if self.entries.len() >= MOST_SECRETS && !self.entries.contains_key(&name) {
            return Err(VaultError::Full);
        }
        let created = self.entries.get(&name).map_or(now, |before| before.created);
        self.entries.insert(name, Entry { binding, value, created, rotated: now });
        Ok(())
    }

    /// Gives a secret another value under the same binding. `now` is in seconds since 1970.
    pub fn rotate(&mut self, name: &SecretName, value: Plaintext, now: u64) -> Result<(), VaultError> {
        let entry = self.entries.get_mut(name).ok_or_else(|| VaultError::Unknown(name.clone()))?;
        value::check(&value, &entry.binding).map_err(VaultError::Value)?;
        entry.value = value;
        entry.rotated = now;
        Ok(())
    }

    /// Forgets a secret.
    pub fn remove(&mut self, name: &SecretName) -> Result<Entry, VaultError> {
        self.entries.remove(name).ok_or_else(|| VaultError::Unknown(name.clone()))
    }

    /// Lets one more recipient open it from the next version on; whether that is new.
    pub fn add_recipient(&mut self, recipient: Recipient) -> Result<bool, VaultError> {
        if self.recipients.contains(&recipient) {
            return Ok(false);
        }
        if self.recipients.len() >= MOST_RECIPIENTS {
            return Err(VaultError::Recipients);
        }
        self.recipients.push(recipient);
        Ok(true)
    }

    /// Seals the next version for one recipient less; whether there was such a one. What was sealed before stays open to
    /// them.
    pub fn remove_recipient(&mut self, recipient: &Recipient) -> bool {
        let before = self.recipients.len();
        self.recipients.retain(|kept| kept != recipient);
        self.recipients.len() < before
    }
}

impl From<ValueError> for VaultError {
    fn from(error: ValueError) -> Self {
        Self::Value(error)
    }
}
