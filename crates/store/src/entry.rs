//! What is kept: acceptances, trust in projects, pending changes.

use model::{digest::Digest, name::ServerName};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A person's yes to one server as it was pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// The server's name in its lock.
    pub name: ServerName,
    /// The digest of its whole table in the lock.
    pub table: Digest,
    /// The full fingerprint of what a model would read of it.
    pub fingerprint: String,
    /// Where it comes from, as the lock says it.
    pub source: String,
    /// When, as RFC 3339.
    pub accepted_at: String,
    /// In which way.
    pub how: How,
}

/// How a person said yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Asked at a terminal, after the pages were shown.
    #[serde(rename = "terminal")]
    Terminal,
    /// With the full fingerprint given as an argument.
    #[serde(rename = "command line")]
    CommandLine,
}

/// A person's yes to what a project's configuration asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Its folder, for show: what is no UTF-8 in it is replaced.
    pub folder: String,
    /// The digest of the bytes of the folder's path, which is what counts.
    pub place: Digest,
    /// The digest of the configuration that was trusted.
    pub configuration: Digest,
}

/// A surface that was seen, differs from the accepted one, and waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    /// Its full fingerprint.
    pub fingerprint: String,
    /// The surface itself, in the stored form.
    pub surface: serde_json::Value,
    /// When it was seen first, as RFC 3339.
    pub first_seen: String,
    /// When it was seen last, as RFC 3339.
    pub last_seen: String,
}

impl How {
    /// As it is written down.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::CommandLine => "command line",
        }
    }
}

/// A kind of entries: each has a folder, and a file named after the entry's key.
pub(crate) trait Entry: Serialize + DeserializeOwned {
    /// What it is, in a file's first line and in errors.
    const KIND: &'static str;
    /// The folder it lies in.
    const FOLDER: &'static str;
    /// What to do when its file is unusable and was removed.
    const AFTERWARDS: &'static str;

    /// The key that its own content gives it, where it does.
    fn key(&self) -> Option<Digest>;
}

impl Entry for Acceptance {
    const KIND: &'static str = "acceptance";
    const FOLDER: &'static str = "accepted";
    const AFTERWARDS: &'static str = "then `fumehood review` asks anew for the server it was about";

    fn key(&self) -> Option<Digest> {
        Some(self.table)
    }
}

impl Entry for Project {
    const KIND: &'static str = "trusted project";
    const FOLDER: &'static str = "projects";
    const AFTERWARDS: &'static str = "then `fumehood trust` in the project shows again what it asks for";

    fn key(&self) -> Option<Digest> {
        Some(self.place)
    }
}

impl Entry for Pending {
    const KIND: &'static str = "pending change";
    const FOLDER: &'static str = "pending";
    const AFTERWARDS: &'static str = "then the server is compared anew at its next start";

    fn key(&self) -> Option<Digest> {
        None
    }
}
