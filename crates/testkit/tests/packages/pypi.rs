//! Packages of a Python index that mean harm: each is harmless in a cell or refused, and does its harm where they are
//! installed as usual.

use std::{fs, path::Path};

use serde_json::Value;
use testkit::world::index::{Wheel, source};

use crate::python::{each, probe};

/// A module that does something when it is run, and says so.
const RUNS: &str = "import sys\nsys.ran = getattr(sys, 'ran', []) + ['unasked']\n";
/// What ran without being asked, and where modules are looked for.
const FACTS: &str =
    "import sys\ndef facts():\n    return {'ran': getattr(sys, 'ran', []), 'path': sys.path}\n";

fn ran(facts: &Value) -> bool {
    !facts["ran"].as_array().unwrap().is_empty()
}

#[test]
fn a_source_distribution_is_refused_and_none_of_its_code_is_run() {
    each("a source distribution that runs code", |scene| {
        let canary = scene.world.make_file("home/canary", "precious", 0o600).unwrap();
        let loot = scene.world.make_folder("loot").unwrap().join("stolen");
        let backend = format!("open({loot:?}, 'w').write(open({canary:?}).read())\n");
        scene.index.add(source("sd", "1.0", &backend).unwrap());
        let refused = scene.add("sd==1.0");
        assert_ne!(refused.code, Some(0));
        assert!(refused.stderr.contains("`sd` comes as source only"), "{refused:?}");
        assert!(refused.stderr.contains("help: "), "{refused:?}");
        scene.remove();
        // So is one that another package needs.
        scene.index.add(probe("needs-sd", FACTS).needs("sd").build());
        let refused = scene.add("needs-sd==1.0");
        assert!(
            refused.code != Some(0) && refused.stderr.contains("`sd` comes as source only"),
            "{refused:?}"
        );
        assert!(!loot.exists());
        // Control: as usual, it is built, which runs it. Whether that succeeds is all the same.
        scene.uv_pip(&["install", "--target", scene.world.path("home/sd").to_str().unwrap(), "sd==1.0"]);
        assert_eq!(fs::read_to_string(loot).unwrap(), "precious");
    });
}

#[test]
fn a_pth_file_is_not_run_at_the_start() {
    each("a .pth file", |scene| {
        let wheel = probe("pth", FACTS).file("unasked.py", RUNS).file("pth.pth", "import unasked\n");
        scene.index.add(wheel.build());
        let told = scene.add_good("pth==1.0");
        assert!(
            told.stdout.contains("`pth.pth` would be run at every start of Python; it is not"),
            "{told:?}"
        );
        assert!(!ran(&scene.facts()));
        assert!(ran(&scene.usual("pth")));
    });
}

#[test]
fn bytecode_of_a_wheel_is_not_run() {
    each("poisoned bytecode", |scene| {
        let poison = scene.compiled(RUNS);
        let name = format!("__pycache__/innocent.{}.pyc", scene.tag());
        let facts = format!("import innocent\n{FACTS}");
        scene.index.add(probe("cached", &facts).file("innocent.py", "").file(&name, poison).build());
        let told = scene.add_good("cached==1.0");
        assert!(told.stdout.contains("`__pycache__` came in a wheel and was left out"), "{told:?}");
        assert!(!ran(&scene.facts()));
        assert!(ran(&scene.usual("cached")));
    });
}

