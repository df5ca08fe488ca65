//! The finishing program is run by this machine's own Python, on trees as uv leaves them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use super::*;

/// A tree as an installer leaves it, with scripts for an interpreter at `python`.
fn tree(python: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, content: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let info = "My_Tool-1.0.dist-info";
    put(".lock", "");
    put(".fumehood/sitecustomize.py", "raise SystemExit('theirs')\n");
    put("__pycache__/tool.cpython-311.pyc", "poison");
    put("asyncio/__init__.py", "raise SystemExit('not the standard one')\n");
    put("evil.pth", "import sys; sys.exit('a line of a .pth file')\n");
    put("sitecustomize.py", "raise SystemExit('also theirs')\n");
    put(
        "tool.py",
        "import asyncio, sys\ndef main():\n    print(asyncio.__file__, *sys.path, sep='\\n')\n    return 0\n",
    );
    put("bin/python3", "#!/bin/sh\necho shadow\n");
    put("bin/my-tool", &format!("#!{python}\n# -*- coding: utf-8 -*-\nfrom tool import main\nmain()\n"));
    put("bin/plain", &format!("#!{python} -E\nprint(1)\n"));
    put("bin/long", &format!("#!/bin/sh\n'''exec' '{python}' \"$0\" \"$@\"\n' '''\nprint(1)\n"));
    put("bin/shell", "#!/bin/sh\n");
    put(&format!("{info}/METADATA"), "Metadata-Version: 2.1\nName: My.Tool\nVersion: 1.0\n\nVersion: 9\n");
    put(&format!("{info}/WHEEL"), "Wheel-Version: 1.0\nTag: py2-none-any\nTag: py3-none-any\n");
    put(
        &format!("{info}/entry_points.txt"),
        "[console_scripts]\nmy-tool = tool:main\n../../out = tool:main\nodd = os; evil:main\n",
    );
    let record = format!(
        "tool.py,sha256=x,1\nbin/shell,,\nbin/plain,sha256=old,1\nbin/python3,,\n../../etc/passwd,,\n\
         __pycache__/tool.cpython-311.pyc,,\n{info}/RECORD,,\nbin/long,,\nbin/my-tool,,\n"
    );
    put(&format!("{info}/RECORD"), &record);
    folder
}

fn finish(tree: &Path) -> Report {
    let done = Command::new("python3")
        .args(["-I", "-S", "-c", FINISH])
        .arg(tree)
        .args(["/package", "my_tool"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    Report::parse(&done.stdout).unwrap()
}

/// Every file with its content, but what is made here.
fn files_of(tree: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![tree.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(tree).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if !name.contains("__pycache__") && !name.starts_with(".fumehood/") {
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_tree_is_the_same_whatever_the_interpreter_is_called_and_says_what_it_has() {
    let (one, other) = (tree("/opt/a/bin/python"), tree("/home/me/.local/share/python/bin/python3.11"));
    let report = finish(one.path());
    finish(other.path());
    let files = files_of(one.path());
    assert_eq!(files, files_of(other.path()));
    let own = report.distribution("my-tool").unwrap();
    assert_eq!((own.name.as_str(), own.version.as_str()), ("My.Tool", "1.0"));
    assert_eq!(own.tags, ["py2-none-any", "py3-none-any"]);
    assert_eq!(own.programs, ["long", "my-tool", "plain", "shell"]);
    let python = files["bin/my-tool"].lines().next().unwrap().to_owned();
    assert!(python.starts_with("#!/usr/bin/env python3."), "{python}");
    for script in ["plain", "long"] {
        assert_eq!(files[&format!("bin/{script}")], format!("{python}\nprint(1)\n"));
    }
    assert_eq!(files["bin/shell"], "#!/bin/sh\n");
    let record = &files["My_Tool-1.0.dist-info/RECORD"];
    assert!(
        !record.contains("pycache") && !record.contains("python3") && !record.contains("old"),
        "{record}"
    );
    assert!(record.contains("bin/plain,sha256="), "{record}");
    for gone in [".lock", "bin/python3", "out"] {
        assert!(!files.contains_key(gone), "{gone}");
    }
    for told in ["`.fumehood`", "`__pycache__`", "`bin/python3`", "`evil.pth`", "`sitecustomize.py`"] {
        assert!(report.notes.iter().any(|note| note.starts_with(told)), "{told}: {:?}", report.notes);
    }
    let poisoned = one.path().join("__pycache__");
    let compiled = fs::read_dir(poisoned).unwrap().next().unwrap().unwrap().path();
    let compiled = fs::read(compiled).unwrap();
    // Of the source as it is, for good (PEP 552: the lowest bit says hash, the next that it is to be checked).
    assert_eq!(compiled[4], 1);
    assert!(
        Path::new(&report.interpreter).is_file() && report.platform.contains("-cpython-3."),
        "{report:?}"
    );
}

fn run(tree: &Path, variables: &[(&str, String)]) -> Output {
    Command::new("python3")
        .arg(tree.join("bin/my-tool"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap()
}

#[test]
fn python_finds_the_packages_after_its_own_and_runs_nothing_at_its_start() {
    let tree = tree("/usr/bin/python3");
    finish(tree.path());
    let site = tree.path().join(SITE).display().to_string();
    let ran = run(tree.path(), &[("PYTHONPATH", site), ("PYTHONNOUSERSITE", "1".to_owned())]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{ran:?}");
    let mut lines = said.lines();
    assert!(lines.next().unwrap().ends_with("/asyncio/__init__.py"));
    let path: Vec<&str> = lines.collect();
    assert_eq!(path.last().copied(), tree.path().to_str(), "{said}");
    assert!(!path.iter().any(|entry| entry.ends_with("-packages") || entry.contains(SITE)), "{said}");
    // The same start with the tree itself on the path, as `pip install --target` is used, runs what is in it.
    let plain = run(tree.path(), &[("PYTHONPATH", tree.path().display().to_string())]);
    assert!(!plain.status.success(), "{plain:?}");
    assert!(String::from_utf8_lossy(&plain.stderr).contains("theirs"), "{plain:?}");
}
