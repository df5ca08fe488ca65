//! Size and names of files, and words that say something is not done.

use super::Fault;
use crate::tree::{Tree, has_extension};

/// Longest file, in lines.
const LONGEST: usize = 450;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "misc", "mod", "shared", "util", "utils"];

/// Source files over [`LONGEST`]. Tables of tests (`tests.rs`) and files marked as generated may be longer.
pub fn too_long(tree: &Tree) -> Vec<Fault> {
    tree.texts()
        .filter(|(path, text)| {
            let source = ["rs", "mjs", "py", "sh"].iter().any(|extension| has_extension(path, extension));
            source
                && !path.ends_with("/tests.rs")
                && !text.lines().take(3).any(|line| line.contains("@generated"))
        })
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            (lines > LONGEST)
                .then(|| Fault::of_file(path, format!("{lines} lines, at most {LONGEST}: is it one thing?")))
        })
        .collect()
}

/// Rust files and folders of Rust files whose name says nothing.
pub fn names(tree: &Tree) -> Vec<Fault> {
    tree.rust()
        .filter_map(|(path, _)| {
            let empty = path.trim_end_matches(".rs").split('/').find(|part| EMPTY_NAMES.contains(part))?;
            Some(Fault::of_file(path, format!("`{empty}` does not say what is inside")))
        })
        .collect()
}

/// Lines that say something is not done.
pub fn unfinished(tree: &Tree) -> Vec<Fault> {
    // Written in two pieces, so that this file does not break its own rule.
    let words = [("TO", "DO"), ("FIX", "ME"), ("XX", "X")].map(|(a, b)| format!("{a}{b}"));
    let phrases = [("to", "do!("), ("unimple", "mented!("), ("for ", "now"), ("being ", "written")]
        .map(|(a, b)| format!("{a}{b}"));
    let mut faults = Vec::new();
    for (path, text) in
        tree.texts().filter(|(path, _)| !matches!(*path, "LICENSE" | "Cargo.lock") && !is_lock(path))
    {
        for (index, line) in text.lines().enumerate() {
            let mut parts = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let word = parts.find(|part| words.iter().any(|word| word == part));
            let phrase = phrases.iter().map(String::as_str).find(|phrase| line.contains(phrase));
            if let Some(found) = word.or(phrase) {
                faults.push(Fault::at(path, index + 1, format!("`{found}` says something is not done")));
            }
        }
    }
    faults
}

fn is_lock(path: &str) -> bool {
    path.ends_with("package-lock.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found_and_a_long_table_of_tests_is_not() {
        let long = "fn f() {}\n".repeat(LONGEST + 1);
        let right = "fn f() {}\n".repeat(LONGEST);
        let generated = format!("// @generated\n{long}");
        let tree = Tree::of(&[
            ("a.rs", &long),
            ("b.rs", &right),
            ("c/tests.rs", &long),
            ("d.rs", &generated),
            ("e.md", &long),
        ]);
        assert_eq!(too_long(&tree).iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["a.rs"]);
    }

    #[test]
    fn empty_names_are_found() {
        let tree = Tree::of(&[
            ("a/utils.rs", ""),
            ("a/mod.rs", ""),
            ("misc/b.rs", ""),
            ("a/model.rs", ""),
            ("a/modes.rs", ""),
        ]);
        assert_eq!(names(&tree).len(), 3);
    }

    #[test]
    fn unfinished_words_are_found_as_words() {
        let word = ["// TO", "DO: x"].concat();
        let call = ["fn f() { to", "do!() }"].concat();
        let template = "mktemp fumehood.XXXXXX\n";
        let tree = Tree::of(&[
            ("a.rs", &word),
            ("b.rs", &call),
            ("c.sh", template),
            ("d.rs", "// METHODOLOGY todo"),
        ]);
        assert_eq!(unfinished(&tree).iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["a.rs", "b.rs"]);
    }
}
