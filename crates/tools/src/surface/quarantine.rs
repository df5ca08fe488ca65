//! Entries that a surface holds back, and why.

use std::fmt;

use model::digest::Digest;
use serde_json::Value;

use crate::json;

use super::{Kind, MAX_DEPTH, MAX_ENTRY, MAX_NAME, MAX_TEXT, MAX_URI};

/// An entry that is not offered. It stays in the fingerprint by its digest, so that a change of it is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// Of which list.
    pub kind: Kind,
    /// Its name as received, at most the first 128 characters; empty where it has none.
    pub name: String,
    /// Why.
    pub reason: Reason,
    /// Of its canonical JSON.
    pub digest: Digest,
}

/// Why an entry is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No name, an empty or overlong one, or one with control characters.
    Name,
    /// A text longer than [`MAX_TEXT`].
    Text,
    /// All of it bigger than [`MAX_ENTRY`].
    Size,
    /// Nested deeper than [`MAX_DEPTH`].
    Depth,
    /// `inputSchema` missing, not for an object, or no JSON Schema.
    InputSchema,
    /// `outputSchema` not for an object, or no JSON Schema.
    OutputSchema,
    /// A schema refers to a document elsewhere.
    RemoteReference,
}

impl Reason {
    const ALL: [Self; 7] = [
        Self::Name,
        Self::Text,
        Self::Size,
        Self::Depth,
        Self::InputSchema,
        Self::OutputSchema,
        Self::RemoteReference,
    ];

    /// In the stored form: never changes its meaning.
    pub fn code(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Text => "text",
            Self::Size => "size",
            Self::Depth => "depth",
            Self::InputSchema => "input-schema",
            Self::OutputSchema => "output-schema",
            Self::RemoteReference => "remote-reference",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => write!(
                f,
                "its name is missing, empty, longer than {MAX_NAME} characters (a URI: {MAX_URI}), or has control characters"
            ),
            Self::Text => write!(f, "one of its texts is longer than {} KiB", MAX_TEXT >> 10),
            Self::Size => write!(f, "it is bigger than {} KiB", MAX_ENTRY >> 10),
            Self::Depth => write!(f, "it is nested deeper than {MAX_DEPTH} levels"),
            Self::InputSchema => f.write_str("its `inputSchema` is no JSON Schema of an object"),
            Self::OutputSchema => f.write_str("its `outputSchema` is no JSON Schema of an object"),
            Self::RemoteReference => f.write_str("a schema of it refers to a document elsewhere"),
        }
    }
}

impl Quarantined {
    pub(super) fn to_value(&self) -> Value {
        let Self { kind, name, reason, digest } = self;
        serde_json::json!({ "kind": kind.as_str(), "name": name, "reason": reason.code(), "digest": digest })
    }

    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let member = |key| value.get(key).and_then(Value::as_str);
        let kind = member("kind")?;
        let reason = member("reason")?;
        Some(Self {
            kind: Kind::ALL.into_iter().find(|known| known.as_str() == kind)?,
            name: member("name").filter(|name| name.chars().nth(MAX_NAME).is_none())?.to_owned(),
            reason: Reason::ALL.into_iter().find(|known| known.code() == reason)?,
            digest: member("digest")?.parse().ok()?,
        })
    }

    /// By kind, name and digest.
    pub(super) fn sort(all: &mut [Self]) {
        all.sort_by(|a, b| {
            let kind = a.kind.cmp(&b.kind);
            kind.then_with(|| json::order(&a.name, &b.name)).then_with(|| a.digest.cmp(&b.digest))
        });
    }
}
