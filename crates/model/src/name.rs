//! Names that become file names, socket names and log headings.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A server's name: 1 to 64 of `a-z A-Z 0-9 . _ -`, beginning with a letter or digit.
///
/// INVARIANT: safe as a single path component on every file system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

impl ServerName {
    /// Longest accepted name, in bytes.
    pub const MAX_LEN: usize = 64;

    /// Checks and keeps a name.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        let first_ok = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        let rest_ok = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if first_ok && rest_ok && text.len() <= Self::MAX_LEN {
            Ok(Self(text))
        } else {
            Err(NameError { text })
        }
    }

    /// A name for the same thing that belongs to one scope only: the beginning of this name, a dot, and 20 hex digits
    /// of SHA-256 over the scope and the whole name. Who can choose neither the other scope nor 2⁸⁰ tries cannot meet
    /// another scope's name.
    #[must_use]
    pub fn scoped(&self, scope: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(u64::try_from(scope.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(scope);
        hash.update(self.0.as_bytes());
        let digits: String = hash
            .finalize()
            .iter()
            .take(10)
            .flat_map(|byte| [byte >> 4, byte & 15])
            .filter_map(|digit| char::from_digit(u32::from(digit), 16))
            .collect();
        let beginning: String = self.0.chars().take(Self::MAX_LEN - 1 - digits.len()).collect();
        Self(format!("{beginning}.{digits}"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ServerName {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0
    }
}

/// A name that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a server name: use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit"
)]
pub struct NameError {
    text: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_scoped_name_is_always_a_name_and_differs_by_scope(name in "[a-z0-9][a-zA-Z0-9._-]{0,63}", scope: Vec<u8>, other: Vec<u8>) {
            let name = ServerName::new(name).unwrap();
            let scoped = name.scoped(&scope);
            prop_assert_eq!(ServerName::new(scoped.as_str()).unwrap(), scoped.clone());
            prop_assert_eq!(name.scoped(&scope), scoped.clone());
            prop_assert_eq!(name.scoped(&other) == scoped, scope == other);
        }
    }

    #[test]
    fn names_with_the_same_beginning_stay_apart() {
        let (one, two) =
            (ServerName::new("a".repeat(63) + "1").unwrap(), ServerName::new("a".repeat(63) + "2").unwrap());
        assert_ne!(one.scoped(b"/p"), two.scoped(b"/p"));
    }
}
