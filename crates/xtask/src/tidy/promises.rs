//! `SPECIFICATION.md` promises nothing without naming the test that proves it.
//!
//! A promise is a list entry `- **P-NAME** sentence. Test: `path/to/file.rs::test_name`, …`, on as many lines as it
//! needs; the next entry or a blank line ends it.

use std::collections::BTreeSet;

use super::{Fault, tokens};
use crate::tree::Tree;

const PAGE: &str = "SPECIFICATION.md";

/// Promises without a test, with a test that is not there, or with a name that was given before.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let Some(page) = tree.text(PAGE) else { return vec![Fault::of_file(PAGE, "the page is missing")] };
    let promises = read(page);
    if promises.is_empty() {
        return vec![Fault::of_file(PAGE, "no promise was found: is the page still in its format?")];
    }
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for promise in &promises {
        let mut fault =
            |text: String| faults.push(Fault::at(PAGE, promise.line, format!("{}: {text}", promise.name)));
        if !seen.insert(promise.name) {
            fault("the name is used twice".into());
        }
        if promise.tests.is_empty() {
            fault("names no test".into());
        }
        for test in &promise.tests {
            if let Some(why) = missing(tree, test) {
                fault(why);
            }
        }
    }
    faults
}

struct Promise<'a> {
    name: &'a str,
    line: usize,
    tests: Vec<&'a str>,
}

fn read(page: &str) -> Vec<Promise<'_>> {
    let mut promises: Vec<Promise<'_>> = Vec::new();
    let mut open = false;
    for (index, line) in page.lines().enumerate() {
        if let Some(rest) = line.strip_prefix("- **P-") {
            let name = rest.split("**").next().unwrap_or(rest);
            promises.push(Promise { name, line: index + 1, tests: Vec::new() });
            open = true;
        } else if line.trim().is_empty() || line.starts_with("- ") || line.starts_with('#') {
            open = false;
        }
        if let Some(promise) = promises.last_mut().filter(|_| open) {
            // Every second piece between backticks is code.
            promise.tests.extend(line.split('`').skip(1).step_by(2).filter(|code| code.contains(".rs::")));
        }
    }
    promises
}

fn missing(tree: &Tree, test: &str) -> Option<String> {
    let (path, name) = test.split_once("::")?;
    let Some(text) = tree.text(path) else { return Some(format!("`{path}` is not there")) };
    let name = name.rsplit("::").next().unwrap_or(name);
    let mut found = false;
    tokens::each_word(tokens::of(text), &mut |word, _| found |= word == name);
    (!found).then(|| format!("`{path}` holds no `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(page: &str) -> Vec<String> {
        let tree =
            Tree::of(&[(PAGE, page), ("a.rs", "// gone_test\n#[test]\nfn a_test() {}\ncase!(made_test);")]);
        faults(&tree).into_iter().map(|fault| fault.text).collect()
    }

    #[test]
    fn a_promise_with_its_tests_is_sound() {
        let page = "- **P-A** One `thing`. Test: `a.rs::a_test`,\n  `a.rs::family::made_test`.\n\n`a.rs::gone_test`\n";
        assert_eq!(told(page), Vec::<String>::new());
    }

    #[test]
    fn a_promise_without_its_test_is_found() {
        let page = "- **P-A** No test.\n- **P-B** Gone. Test: `a.rs::gone_test`.\n- **P-B** Twice. Test: `b.rs::x`.\n";
        assert_eq!(
            told(page),
            [
                "A: names no test",
                "B: `a.rs` holds no `gone_test`",
                "B: the name is used twice",
                "B: `b.rs` is not there"
            ]
        );
    }

    #[test]
    fn a_page_without_promises_is_not_taken_for_a_sound_one() {
        assert_eq!(told("P-A in another format").len(), 1);
    }
}
