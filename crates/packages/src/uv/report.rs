//! What the finishing of a tree tells: a program of ours said it, over names that wheels chose.

use serde::{Deserialize, Serialize};

/// Where it stays in the tree, beside what Python needs to find the packages. No part of the tree's digest: it names
/// places of this machine.
pub(super) const FILE: &str = ".fumehood/python.json";
/// The folder on `PYTHONPATH` through which a cell's Python finds the packages.
pub(super) const SITE: &str = ".fumehood";
/// The program that makes the tree ready.
pub(super) const FINISH: &str = include_str!("finish.py");

/// A finished tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    /// The interpreter, by its own path.
    pub(super) interpreter: String,
    /// As `linux-x64-cpython-3.11`.
    pub(super) platform: String,
    /// What was installed, sorted by folder.
    pub(super) distributions: Vec<Distribution>,
    /// What its user should know.
    pub(super) notes: Vec<String>,
}

/// One installed wheel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Distribution {
    /// As it calls itself.
    pub(super) name: String,
    /// As it calls it.
    pub(super) version: String,
    /// What it says of the machines it is for: `py3-none-any`.
    pub(super) tags: Vec<String>,
    /// The programs it brought.
    pub(super) programs: Vec<String>,
}

impl Report {
    /// Reads it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }

    /// The distribution of that name.
    pub(super) fn distribution(&self, name: &str) -> Option<&Distribution> {
        let wanted = plain(name);
        self.distributions.iter().find(|one| plain(&one.name) == wanted)
    }
}

/// PEP 503's normal form of a name.
pub(super) fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars() {
        match letter {
            '-' | '_' | '.' if plain.ends_with('-') => {}
            '-' | '_' | '.' => plain.push('-'),
            _ => plain.extend(letter.to_lowercase()),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
