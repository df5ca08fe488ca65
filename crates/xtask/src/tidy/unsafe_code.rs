//! `unsafe` only in files called `sys.rs`.

use super::{Fault, tokens};
use crate::tree::Tree;

/// Files elsewhere that hold it. The lint of the same name can be switched off in a file; this cannot.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| !is_sys(path)) {
        tokens::each_word(tokens::of(text), &mut |word, line| {
            if word == "unsafe" {
                faults.push(Fault::at(path, line, "`unsafe` belongs into a file called `sys.rs`"));
            }
        });
    }
    faults
}

fn is_sys(path: &str) -> bool {
    path.rsplit('/').next() == Some("sys.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_outside_sys_is_found_and_words_in_comments_are_not() {
        let code = "// unsafe\n/// unsafe\nfn f() { let s = \"unsafe\"; m!(unsafe { g() }); }\n";
        let tree = Tree::of(&[("crates/a/src/sys.rs", code), ("crates/a/src/b.rs", code)]);
        assert_eq!(
            faults(&tree).iter().map(|f| (f.path.as_str(), f.line)).collect::<Vec<_>>(),
            [("crates/a/src/b.rs", 3)]
        );
    }
}
