//! However the programs end, nothing stays.

use std::{process::Stdio, time::Duration};

use rustix::process::Signal;

use super::world::{World, lives, signal, within};

/// Ignores `SIGTERM` and the end of its stdin, and leaves a process in a session of its own.
const STUBBORN: [&str; 8] = [
    "run",
    "--unreviewed",
    "--name",
    "stubborn",
    "--",
    "sh",
    "-c",
    "trap '' TERM; (setsid sleep 300 &); sleep 300; true",
];

#[test]
fn a_killed_run_takes_the_cell_along() {
    let world = World::new();
    let (mut run, cell) = world.start(&STUBBORN);
    run.kill().unwrap();
    run.wait().unwrap();
    let jail = cell.jail.unwrap();
    assert!(within(Duration::from_secs(1), || !lives(jail)), "PID 1 lives");
    assert!(within(Duration::from_secs(2), || !lives(cell.supervisor) && world.folders() == 0));
}

#[test]
fn a_killed_supervisor_takes_the_cell_along_and_run_clears_up() {
    let world = World::new();
    let (run, cell) = world.start(&STUBBORN);
    signal(cell.supervisor, Signal::KILL);
    let output = run.wait_with_output().unwrap();
    let said = world.shown(&output);
    assert!(output.status.code() == Some(1) && said.contains("its supervisor died"), "{said}");
    assert!(!lives(cell.jail.unwrap()));
    assert_eq!(world.folders(), 0);
}

#[test]
fn a_killed_jail_is_told_by_name() {
    let world = World::new();
    let (run, cell) = world.start(&STUBBORN);
    signal(cell.jail.unwrap(), Signal::KILL);
    let output = run.wait_with_output().unwrap();
    assert!(world.shown(&output).contains("the jail was killed from outside"), "{}", world.shown(&output));
    assert_eq!(world.folders(), 0);
}

#[test]
fn both_killed_leave_a_record_for_the_next_start() {
    let world = World::new();
    let (mut run, cell) = world.start(&STUBBORN);
    run.kill().unwrap();
    signal(cell.supervisor, Signal::KILL);
    run.wait().unwrap();
    assert!(within(Duration::from_secs(1), || !lives(cell.jail.unwrap())));
    assert!(world.cells().is_empty());
    assert_eq!(world.folders(), 0);
}

#[test]
fn sigterm_ends_a_stubborn_server_within_two_seconds() {
    let world = World::new();
    let (mut run, cell) = world.start(&STUBBORN);
    signal(i32::try_from(run.id()).unwrap(), Signal::TERM);
    let mut status = None;
    assert!(within(Duration::from_secs(3), || {
        status = run.try_wait().unwrap();
        status.is_some()
    }));
    assert_eq!(status.unwrap().code(), Some(143));
    assert!(!lives(cell.jail.unwrap()) && world.folders() == 0);
}

#[test]
fn a_client_that_is_gone_gives_a_stubborn_server_its_grace_and_no_more() {
    let world = World::new();
    let arguments: Vec<&str> =
        ["run", "--grace", "0"].into_iter().chain(STUBBORN.into_iter().skip(1)).collect();
    let mut run = world.command(&arguments).stdin(Stdio::null()).spawn().unwrap();
    let mut status = None;
    assert!(within(Duration::from_secs(6), || {
        status = run.try_wait().unwrap();
        status.is_some()
    }));
    assert_eq!(status.unwrap().code(), Some(137));
    assert_eq!(world.folders(), 0);
}

#[test]
fn a_gibibyte_of_stderr_stops_nobody_and_fills_no_disk() {
    let world = World::new();
    let script = "dd if=/dev/zero bs=1M count=1024 1>&2 2>/dev/null";
    let output = world.run_with(
        "",
        &["run", "--unreviewed", "--grace", "120", "--name", "noisy", "--", "sh", "-c", script],
    );
    assert_eq!(output.status.code(), Some(0), "{}", world.shown(&output));
    let logs = std::fs::read_dir(world.state().join("logs/noisy")).unwrap();
    let size: u64 = logs.map(|log| log.unwrap().metadata().unwrap().len()).sum();
    assert!((8 << 20..=17 << 20).contains(&size), "{size}");
    let log = world.run_with("", &["logs", "noisy", "-n", "1"]);
    assert!(!log.stdout.is_empty());
}

/// A client says all it has to say and leaves; its server is still busy with something else, and the last message is more
/// than a pipe holds.
#[test]
fn what_a_client_said_last_reaches_its_server_before_the_end_does() {
    let world = World::new();
    let program = world.write("project/late.sh", include_str!("service/late.sh")).display().to_string();
    let declared = format!("[servers.late]\ncommand = ['sh', '{program}']\nmounts = ['{program}']\n");
    world.write("config/fumehood/config.toml", &declared);
    let told = world.run_with("", &["review", "late", "--json"]);
    let review: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let fingerprint = review.get("fingerprint").and_then(serde_json::Value::as_str).unwrap();
    assert!(world.run_with("", &["review", "late", "--accept", fingerprint]).status.success());
    let text = "x".repeat(150_000);
    let said = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"keep","arguments":{{"text":"{text}"}}}}}}"#),
    ];
    let ran = world.run_with(&(said.join("\n") + "\n"), &["run", "late"]);
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert!(stdout.contains("kept 150"), "{}", world.shown(&ran));
}
