//! Every guard that a test-only build can leave out is left out by some control, and controls name no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::table::{Case, Control};

const FAMILIES: &[&[Case]] = &[
    crate::bombs::CASES,
    crate::core_dumps::CASES,
    crate::fds::CASES,
    crate::host_files::CASES,
    crate::mounts::CASES,
    crate::mounts::DEVICES,
    crate::other_cells::CASES,
    crate::privileges::CASES,
    crate::proc::CASES,
    crate::sockets::CASES,
    crate::syscalls::CASES,
    crate::terminals::CASES,
];

/// Guards of controls that are no table's.
const OTHERS: &[&[&str]] = &[
    crate::bombs::GUARDS,
    crate::mounts::GUARDS,
    crate::other_cells::GUARDS,
    crate::package::GUARDS,
    crate::sockets::GUARDS,
    crate::supervisor::GUARDS,
    KEYS,
];

/// Those whose controls are in the tests of keys.
const KEYS: &[&str] = &["canary", "self-test"];

fn used() -> BTreeSet<String> {
    let cases = FAMILIES.iter().copied().flatten();
    let tables = cases.flat_map(|case| [case.root, case.user]).filter_map(Control::guards);
    let others = OTHERS.iter().copied().flatten().copied();
    tables.chain(others).flat_map(|guards| guards.split(',').map(str::to_owned)).collect()
}

/// Names in the source: `off("name")`, and what is handed to `off(name)` from a table.
fn known() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut names = BTreeSet::new();
    for folder in ["jail/src", "sandbox/src", "cell/src"] {
        gather(&crates.join(folder), &mut names);
    }
    names
}

fn gather(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, names);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            names.extend(strings_after(&text, "guard::off(\"", ""));
            if text.contains("guard::off(name)") {
                // Tables of the name beside what it stands for.
                names.extend(strings_after(&text, "(\"", "-namespace"));
                let quoted = text.split('"').skip(1).step_by(2).map(str::to_owned);
                names.extend(quoted.filter(|name| name.starts_with("rlimit-")));
            }
        }
    }
}

/// Quoted words that follow `before` and end in `end`.
fn strings_after(text: &str, before: &str, end: &str) -> Vec<String> {
    let words = text.split(before).skip(1).filter_map(|rest| rest.split_once('"')).map(|(word, _)| word);
    words
        .filter(|word| word.ends_with(end) && !word.contains(char::is_whitespace))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_guard_has_a_control_and_every_control_a_guard() {
    let (known, used) = (known(), used());
    assert!(known.len() > 20, "only these guards were found in the source: {known:?}");
    let without: Vec<_> = known.iter().filter(|name| !used.contains(*name)).collect();
    assert!(without.is_empty(), "no control leaves these out: {without:?}");
    // Calls and rules of the filter are guards by their names in its table.
    let calls: BTreeSet<String> = jail::seccomp::table::calls()
        .flat_map(|call| match call.verdict {
            jail::seccomp::table::Verdict::Filtered(rule) => vec![call.name(), rule.name],
            _ => vec![call.name()],
        })
        .map(|name| format!("seccomp-{name}"))
        .chain(["seccomp-x32-arch".to_owned()])
        .collect();
    let unknown: Vec<_> =
        used.iter().filter(|name| !known.contains(*name) && !calls.contains(*name)).collect();
    assert!(unknown.is_empty(), "nothing in the source is called {unknown:?}");
}

#[test]
fn labels_are_their_own_within_a_family() {
    for family in FAMILIES {
        let labels: BTreeSet<&str> = family.iter().map(|case| case.label).collect();
        assert_eq!(labels.len(), family.len(), "{labels:?}");
        assert!(family.iter().all(|case| !case.label.contains(['=', ','])), "{labels:?}");
    }
}
