//! The workspace's manifests, read.

use toml::{Table, Value};

use super::Fault;
use crate::tree::Tree;

/// One crate's manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Its file.
    pub path: String,
    /// The package's name.
    pub name: String,
    /// The whole file.
    pub table: Table,
}

impl Manifest {
    /// Dependencies of a kind (`dependencies`, `dev-dependencies`, …), the ones of single targets too.
    pub fn dependencies(&self, kind: &str) -> Vec<(&str, &Value)> {
        let targets = self.table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
        std::iter::once(&self.table)
            .chain(targets.filter_map(Value::as_table))
            .filter_map(|table| table.get(kind)?.as_table())
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
            .collect()
    }
}

/// All manifests below `crates/`, and faults for those that cannot be read.
pub fn read(tree: &Tree) -> (Vec<Manifest>, Vec<Fault>) {
    let mut manifests = Vec::new();
    let mut faults = Vec::new();
    for (path, text) in
        tree.texts().filter(|(path, _)| path.starts_with("crates/") && path.ends_with("/Cargo.toml"))
    {
        match manifest(path, text) {
            Ok(manifest) => manifests.push(manifest),
            Err(why) => faults.push(Fault::of_file(path, why)),
        }
    }
    (manifests, faults)
}

fn manifest(path: &str, text: &str) -> Result<Manifest, String> {
    let table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let name = table.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    let name = name.ok_or("no package name")?.to_owned();
    Ok(Manifest { path: path.to_owned(), name, table })
}
