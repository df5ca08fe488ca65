//! Starting a machine in a test, and reading what a probe in it said.

use std::io::Write as _;
use std::path::Path;
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
