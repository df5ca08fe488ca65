//! Starting a machine in a test, and reading what a probe in it said.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use testkit::vm::{Machine, Run};

/// Booting takes some seconds; the rest is room for a loaded host.
const LIMIT: Duration = Duration::from_secs(150);

/// A machine with the probe in it; none, and the test named among the skipped, where the host cannot have one.
pub(crate) fn machine() -> Option<Machine> {
    match Machine::find() {
        Ok(machine) => {
            let probe = Path::new(env!("CARGO_BIN_EXE_cgroup-probe"));
            Some(
                machine
                    .program(probe, "/usr/bin/cgroup-probe")
                    .expect("the probe can be put into the machine"),
            )
        }
        Err(absent) => {
            skipped(&absent.to_string());
            None
        }
    }
}

/// The same with the product itself.
pub(crate) fn machine_with_fumehood() -> Option<Machine> {
    let fumehood = built("fumehood")?;
    let machine = machine_with_wall()?;
    Some(machine.program(&fumehood, "/usr/bin/fumehood").expect("fumehood can be put into the machine"))
}

/// The same with the program that builds a cell, and the product's own that it needs for that.
pub(crate) fn machine_with_wall() -> Option<Machine> {
    let jail = built("fumehood-jail")?;
    let probe = Path::new(env!("CARGO_BIN_EXE_wall-probe"));
    let machine =
        machine()?.program(probe, "/usr/bin/wall-probe").expect("the probe can be put into the machine");
    Some(machine.program(&jail, "/usr/bin/fumehood-jail").expect("the jail can be put into the machine"))
}

/// A program of the product: in `$FUMEHOOD_BIN_DIR`, else where Cargo puts them.
fn built(name: &str) -> Option<PathBuf> {
    let told = std::env::var_os("FUMEHOOD_BIN_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
    // The test itself is in `deps` beside them.
    let beside = || std::env::current_exe().ok()?.parent()?.parent().map(Path::to_path_buf);
    let program = told.or_else(beside).unwrap_or_default().join(name);
    if !program.is_file() {
        skipped(&format!("`{}` is not built", program.display()));
        return None;
    }
    Some(program)
}

/// Runs the script to a good end.
pub(crate) fn run(machine: &Machine, script: &str) -> Run {
    let run = machine.run(script, LIMIT).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.status, 0, "{}", run.console);
    run
}

/// The one result whose `key` is `value`.
pub(crate) fn result<'a>(run: &'a Run, key: &str, value: &str) -> &'a Value {
    let mut found = run.results.iter().filter(|result| result[key] == value);
    let result = found.next().unwrap_or_else(|| panic!("no `{value}` in\n{}", run.console));
    assert!(found.next().is_none(), "`{value}` was told twice");
    result
}

fn skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or("?").to_owned();
    eprintln!("skipped {test}: {reason}");
    if let Some(list) = std::env::var_os("FUMEHOOD_SKIPS") {
        let mut list =
            std::fs::OpenOptions::new().append(true).create(true).open(list).expect("the skip list");
        writeln!(list, "vm {test}: {reason}").expect("the skip list is writable");
    }
}
