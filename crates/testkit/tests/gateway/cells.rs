//! Cells of the service: started side by side, frozen, ended, let go of, and told of when they die.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::world::Caller;

use crate::drive::{Drive, Scene, somebody};

fn scene(caller: Caller) -> Scene {
    let scene = Scene::new(caller, |scene| {
        scene.table("notes", &["stdio"], "data = true\ncell = \"user\"")
            + &scene.table("other", &["stdio"], "data = true\ncell = \"group:team\"")
    });
    scene.accept("notes");
    scene.accept("other");
    scene
}

#[test]
fn each_user_has_a_cell_and_a_folder_of_its_own_and_they_start_side_by_side() {
    for caller in Caller::all() {
        let scene = scene(caller);
        let mut drive = Drive::begin(&scene, "");
        drive.order("a", "notes", Some("alice"));
        drive.order("b", "notes", Some("bob"));
        for of in ["a", "b"] {
            let started = drive.outcome(of);
            assert_eq!((&started["started"], &started["speaks_http"]), (&json!(true), &json!(false)));
            assert!(started["roots"].to_string().contains("file:///data"), "{started}");
            drive.greet(of);
        }
        let names = Drive::names(&scene);
        assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
        assert!(names.iter().all(|name| name.len() == "notes-01234567".len() && name.starts_with("notes-")));
        assert_eq!(drive.call("a", "write", "of alice"), "written");
        assert_eq!(drive.call("b", "read", ""), "nothing");
        assert_eq!(drive.call("a", "read", ""), "of alice");
        drive.end("a");
        assert_eq!(Drive::names(&scene).len(), 1);
        // What a user has kept is there again, and for nobody else.
        drive.start("again", "notes", Some("alice"));
        assert_eq!(drive.call("again", "read", ""), "of alice");
        drive.wish(&json!({ "do": "start", "of": "g", "server": "other", "user": null, "group": "team" }));
        assert_eq!(drive.outcome("g")["started"], true);
        drive.greet("g");
        assert_eq!(drive.call("g", "read", ""), "nothing");
        drive.finish();
        assert_eq!(Drive::names(&scene), [""; 0], "nothing of them is left");
    }
}

