//! Values that belong to one user each.
//!
//! A user's value is found by the secret's name and the user's key, and by nothing else: there is no value to fall back on.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Bound::{Included, Unbounded},
};

use model::secret::{Binding, SecretName};
use serde::{Deserialize, Serialize};

use super::{Entry, Vault, VaultError};
use crate::{
    plaintext::Plaintext,
    value::{self, ValueError},
};

/// The most values of users in a vault, all secrets together.
pub const MOST_USER_VALUES: usize = 4096;
/// Longest issuer, subject or tenant, in bytes.
const LONGEST_PART: usize = 1024;

/// Which user: 64 lower-case hexadecimal digits, SHA-256 over whatever tells one user from every other. What a user is
/// called is never a part of a path, an argument or an environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserKey(String);

/// A text that is no key of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a user's key has 64 hexadecimal digits")]
pub struct UserKeyError;

/// A user, as somebody who keeps a value for one calls it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// By which it is found.
    pub key: UserKey,
    /// Who vouches for it.
    pub issuer: String,
    /// Its subject there.
    pub subject: String,
    /// Its tenant, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The value of one user.
#[expect(missing_debug_implementations, reason = "it holds a value")]
pub struct UserEntry {
    /// Whose.
    pub user: User,
    /// The value, and where it may be written.
    pub entry: Entry,
}

pub(super) type Users = BTreeMap<(SecretName, UserKey), UserEntry>;

impl UserKey {
    /// Checks a key.
    pub fn new(text: impl Into<String>) -> Result<Self, UserKeyError> {
        let text = text.into();
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 64 && text.bytes().all(is_digit) { Ok(Self(text)) } else { Err(UserKeyError) }
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for UserKey {
    type Error = UserKeyError;
    fn try_from(text: String) -> Result<Self, UserKeyError> {
        Self::new(text)
    }
}

impl From<UserKey> for String {
    fn from(key: UserKey) -> Self {
        key.0
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}|{}", self.issuer, self.subject)?;
        self.tenant.as_ref().map_or(Ok(()), |tenant| write!(f, " of tenant {tenant}"))
    }
}

impl Vault {
    /// The values of users, by secret and user.
    pub fn users(&self) -> impl Iterator<Item = (&SecretName, &UserEntry)> {
        self.users.iter().map(|((name, _), entry)| (name, entry))
    }

    /// The users who have a value of this secret.
    pub fn users_of<'a>(&'a self, name: &'a SecretName) -> impl Iterator<Item = &'a UserEntry> {
        // The smallest key: no digit comes before `0`.
        let first = (name.clone(), UserKey("0".repeat(64)));
        let from_first = self.users.range((Included(first), Unbounded));
        from_first.take_while(move |((of, _), _)| of == name).map(|(_, entry)| entry)
    }

    /// Whether this user has a value of this secret.
    pub fn has_for(&self, name: &SecretName, key: &UserKey) -> bool {
        self.users.contains_key(&(name.clone(), key.clone()))
    }

    /// Keeps a user's value, in place of one of that user. `now` is in seconds since 1970.
    pub fn set_for(
        &mut self,
        name: SecretName,
        user: User,
        binding: Binding,
        value: Plaintext,
        now: u64,
    ) -> Result<(), VaultError> {
        value::check(&value, &binding).map_err(VaultError::Value)?;
        check(&user).map_err(VaultError::Value)?;
        let place = (name, user.key.clone());
        let before = self.users.get(&place).map(|before| before.entry.created);
        if before.is_none() && self.users.len() >= MOST_USER_VALUES {
            return Err(VaultError::FullOfUsers);
        }
        let entry = Entry { binding, value, created: before.unwrap_or(now), rotated: now };
        self.users.insert(place, UserEntry { user, entry });
        Ok(())
    }

    /// Gives a user's secret another value under the same binding. `now` is in seconds since 1970.
    pub fn rotate_for(
        &mut self,
        name: &SecretName,
        user: &User,
        value: Plaintext,
        now: u64,
    ) -> Result<(), VaultError> {
        let unknown = || VaultError::UnknownFor { name: name.clone(), user: user.to_string() };
        let kept = self.users.get_mut(&(name.clone(), user.key.clone())).ok_or_else(unknown)?;
        value::check(&value, &kept.entry.binding).map_err(VaultError::Value)?;
        kept.entry.value = value;
        kept.entry.rotated = now;
        Ok(())
    }

    /// Forgets a user's value.
    pub fn remove_for(&mut self, name: &SecretName, user: &User) -> Result<Entry, VaultError> {
        let unknown = || VaultError::UnknownFor { name: name.clone(), user: user.to_string() };
        self.take_for(name, &user.key).ok_or_else(unknown)
    }

    /// A user's value, out of here.
    pub(crate) fn take_for(&mut self, name: &SecretName, key: &UserKey) -> Option<Entry> {
        self.users.remove(&(name.clone(), key.clone())).map(|kept| kept.entry)
    }
}

/// Whether a user is described within bounds, and in one line.
pub(super) fn check(user: &User) -> Result<(), ValueError> {
    let parts = [Some(&user.issuer), Some(&user.subject), user.tenant.as_ref()];
    let is_good =
        |part: &&String| (1..=LONGEST_PART).contains(&part.len()) && !part.chars().any(char::is_control);
    if parts.iter().flatten().all(is_good) { Ok(()) } else { Err(ValueError::User) }
}

#[cfg(test)]
mod tests;
