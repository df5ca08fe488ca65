//! What of the host a cell sees besides its runtime.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::name::ServerName;

/// A folder or file of the host, visible inside at the same path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// Absolute host path, and the path inside.
    pub path: PathBuf,
    /// Whether the cell may write below it. Guarded names (`.git`, `.envrc`, …) stay read-only all the same.
    #[serde(default)]
    pub write: bool,
}

/// The persistent folder of a server, mounted at [`Data::INSIDE`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Which folder: cells of the same name share it.
    pub name: ServerName,
    /// Quota in bytes.
    pub size: u64,
}

impl Data {
    /// Where it is mounted.
    pub const INSIDE: &'static str = "/data";
    /// Quota where none is said: 1 GiB.
    pub const DEFAULT_SIZE: u64 = 1 << 30;
}

/// Entries that stay read-only in a writable mount, because some program of the user runs or trusts them.
/// A name ending in `*` stands for every name with that beginning.
pub const GUARDED: &[&str] = &[".git", ".envrc", ".vscode", ".mcp.json", ".claude", "fumehood.*"];

/// Whether a file name is one of [`GUARDED`].
pub fn is_guarded(name: &str) -> bool {
    GUARDED.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *pattern,
    })
}
