use std::{fs, os::unix::fs::symlink};

use super::*;
use crate::words;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(self, path: &str, content: &str) -> Self {
        let path = self.0.path().join("node_modules").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn start(&self, line: &str) -> Result<Start, StartError> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        start(self.0.path(), &words::read(&words).unwrap())
    }

    fn command(&self, line: &str) -> String {
        self.start(line).unwrap().command.join(" ")
    }
}

#[test]
fn the_program_is_the_one_that_npx_would_take() {
    let tree = Tree::new()
        .with("@a/one/package.json", r#"{"bin": "./dist/index.js"}"#)
        .with("@a/one/dist/index.js", "#!/usr/bin/env node\n")
        .with("two/package.json", r#"{"bin": {"x": "x.js", "two": "two.js"}}"#)
        .with("two/x.js", "#!/usr/bin/env -S node --no-warnings\n")
        .with("two/two.js", "console.log()")
        .with("three/package.json", r#"{"bin": {"x": "x.js", "y": "y.js"}}"#)
        .with("four/package.json", r#"{"name": "four"}"#);
    assert_eq!(
        tree.command("npx -y @a/one@1 --port 1"),
        "node /package/node_modules/@a/one/dist/index.js --port 1"
    );
    assert_eq!(tree.command("npx two"), "node /package/node_modules/two/two.js");
    assert_eq!(
        tree.command("npx -p @a/one -p two x y z"),
        "node --no-warnings /package/node_modules/two/x.js y z"
    );
    let no = |line| tree.start(line).unwrap_err();
    assert!(matches!(no("npx three"), StartError::Ambiguous { has, .. } if has == ["x", "y"]));
    assert!(no("npx three").hint().contains("`fumehood add NAME -- npx -p three x|y`"));
    assert!(matches!(no("npx four"), StartError::NoProgram { has, .. } if has.is_empty()));
    assert!(matches!(no("npx -p two other"), StartError::NoProgram { wanted, .. } if wanted == "other"));
    assert!(matches!(no("npx five"), StartError::NoPackage { .. }));
}

#[test]
fn what_runs_a_program_stands_in_its_first_line() {
    let tree = Tree::new().with("x/package.json", r#"{"bin": "run"}"#);
    let told = |tree: Tree, content: &str| {
        let tree = tree.with("x/run", content);
        let told = tree.start("npx x").map(|start| start.command.join(" "));
        (tree, told)
    };
    let mut tree = tree;
    for (content, expected) in [
        ("#!/usr/bin/env node\r\n", Some("node /package/node_modules/x/run")),
        (
            "#! /opt/node/bin/node --max-old-space-size=99\n",
            Some("node --max-old-space-size=99 /package/node_modules/x/run"),
        ),
        ("#!/bin/sh\n", Some("sh /package/node_modules/x/run")),
        ("\x7fELF", Some("/package/node_modules/x/run")),
        ("#!/usr/bin/env\n", None),
        ("#!/usr/bin/env PATH=/tmp node\n", None),
        ("#!\n", None),
        ("console.log()", None),
        ("", None),
    ] {
        let (again, found) = told(tree, content);
        tree = again;
        assert_eq!(found.as_deref().ok(), expected, "{content}");
        assert!(expected.is_some() || matches!(found, Err(StartError::Unrunnable { .. })), "{content}");
    }
}

#[test]
fn a_program_outside_of_its_package_is_not_started() {
    for path in ["../other/run.js", "/bin/sh", "a/../../other/run.js", "./../other/run.js", ".."] {
        let tree = Tree::new()
            .with("x/package.json", &format!("{{\"bin\": \"{path}\"}}"))
            .with("other/run.js", "#!/usr/bin/env node\n")
            .with("x/a/b", "");
        assert!(matches!(tree.start("npx x"), Err(StartError::Outside { .. })), "{path}");
    }
    let tree = Tree::new()
        .with("x/package.json", r#"{"bin": "run.js"}"#)
        .with("other/run.js", "#!/usr/bin/env node\n");
    symlink("../other/run.js", tree.0.path().join("node_modules/x/run.js")).unwrap();
    assert!(matches!(tree.start("npx x"), Err(StartError::Outside { .. })));
    let gone = Tree::new().with("x/package.json", r#"{"bin": "run.js"}"#);
    assert!(matches!(gone.start("npx x"), Err(StartError::Unrunnable { .. })));
    let inside =
        tree.with("y/package.json", r#"{"bin": "link.js"}"#).with("y/real.js", "#!/usr/bin/env node\n");
    symlink("real.js", inside.0.path().join("node_modules/y/link.js")).unwrap();
    assert!(inside.start("npx y").is_ok(), "the control: a link of the package to a file of the package");
}
