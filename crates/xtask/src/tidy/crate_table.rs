//! The crate table of `ARCHITECTURE.md` and the manifests say the same, and dependencies lead downwards.

use std::collections::{BTreeMap, BTreeSet};

use super::Fault;
use super::manifests::{self, Manifest};
use crate::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";

/// Where the table and the manifests differ, and edges that do not lead to a lower row.
///
/// A table row is `| row | crate | what it is | names |`: the row a number, or `–` for crates that are never shipped,
/// which may name every crate and be named by none; the names in backticks. Dependencies for tests may name any lower
/// row without being listed.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let Some(page) = tree.text(PAGE) else { return vec![Fault::of_file(PAGE, "the page is missing")] };
    let rows = read(page);
    let (manifests, mut faults) = manifests::read(tree);
    let known: BTreeSet<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    for (name, row) in &rows {
        if !known.contains(name) {
            faults.push(Fault::at(PAGE, row.line, format!("there is no crate `{name}`")));
        }
    }
    for manifest in &manifests {
        let name = manifest.name.as_str();
        let Some(row) = rows.get(name) else {
            faults.push(Fault::of_file(PAGE, format!("the table misses the crate `{name}`")));
            continue;
        };
        let real = edges(manifest, &known, &["dependencies", "build-dependencies"]);
        let mut differ = |what: &str, only: Vec<&&str>| {
            for other in only {
                faults.push(Fault::at(PAGE, row.line, format!("`{name}` → `{other}` is only in {what}")));
            }
        };
        differ("the manifest", real.difference(&row.names).collect());
        differ("the table", row.names.difference(&real).collect());
        let for_tests = edges(manifest, &known, &["dev-dependencies"]);
        for other in real.union(&for_tests).filter(|other| !leads_down(row, rows.get(**other))) {
            faults.push(Fault::of_file(
                &manifest.path,
                format!("`{name}` may not name `{other}`, which is no lower row"),
            ));
        }
    }
    faults
}

struct Row<'a> {
    line: usize,
    /// None for a crate that is never shipped.
    height: Option<u32>,
    names: BTreeSet<&'a str>,
}

fn read(page: &str) -> BTreeMap<&str, Row<'_>> {
    let mut rows = BTreeMap::new();
    for (index, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", height, name, _, names, ""] = cells.as_slice() else { continue };
        let height = match (*height, height.parse()) {
            ("–", _) => None,
            (_, Ok(number)) => Some(number),
            _ => continue,
        };
        let Some(name) = code(name).next() else { continue };
        rows.insert(name, Row { line: index + 1, height, names: code(names).collect() });
    }
    rows
}

fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn edges<'a>(manifest: &'a Manifest, known: &BTreeSet<&str>, kinds: &[&str]) -> BTreeSet<&'a str> {
    kinds
        .iter()
        .flat_map(|kind| manifest.dependencies(kind))
        .map(|(name, _)| name)
        .filter(|name| known.contains(name))
        .collect()
}

fn leads_down(from: &Row<'_>, to: Option<&Row<'_>>) -> bool {
    match (from.height, to.and_then(|row| row.height)) {
        (Some(from), Some(to)) => to < from,
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

#[cfg(test)]
mod tests;