#[test]
fn what_a_person_allows_or_denies_a_server_holds_for_every_cell_of_it() {
    let scene = scene(somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.start("a", "notes", Some("alice"));
    drive.start("b", "notes", Some("bob"));
    let reach = || {
        let listed = scene.run(&["ps", "--json"], "").stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let all = listed.as_array().unwrap().iter();
        all.filter(|cell| cell["network"]["hosts"].to_string().contains("new.example")).count()
    };
    assert_eq!(reach(), 0);
    let ran = scene.run(&["allow", "--yes", "notes", "new.example"], "");
    assert_eq!((ran.code, reach()), (Some(0), 2), "{ran:?}");
    let ran = scene.run(&["deny", "notes", "new.example"], "");
    assert_eq!((ran.code, reach()), (Some(0), 0), "{ran:?}");
    drive.finish();
}

#[test]
fn a_frozen_cell_answers_after_it_was_thawed_and_ends_while_it_is_frozen() {
    let scene = scene(somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.start("a", "notes", Some("alice"));
    drive.wish(&json!({ "do": "freeze", "of": "a" }));
    let frozen = drive.wait("freeze", |said| said.get("frozen").is_some());
    assert_eq!(frozen["frozen"], Value::Null, "{frozen}");
    let params = json!({ "name": "whoami" });
    drive.say("a", &json!({ "jsonrpc": "2.0", "id": "q", "method": "tools/call", "params": params }));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!drive.has_heard(|said| said["line"]["id"] == "q"), "a frozen cell answered");
    drive.wish(&json!({ "do": "thaw", "of": "a" }));
    assert_eq!(drive.wait("thaw", |said| said.get("thawed").is_some())["thawed"], Value::Null);
    assert!(drive.answer("a", "q").to_string().contains("nobody"));
    drive.wish(&json!({ "do": "freeze", "of": "a" }));
    drive.wait("freeze", |said| said.get("frozen").is_some());
    drive.end("a");
    drive.finish();
    assert_eq!(Drive::names(&scene), [""; 0]);
}

#[test]
fn a_server_that_dies_is_told_of_with_the_reason_and_one_that_is_let_go_of_is_ended() {
    let scene = scene(somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.start("a", "notes", Some("alice"));
    drive.start("b", "notes", Some("bob"));
    let params = json!({ "name": "die" });
    drive.say("a", &json!({ "jsonrpc": "2.0", "id": "q", "method": "tools/call", "params": params }));
    let why = drive.ended("a");
    assert!(why.contains('3'), "{why}");
    assert_eq!(Drive::names(&scene).len(), 1, "one does not end with another");
    drive.wish(&json!({ "do": "drop", "of": "b" }));
    // It takes a moment, and nothing tells of it: that is what letting go means.
    for _ in 0..600 {
        if Drive::names(&scene).is_empty() {
            drive.finish();
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("a cell that nobody holds runs on: {:?}", Drive::names(&scene));
}

#[test]
fn a_cell_that_nobody_listens_to_can_be_ended() {
    let scene = scene(somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.start("a", "notes", Some("alice"));
    drive.wish(&json!({ "do": "deafen", "of": "a" }));
    for id in 0..1_000 {
        drive.say("a", &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }));
    }
    drive.end("a");
    assert_eq!(Drive::names(&scene), [""; 0]);
    drive.finish();
}

#[test]
fn a_supervisor_that_is_killed_is_told_of() {
    let scene = scene(somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.start("a", "notes", Some("alice"));
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", drive.pid())).unwrap();
    let threads = std::fs::read_dir(format!("/proc/{}/task", drive.pid())).unwrap();
    let all: Vec<i32> = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| text.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<i32>>())
        .collect();
    assert_eq!(all.len(), 1, "{children} {all:?}");
    let pid = rustix::process::Pid::from_raw(all[0]).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(drive.ended("a"), "its supervisor died");
    drive.finish();
}

#[test]
fn what_is_no_message_and_what_is_too_long_does_not_reach_the_pool() {
    let scene = scene(somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.start("a", "notes", Some("alice"));
    assert_eq!(drive.call("a", "print", ""), "printed");
    let big = drive.call("a", "big", "");
    assert!(big.contains("error") && big.len() < 1000, "{big}");
    let long = "x".repeat(17 << 20);
    let refused = drive.call("a", "whoami", &long);
    assert!(refused.contains("error") && refused.len() < 1000, "{refused}");
    assert_eq!(drive.call("a", "whoami", ""), "nobody");
    assert!(!drive.has_heard(|said| said.to_string().contains("something that is no message")));
    let name = Drive::names(&scene).remove(0);
    drive.finish();
    let log = scene.run(&["logs", &name], "").stdout;
    assert!(log.contains("something that is no message"), "{log}");
}

#[test]
fn what_is_not_accepted_any_more_is_not_started_and_the_reason_says_what_to_do() {
    let scene = scene(somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.start("a", "notes", Some("alice"));
    drive.end("a");
    // The declaration changes while the service runs on with the one it has read: the lock is another now.
    std::fs::remove_file(scene.world.path("config/fumehood/fumehood.lock")).unwrap();
    drive.order("b", "notes", Some("alice"));
    let refused = drive.outcome("b");
    assert_eq!((&refused["refused"], &refused["final"]), (&json!("FH-SERVER-WITHHELD"), &json!(true)));
    assert!(refused["reason"].as_str().unwrap().contains("`fumehood review notes`"), "{refused}");
    drive.order("c", "nowhere", None);
    assert_eq!(drive.outcome("c")["refused"], "FH-SERVER-WITHHELD");
    drive.finish();
}
