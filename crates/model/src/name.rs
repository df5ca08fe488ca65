//! Names that become file names, socket names and log headings.

use std::fmt;

use serde::{Deserialize, Serialize};

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
        if first_ok && rest_ok && text.len() <= Self::MAX_LEN { Ok(Self(text)) } else { Err(NameError { text }) }
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
#[error("`{text}` is not a server name: use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit")]
pub struct NameError {
    text: String,
}
