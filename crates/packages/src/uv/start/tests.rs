use std::os::unix::fs::symlink;

use super::*;
use crate::words;

/// A tree as it is finished, with an interpreter that is there.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::create_dir(folder.path().join(SITE)).unwrap();
    fs::write(bin.join("tool-it"), "#!/usr/bin/env python3.11\nprint(1)\n").unwrap();
    fs::write(bin.join("My_Tool"), "#!/usr/bin/env python3.11\n").unwrap();
    fs::write(bin.join("compiled"), b"\x7fELF").unwrap();
    fs::write(bin.join("shell"), "#!/bin/sh\n").unwrap();
    fs::write(bin.join("uvicorn"), "#!/usr/bin/env python3.11\n").unwrap();
    symlink("/etc/passwd", bin.join("link")).unwrap();
    let report = serde_json::json!({
        "interpreter": std::env::current_exe().unwrap(),
        "platform": "linux-x64-cpython-3.11",
        "notes": [],
        "distributions": [
            {"name": "My_Tool", "version": "1.0", "tags": [],
             "programs": ["My_Tool", "compiled", "link", "shell", "tool-it", "gone"]},
            {"name": "uvicorn", "version": "1.0", "tags": [], "programs": ["uvicorn"]},
        ],
    });
    fs::write(folder.path().join(report::FILE), report.to_string()).unwrap();
    folder
}

fn command(tree: &Path, line: &str) -> Result<String, StartError> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let start = start(tree, &words::read(&words).unwrap())?;
    assert_eq!(start.env["PYTHONPATH"], "/package/.fumehood");
    let own = std::env::current_exe().unwrap();
    Ok(start.command.join(" ").replace(own.to_str().unwrap(), "PYTHON"))
}

#[test]
fn the_program_is_the_one_that_uvx_would_run() {
    let tree = tree();
    for (line, expected) in [
        ("uvx My_Tool --port 1", "PYTHON /package/bin/My_Tool --port 1"),
        ("uvx My_Tool@1.0", "PYTHON /package/bin/My_Tool"),
        ("uvx --from my-tool tool-it -v", "PYTHON /package/bin/tool-it -v"),
        ("uvx --from my-tool[x]==1.0 compiled", "/package/bin/compiled"),
        ("uvx --from my.tool shell", "/package/bin/shell"),
        ("uvx --from my-tool uvicorn app", "PYTHON /package/bin/uvicorn app"),
        ("uvx --from my-tool python3 -c 1", "PYTHON -c 1"),
    ] {
        assert_eq!(command(tree.path(), line).as_deref(), Ok(expected), "{line}");
    }
}

#[test]
fn what_cannot_be_started_is_said_with_what_there_is() {
    let tree = tree();
    let error = command(tree.path(), "uvx my-tool").unwrap_err();
    assert!(matches!(error, StartError::Ambiguous { ref has, .. } if has.len() == 6), "{error:?}");
    assert!(error.hint().contains("`fumehood add NAME -- uvx --from my-tool "), "{}", error.hint());
    let error = command(tree.path(), "uvx --from my-tool other").unwrap_err();
    assert!(matches!(error, StartError::NoProgram { ref has, .. } if has.len() == 6), "{error:?}");
    for line in ["uvx --from my-tool link", "uvx --from my-tool gone"] {
        assert!(matches!(command(tree.path(), line), Err(StartError::Outside { .. })), "{line}");
    }
    for line in ["uvx other", "uvx ./x"] {
        assert!(matches!(command(tree.path(), line), Err(StartError::NoPackage { .. })), "{line}");
    }
    assert!(matches!(command(tree.path(), "uvx"), Err(StartError::Unnamed)));
}

#[test]
fn an_interpreter_that_is_gone_is_looked_for_by_its_name() {
    let report = |platform: &str| Report {
        interpreter: "/nowhere/python".to_owned(),
        platform: platform.to_owned(),
        distributions: Vec::new(),
        notes: Vec::new(),
    };
    assert_eq!(interpreter(&report("linux-x64-cpython-3.11")), "python3.11");
    assert_eq!(interpreter(&report("linux-x64-musl-cpython-3.13t")), "python3.13t");
    assert_eq!(interpreter(&report("linux-x64-pypy-3.10")), "pypy3.10");
}
