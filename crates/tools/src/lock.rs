//! `fumehood.lock`: what was pinned of each server, in a file made for `git diff` and `git merge`.
//!
//! TOML: lines of comment, `version = 1`, then one table a server by name, keys in a fixed order, each item of a list
//! on a line of its own. There is one way to write a lock, and [`Lock::parse`] refuses every other, so that no byte of
//! it can change without changing what is pinned. That something is pinned does not say that it was accepted.

use std::collections::BTreeMap;
use std::fmt;

use model::digest::Digest;
use model::name::ServerName;
use model::profile::Profile;
use model::tier::Tier;

use crate::fingerprint::Fingerprint;

mod error;
mod merge;
mod read;
mod source;
mod text;
mod value;

pub use error::{LockError, LockFault};
pub use merge::{Merged, merge};

/// The version of the file that is written, and the only one that is read.
pub const VERSION: i64 = 1;
/// Most bytes of a lock file.
pub const MAX_LOCK: usize = 8 << 20;

/// What is pinned, server by server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    servers: BTreeMap<ServerName, Pinned>,
}

/// One server's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Where it comes from: `npx:PKG@VERSION`, `uvx:PKG==VERSION`, `command`, or an `https://` or `http://` URL.
    pub source: String,
    /// The words that are run, as declared; none for a URL.
    pub command: Vec<String>,
    /// Of the root package, as the registry gives it: `sha512-…` (Subresource Integrity) or `sha256:…` of a wheel.
    pub integrity: Option<String>,
    /// Of the file with the whole dependency tree that lies beside the lock.
    pub tree: Option<Digest>,
    /// Of the installed tree, by platform, such as `linux-x64` or `linux-x64-cpython-3.11`.
    pub content: BTreeMap<String, Digest>,
    /// Packages whose install scripts were allowed to run.
    pub scripts: Vec<String>,
    /// As which client the server is asked and used.
    pub client: Profile,
    /// How its lists were read.
    pub lists: Lists,
    /// Of the surface that lies beside the lock.
    pub fingerprint: Fingerprint,
    /// The short form, for show: 16 hexadecimal digits.
    pub short: String,
    /// Where it may connect to, as rules of egress.
    pub hosts: Vec<String>,
    /// Variables that hold placeholders, each with the name of its secret.
    pub secrets: BTreeMap<String, String>,
    /// Of a URL: headers of every request, as `NAME=text with ${VARIABLE}`.
    pub headers: Vec<String>,
    /// What it sees of the host: `PATH` or `PATH:rw`.
    pub mounts: Vec<String>,
    /// How much each tool can do, for those that the declaration names.
    pub tiers: BTreeMap<String, Tier>,
    /// Parameters that come from whoever is acting: `TOOL/PARAMETER`, with where from.
    pub bound: BTreeMap<String, String>,
}

/// How a server's lists were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lists {
    /// Without network and keys.
    #[default]
    Offline,
    /// With its hosts and keys, since it lists nothing without.
    Keys,
}

impl Lists {
    /// As in the lock.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Keys => "keys",
        }
    }
}

impl fmt::Display for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Lock {
    /// Reads a lock file; `shown_name` names it in errors.
    ///
    /// # Errors
    ///
    /// [`LockError`] with the line for anything that [`Lock::to_text`] does not write, comment lines at the top aside:
    /// conflict markers, a byte order mark, carriage returns, another version, unknown or missing keys, values of
    /// another shape, another order or spelling.
    pub fn parse(shown_name: &str, bytes: &[u8]) -> Result<Self, LockError> {
        read::strictly(shown_name, bytes)
    }

    /// Reads a lock file that a person or a tool has laid out anew, such as with tables in another order. To be
    /// written again by [`Lock::to_text`], not to be started from.
    ///
    /// # Errors
    ///
    /// [`LockError`] as [`Lock::parse`], other orders and spellings of the same content aside.
    pub fn parse_any_spelling(shown_name: &str, bytes: &[u8]) -> Result<Self, LockError> {
        read::loosely(shown_name, bytes)
    }

    /// The file's text: the same for the same content, whatever happened before.
    pub fn to_text(&self) -> String {
        format!("{}{}", text::HEAD, text::body(self))
    }

    /// What is pinned of a server.
    pub fn get(&self, name: &ServerName) -> Option<&Pinned> {
        self.servers.get(name)
    }

    /// Pins a server, and gives what was pinned of it before.
    pub fn insert(&mut self, name: ServerName, pinned: Pinned) -> Option<Pinned> {
        self.servers.insert(name, pinned)
    }

    /// Takes a server out.
    pub fn remove(&mut self, name: &ServerName) -> Option<Pinned> {
        self.servers.remove(name)
    }

    /// Every server by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ServerName, &Pinned)> {
        self.servers.iter()
    }
}

impl Pinned {
    /// The digest that an acceptance names: SHA-256 over the line `fumehood.lock/1` and the server's table as it is
    /// written in the file, its header with the name included.
    pub fn digest(&self, name: &ServerName) -> Digest {
        Digest::of(format!("fumehood.lock/{VERSION}\n{}", text::table(name, self)).as_bytes())
    }
}

#[cfg(test)]
mod tests;
