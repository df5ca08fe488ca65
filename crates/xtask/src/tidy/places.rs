//! No file names a folder of somebody's machine, or the host of a registry.
//!
//! Programs that need a registry ask the registry's client, which knows where its mirror is.

use super::Fault;
use crate::tree::Tree;

/// Folders, counted only where a path begins; each in two pieces, so that this file does not break its own rule.
const FOLDERS: &[(&str, &str)] = &[("/wo", "rk/"), ("/tmp/", "fh"), ("../", "shared")];

/// Root's home is on every machine, and tests have to name it; nothing else has a reason to.
const ROOT_HOME: (&str, &str) = ("/ro", "ot/");

/// Registry hosts, counted anywhere.
const HOSTS: &[(&str, &str)] = &[
    ("registry.", "npmjs"),
    ("pypi", ".org"),
    ("files.", "pythonhosted"),
    ("crates", ".io"),
    ("deb.", "debian"),
    ("proxy.", "golang"),
];

/// Lines that name a place.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let everywhere: Vec<String> = FOLDERS.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let hosts: Vec<String> = HOSTS.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let mut faults = Vec::new();
    for (path, text) in tree.texts() {
        let mut folders = everywhere.clone();
        if !is_test(path) {
            folders.push([ROOT_HOME.0, ROOT_HOME.1].concat());
        }
        for (index, line) in text.lines().enumerate() {
            // Cargo itself writes the name of its public index into every lock file.
            if path == "Cargo.lock" && line.starts_with("source = \"registry+") {
                continue;
            }
            let folder = folders.iter().find(|folder| begins_a_path(line, folder));
            let host = hosts.iter().find(|host| line.contains(host.as_str()));
            if let Some(found) = folder.or(host) {
                faults.push(Fault::at(path, index + 1, format!("`{found}` names a place")));
            }
        }
    }
    faults
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Whether `folder` occurs where a path begins, rather than in the middle of a longer one.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '}' | '/' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_path_and_a_registry_host_are_found() {
        let folder = ["let p = \"/ro", "ot/.cargo\";"].concat();
        let host = ["https://registry.", "npmjs.com/x"].concat();
        let index = ["source = \"registry+https://github.com/rust-lang/crates", ".io-index\""].concat();
        let tree =
            Tree::of(&[("a.rs", &folder), ("b.json", &host), ("Cargo.lock", &index), ("c.lock", &index)]);
        assert_eq!(
            faults(&tree).iter().map(|f| f.path.as_str()).collect::<Vec<_>>(),
            ["a.rs", "b.json", "c.lock"]
        );
    }

    #[test]
    fn the_middle_of_a_longer_path_is_nobodys_machine() {
        let tree = Tree::of(&[("a.rs", &["\"/home/u/wo", "rk/x\" /workspace /rooted /root"].concat())]);
        assert_eq!(faults(&tree), []);
    }
}