#[test]
fn modules_of_the_standard_library_and_of_the_host_are_not_mixed_with_those_of_packages() {
    each("a module that shadows one of the standard library", |scene| {
        let facts = format!("import asyncio\n{FACTS}");
        scene.index.add(Wheel::new("asyncio", "3.4.3").file("asyncio/__init__.py", RUNS).build());
        scene.index.add(probe("careless", &facts).needs("asyncio").build());
        scene.add_good("careless==1.0");
        let facts = scene.facts();
        assert!(!ran(&facts), "{facts}");
        let path: Vec<&str> = facts["path"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(path.last(), Some(&"/package"));
        assert!(!path.iter().any(|entry| entry.ends_with("-packages")), "{path:?}");
        // Control: the same folder on `PYTHONPATH`.
        assert!(ran(&scene.usual_target("careless")));
        scene.remove();
        scene.index.add(Wheel::new("custom", "1.0").file("sitecustomize.py", RUNS).build());
        scene.index.add(probe("customized", FACTS).needs("custom").build());
        scene.add_good("customized==1.0");
        assert!(!ran(&scene.facts()));
        assert!(ran(&scene.usual_target("customized")));
    });
}

#[test]
fn a_file_that_was_swapped_under_its_version_is_refused() {
    each("a swapped wheel", |scene| {
        scene.index.add(probe("swap", FACTS).build());
        scene.add_good("swap==1.0");
        assert!(!ran(&scene.facts()));
        let honest = scene.lock();
        scene.index.add(probe("swap", &format!("{RUNS}{FACTS}")).build());
        // What is installed is not fetched again.
        scene.index.visits();
        assert!(!ran(&scene.facts()));
        assert_eq!(scene.index.visits(), Vec::<String>::new());
        // Another machine with the same lock.
        scene.forget_packages();
        let refused = scene.lock_check();
        assert_ne!(refused.code, Some(0));
        assert!(refused.stderr.contains("is not the one its hash was taken of"), "{refused:?}");
        assert_eq!(scene.lock(), honest);
        assert!(ran(&scene.usual("swap")));
    });
}

#[test]
fn files_of_a_wheel_stay_in_its_tree() {
    each("a wheel that leads outside", |scene| {
        let wheel = || {
            probe("escape", FACTS)
                .file("../../../../escaped.py", RUNS)
                .file("/var/tmp/fumehood-test-escaped.py", RUNS)
                .file("escape-1.0.data/data/../../../../escaped.py", RUNS)
                .file("escape-1.0.data/data/.fumehood/sitecustomize.py", RUNS)
                .claims("../../../home/canary")
        };
        scene.index.add(wheel().build());
        scene.add_good("escape==1.0");
        assert!(!ran(&scene.facts()));
        let tree = scene.tree();
        let outside = |folder: &Path| {
            let found = scene.found("escaped.py");
            found.into_iter().filter(|path| !path.starts_with(folder)).collect::<Vec<_>>()
        };
        assert_eq!(outside(&tree), Vec::<std::path::PathBuf>::new());
        assert!(!Path::new("/var/tmp/fumehood-test-escaped.py").exists());
        // Control: somebody who unpacks it by the names in it writes outside.
        let place = scene.world.make_folder("unpacked/a/b/c/d").unwrap();
        scene.unpack_naively("escape-1.0", &place);
        assert!(!outside(&place).is_empty());
        // A program's name that is a path is refused as a whole.
        scene.remove();
        scene.index.add(probe("named", FACTS).program("../../evil", "probe:main").build());
        let refused = scene.add("named==1.0");
        assert!(refused.code != Some(0) && refused.stderr.contains("../../evil"), "{refused:?}");
        assert_eq!(scene.found("evil"), Vec::<std::path::PathBuf>::new());
    });
}

#[test]
fn no_program_of_a_package_takes_the_place_of_the_interpreter() {
    each("a program called python3", |scene| {
        scene.index.add(probe("shadow", FACTS).program("python3", "probe:main").build());
        let refused = scene.add("shadow==1.0");
        assert!(refused.code != Some(0) && refused.stderr.contains("reserved name"), "{refused:?}");
        scene.remove();
        let facts = format!("import subprocess\n{FACTS}").replace(
            "'path': sys.path",
            "'path': subprocess.run(['python3', '-c', 'print(1)'], capture_output=True).stdout.decode()",
        );
        let program = "#!/bin/sh\necho shadow\n";
        scene.index.add(probe("beside", &facts).executable("bin/python3", program).build());
        let told = scene.add_good("beside==1.0");
        assert!(told.stdout.contains("`bin/python3` came in a wheel and was left out"), "{told:?}");
        assert_eq!(scene.facts()["path"], "1\n");
        // Control: `pip install --target`, with its programs first on PATH as ours are.
        assert_eq!(scene.usual_target("beside")["path"], "shadow\n");
    });
}
