//! Real cells, as far as the command line has to do with them. Programs are those of every host: `sh`, `cat`, `dd`.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use cell_api::{
    client::{Client, ClientError},
    error::ErrorCode,
    info::CellState,
    order::StderrMode,
    spec::CellSpec,
};
use rustix::process::Signal;

use super::world::{World, signal, within};

/// Without the condition that the kernel holds the memory ceiling, which not every host can.
const EXEC: [&str; 3] = ["exec", "--limit", "require="];

fn exec<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    EXEC.iter().copied().chain(rest.iter().copied()).collect()
}

#[test]
fn a_command_has_its_streams_and_its_exit_code() {
    let world = World::new();
    let output =
        world.run_with("from outside", &exec(&["--", "sh", "-c", "cat; echo to stderr >&2; exit 42"]));
    assert_eq!(world.shown(&output), "exit code 42\n--- stdout\nfrom outside--- stderr\nto stderr");
    assert_eq!(world.folders(), 0);
}

#[test]
fn a_command_killed_by_a_signal_says_so() {
    let world = World::new();
    let output = world.run_with("", &exec(&["--name", "gone", "--", "sh", "-c", "kill -SEGV $$"]));
    assert_eq!(world.shown(&output), "exit code 139\n--- stderr\nfumehood: gone ended: signal 11 (SIGSEGV)");
}

#[test]
fn binary_and_large_streams_pass_unchanged() {
    let world = World::new();
    let script = "head -c 5000000 /dev/zero | tr '\\0' '\\377'";
    let output = world.run_with("", &exec(&["--", "sh", "-c", script]));
    assert_eq!(output.stdout.len(), 5_000_000);
    assert!(output.stdout.iter().all(|byte| *byte == 0xff));
}

#[test]
fn run_lets_only_the_protocol_through_and_keeps_the_rest() {
    let world = World::new();
    let script = "echo banner; echo trouble >&2; cat";
    let message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let output =
        world.run_with(message, &["run", "--unreviewed", "--name", "echo", "--", "sh", "-c", script]);
    assert_eq!(world.shown(&output), format!("exit code 0\n--- stdout\n{}", message.trim_end()));
    let log = world.said(&["logs", "echo"]);
    assert!(log.contains("stdout| banner") && log.contains("trouble"), "{log}");
}

#[test]
fn a_server_of_the_project_and_a_key_in_its_environment() {
    let world = World::new();
    world.write(
        "project/fumehood.toml",
        "[servers.who]\ncommand = [\"sh\", \"-c\", \"echo name $WHO >&2\"]\nenv = { WHO = \"ada\", API_KEY = \"k\" }\n",
    );
    world.trust();
    let output = world.run_with("", &["run", "--unreviewed", "-v", "who"]);
    let said = world.shown(&output);
    assert!(output.status.success() && said.contains("name ada"), "{said}");
    assert!(said.contains("warning: the cell can read the real value of API_KEY"), "{said}");
}

#[test]
fn a_mount_is_seen_and_a_home_folder_refused() {
    let world = World::new();
    let file = world.write("shared/note", "visible");
    fs::set_permissions(file.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let folder = file.parent().unwrap().display().to_string();
    let script = format!("cat {folder}/note; echo x > {folder}/new");
    let output = world.run_with("", &exec(&["--mount", &folder, "--", "sh", "-c", &script]));
    assert!(String::from_utf8_lossy(&output.stdout).contains("visible"), "{}", world.shown(&output));
    assert!(!file.with_file_name("new").exists());

    // The state folder is Fumehood's own, whatever it is called.
    let own = world.state().display().to_string();
    let output = world.run_with("", &exec(&["--mount", &own, "--", "true"]));
    assert_eq!(output.status.code(), Some(12), "{}", world.shown(&output));
}

#[test]
fn a_project_reaches_nothing_outside_by_a_link() {
    let world = World::new();
    world.write("elsewhere/secret", "s");
    world.write("project/fumehood.toml", "[servers.s]\ncommand = [\"cat\"]\nmounts = [\"link\"]\n");
    std::os::unix::fs::symlink(world.project().join("../elsewhere"), world.project().join("link")).unwrap();
    let output = world.run_with("", &["run", "s"]);
    assert_eq!(output.status.code(), Some(12));
    assert!(world.shown(&output).contains("outside the project"), "{}", world.shown(&output));
}

#[test]
fn a_program_that_is_not_there() {
    let world = World::new();
    let output = world.run_with("", &exec(&["--", "no-such-program"]));
    let said = world.shown(&output);
    assert!(
        output.status.code() == Some(2) && said.contains("FH-CELL-COMMAND") && said.contains("help:"),
        "{said}"
    );
    assert_eq!(world.folders(), 0);
}

#[test]
fn data_stays_and_its_quota_is_watched() {
    let world = World::new();
    let keep = exec(&["--data", "keep:1MiB", "--", "sh", "-c", "cat /data/x; echo kept > /data/x"]);
    assert_eq!(world.run_with("", &keep).stdout, b"");
    assert_eq!(world.run_with("", &keep).stdout, b"kept\n");
    let fill = exec(&[
        "--name",
        "full",
        "--data",
        "keep:1MiB",
        "--",
        "sh",
        "-c",
        "head -c 3000000 /dev/zero > /data/y; sleep 30",
    ]);
    let output = world.run_with("", &fill);
    assert_eq!(output.status.code(), Some(137));
    assert!(world.shown(&output).contains("the data quota of 1 MiB was reached"), "{}", world.shown(&output));
}

#[test]
fn a_planted_file_is_told_while_the_server_runs() {
    let world = World::new();
    let out = world.write("out/x", "").parent().unwrap().to_owned();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o777)).unwrap();
    let script = format!("sleep 0.3; echo bad > {}/.envrc; sleep 0.7", out.display());
    let mount = format!("{}:rw", out.display());
    let output = world.run_with("", &exec(&["--mount", &mount, "--", "sh", "-c", &script]));
    let said = world.shown(&output);
    assert!(said.contains("made `ROOT/out/.envrc`"), "{said}");
}

