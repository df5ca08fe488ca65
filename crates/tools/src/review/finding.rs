//! What was found.

use std::{fmt, ops::Range};

use serde::{Serialize, Serializer};

use super::place::Place;

/// Something in a text that a reviewer should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's code, which stays the same between versions: `asks-secrecy`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// Which bytes of the text, as it was received.
    pub range: Range<usize>,
    /// What it is about, as a sentence without a full stop; nothing in it is hidden.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; honest servers have it too.
    Note,
    /// Rare in honest servers: read it with care.
    Warning,
    /// An attack, or made like one.
    Danger,
}

impl Severity {
    /// In lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Danger => "danger",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
