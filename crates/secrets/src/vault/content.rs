//! What is inside the seal: an index in JSON, then the values one after the other, so that nothing that reads JSON ever
//! copies a value.
//!
//! | bytes | hold |
//! |---|---|
//! | 17 | `fumehood-vault-1\n` |
//! | 4 | length of the index, big-endian |
//! | … | the index: recipients; of each secret, by name, its binding, its times and the length of its value; the same of each value of a user |
//! | … | the values in the order of the names, then those of users, to the end |

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use model::secret::{Binding, SecretName};
use serde::{Deserialize, Serialize};

use super::{
    Entry, MOST_RECIPIENTS, MOST_SECRETS, MOST_USER_VALUES, Recipient, User, UserEntry, Vault, users,
};
use crate::{plaintext::Plaintext, value};

const MAGIC: &[u8; 17] = b"fumehood-vault-1\n";

/// Bytes that are no content of a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ContentError(&'static str);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    recipients: Vec<String>,
    secrets: BTreeMap<SecretName, Described>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    users: Vec<DescribedUser>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedUser {
    name: SecretName,
    user: User,
    secret: Described,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    binding: Binding,
    created: u64,
    rotated: u64,
    length: usize,
}

impl Vault {
    /// Reads what was inside the seal. Nothing of it is taken on trust: it may have been sealed by somebody else.
    pub fn from_content(content: &[u8]) -> Result<Self, ContentError> {
        let rest = content.strip_prefix(MAGIC).ok_or(ContentError("it is not a vault of this version"))?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| SHORT)?;
        let (index, mut values) = rest.split_at_checked(length).ok_or(SHORT)?;
        let index: Index =
            serde_json::from_slice(index).map_err(|_| ContentError("its index cannot be read"))?;
        if index.secrets.len() > MOST_SECRETS
            || index.users.len() > MOST_USER_VALUES
            || index.recipients.len() > MOST_RECIPIENTS
        {
            return Err(ContentError("it holds more than a vault may"));
        }
        let mut vault = Self::default();
        for (name, described) in index.secrets {
            vault.entries.insert(name, described.entry(&mut values)?);
        }
        for DescribedUser { name, user, secret } in index.users {
            users::check(&user).map_err(|_| ContentError("a user is none"))?;
            let entry = secret.entry(&mut values)?;
            let place = (name, user.key.clone());
            if vault.users.insert(place, UserEntry { user, entry }).is_some() {
                return Err(ContentError("a user has two values of one secret"));
            }
        }
        if !values.is_empty() {
            return Err(ContentError("something follows the last value"));
        }
        for text in index.recipients {
            vault.recipients.push(Recipient::parse(&text).map_err(|_| ContentError("a recipient is none"))?);
        }
        Ok(vault)
    }

    /// Writes what goes inside the seal.
    pub(super) fn write_content(&self, to: &mut impl Write) -> io::Result<()> {
        let index = Index {
            recipients: self.recipients.iter().map(ToString::to_string).collect(),
            secrets: self.entries.iter().map(|(name, entry)| (name.clone(), Described::of(entry))).collect(),
            users: self
                .users()
                .map(|(name, UserEntry { user, entry })| DescribedUser {
                    name: name.clone(),
                    user: user.clone(),
                    secret: Described::of(entry),
                })
                .collect(),
        };
        let index = serde_json::to_vec(&index)?;
        let length = u32::try_from(index.len()).map_err(io::Error::other)?;
        to.write_all(MAGIC)?;
        to.write_all(&length.to_be_bytes())?;
        to.write_all(&index)?;
        let of_users = self.users().map(|(_, kept)| &kept.entry);
        self.entries.values().chain(of_users).try_for_each(|entry| to.write_all(entry.value.expose()))
    }
}

impl Described {
    fn of(entry: &Entry) -> Self {
        let Entry { binding, value, created, rotated } = entry;
        Self { binding: binding.clone(), created: *created, rotated: *rotated, length: value.len() }
    }

    /// With its value, which is the next of `values`.
    fn entry(self, values: &mut &[u8]) -> Result<Entry, ContentError> {
        let Self { binding, created, rotated, length } = self;
        let (own, later) = values.split_at_checked(length).ok_or(SHORT)?;
        *values = later;
        if own.len() > value::MAX_VALUE {
            return Err(ContentError("a value is too long"));
        }
        let value = Plaintext::copied(own);
        value::check(&value, &binding).map_err(|_| ContentError("a value does not fit its binding"))?;
        Ok(Entry { binding, value, created, rotated })
    }
}

const SHORT: ContentError = ContentError("it ends early");

#[cfg(test)]
mod tests;