#[test]
fn another_process_in_a_running_cell() {
    let world = World::new();
    let (mut run, cell) = world.start(&["run", "--unreviewed", "--name", "busy", "--", "cat"]);
    assert_eq!((cell.name.as_str(), cell.state), ("busy", CellState::Running));
    let output = world
        .run_with("in", &["exec", "--in", "busy", "--env", "A=1", "--", "sh", "-c", "echo $A; cat; exit 3"]);
    assert_eq!(world.shown(&output), "exit code 3\n--- stdout\n1\nin");
    let output = world.run_with("", &["exec", "--in", &cell.id, "--", "no-such-program"]);
    assert_eq!(output.status.code(), Some(2), "{}", world.shown(&output));
    assert_eq!(world.run_with("", &["exec", "--in", "nobody", "--", "true"]).status.code(), Some(1));
    let table = world.said(&["ps"]);
    assert!(table.contains("NAME") && table.contains("busy") && table.contains("running"), "{table}");
    drop(run.stdin.take());
    assert!(run.wait().unwrap().success());
}

#[tokio::test]
async fn the_api_refuses_by_name_and_changes_states() {
    let world = World::new();
    let (mut run, cell) = world.start(&["run", "--unreviewed", "--name", "asked", "--", "cat"]);
    let folder = world.state().join("cells").join(&cell.id);
    let mut client = Client::connect(&folder).await.unwrap();
    let spec: CellSpec = serde_json::from_str(r#"{"name": "x", "command": ["true"]}"#).unwrap();
    let code = |error: ClientError| match error {
        ClientError::Refused(body) => body.code,
        other => panic!("{other}"),
    };
    assert_eq!(code(client.create(&spec).await.unwrap_err()), ErrorCode::State);
    assert_eq!(code(client.start().await.unwrap_err()), ErrorCode::State);
    assert_eq!(code(client.signal(9, 15).await.unwrap_err()), ErrorCode::Process);
    assert_eq!(code(client.signal(1, 99).await.unwrap_err()), ErrorCode::Spec);
    let second = Client::connect(&folder).await.unwrap();
    assert_eq!(code(second.attach(1, StderrMode::False).await.unwrap_err()), ErrorCode::Attached);
    assert_eq!(client.freeze().await.unwrap().state, CellState::Frozen);
    assert_eq!(client.freeze().await.unwrap().state, CellState::Frozen);
    assert_eq!(client.thaw().await.unwrap().state, CellState::Running);
    let events = client.events().await.unwrap();
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq) && events.len() == 5, "{events:?}");
    drop(run.stdin.take());
    run.wait().unwrap();
}

#[test]
fn a_frozen_cell_can_be_ended() {
    let world = World::new();
    let (mut run, cell) = world.start(&["run", "--unreviewed", "--name", "cold", "--", "cat"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = world.state().join("cells").join(&cell.id);
    runtime.block_on(async { Client::connect(&folder).await.unwrap().freeze().await.unwrap() });
    // The connection ends with it; an open one would keep the supervisor.
    drop(runtime);
    signal(i32::try_from(run.id()).unwrap(), Signal::TERM);
    assert_eq!(run.wait().unwrap().code(), Some(143));
    assert!(within(Duration::from_secs(2), || world.folders() == 0));
}
