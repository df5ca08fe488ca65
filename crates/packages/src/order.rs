//! What is ordered, and what comes of it.

use cell_api::network::OperatorNetwork;
use model::{digest::Digest, name::ServerName};
use serde::{Deserialize, Serialize};

use crate::words::Asked;

/// An order to install.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// What is to be run in the end.
    pub asked: &'a Asked,
    /// For which server; the cells of the installation bear its name.
    pub name: &'a ServerName,
    /// What was pinned; without it versions are chosen now.
    pub pinned: Option<Pin<'a>>,
    /// Packages whose install scripts may run, by name.
    pub scripts: &'a [String],
    /// The operator's part of the network: the cells of the installation have it too.
    pub operator: &'a OperatorNetwork,
    /// The most the operator grants to a persistent folder, in bytes.
    pub most_data: Option<u64>,
}

/// What a lock says about a tree.
#[derive(Debug, Clone, Copy)]
pub struct Pin<'a> {
    /// The tree file: `package-lock.json` or `requirements.txt`.
    pub tree_file: &'a [u8],
    /// Its digest by the lock's table; a file that differs is refused.
    pub tree: Digest,
    /// What the tree's digest was on this platform, where it is known: another outcome is refused.
    pub content: Option<Digest>,
}

/// What is told of an installed tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The exact version of the package that is run.
    pub version: String,
    /// `npx:PKG@VERSION` or `uvx:PKG==VERSION`.
    pub source: String,
    /// What its registry says of that package's file: an SRI, or `sha256:…` of the wheel.
    pub integrity: Option<String>,
    /// The tree file, exactly.
    pub tree_file: String,
    /// How the tree file is called.
    pub tree_name: String,
    /// The digest of the tree.
    pub content: Digest,
    /// For which platform that digest counts, as `linux-x64`.
    pub platform: String,
    /// What its user should know.
    pub notes: Vec<String>,
    /// Packages that have install scripts which did not run.
    pub scripts_not_run: Vec<String>,
    /// Everything that is in the tree, sorted.
    pub dependencies: Vec<Dependency>,
    /// Hosts that the cells of the installation could fetch from, as rules.
    pub registry_hosts: Vec<String>,
}

/// One package of a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// What its registry says of its file.
    pub integrity: Option<String>,
}
