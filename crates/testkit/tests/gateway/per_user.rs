//! Secrets of which each user has a value: nobody's cell is given another's.

use std::{collections::BTreeMap, io};

use serde_json::{Value, json};
use testkit::world::Caller;

use crate::{
    drive::{Drive, Scene},
    origin::{Asked, Ca, Origin, Peer, say},
};

const API: &str = "api.github.com";
const ALICES: &str = "ghp_AlicesOwnTokenAlicesOwnToken0123456";
const BOBS: &str = "ghp_BobsOwnTokenBobsOwnTokenBobs0123456";
const EVERYBODYS: &str = "ghp_EverybodysTokenEverybodysTokn012345";

fn echo(_: &Asked, peer: &mut dyn Peer) -> io::Result<()> {
    say(peer, "200 OK", "", b"{}")
}

/// A server with a key of each user, and the host of that key.
fn scene(caller: Caller) -> (Scene, Origin) {
    let ca = Ca::new();
    let api = Origin::start(&ca, API, echo);
    let scene = Scene::new(caller, |scene| {
        let pem = scene.world.make_file("ca.pem", &ca.pem(), 0o644).unwrap();
        let (address, pem) = (api.address, pem.display());
        let upstream =
            format!("[upstreams.\"{API}\"]\naddress = \"{address}\"\nloopback = true\nca = \"{pem}\"\n");
        let secrets = "secrets.TOKEN = { name = \"TOKEN\", per = \"user\" }\ncell = \"user\"";
        upstream + &scene.table("hub", &["stdio"], secrets)
    });
    scene.keep("TOKEN", None, EVERYBODYS, API);
    scene.keep("TOKEN", Some("alice"), ALICES, API);
    scene.keep("TOKEN", Some("bob"), BOBS, API);
    scene.accept("hub");
    (scene, api)
}

/// What the host was sent by each user's cell.
fn sent(drive: &mut Drive, api: &Origin, users: &[&str]) -> BTreeMap<String, String> {
    let mut sent = BTreeMap::new();
    for user in users {
        drive.start(user, "hub", Some(user));
        let before = api.asked().len();
        assert_eq!(drive.call(user, "fetch", ""), "200", "{user}");
        let asked = api.asked().split_off(before);
        assert_eq!(asked.len(), 1, "{asked:?}");
        let credential = asked[0].header("authorization").unwrap().to_owned();
        sent.insert((*user).to_owned(), credential);
        let inside = drive.call(user, "whoami", "");
        assert!(![ALICES, BOBS, EVERYBODYS].contains(&inside.as_str()), "{user} holds a value");
        drive.end(user);
    }
    sent
}

#[test]
fn each_users_cell_writes_that_users_value_and_its_use_is_told() {
    for caller in Caller::all() {
        let (scene, api) = scene(caller);
        let mut drive = Drive::begin(&scene, "");
        let sent = sent(&mut drive, &api, &["alice", "bob"]);
        assert_eq!(sent["alice"], format!("Bearer {ALICES}"), "{caller:?}");
        assert_eq!(sent["bob"], format!("Bearer {BOBS}"), "{caller:?}");
        for user in ["alice", "bob"] {
            let used = drive
                .wait("use of the key", |said| said["of"] == user && said["network"]["event"] == "key-used");
            assert_eq!(
                (&used["network"]["secret"], &used["network"]["host"]),
                (&json!("TOKEN"), &json!(API))
            );
        }
        drive.finish();
    }
}

#[test]
fn a_user_without_a_value_gets_no_cell_and_is_told_how_to_keep_one() {
    let (scene, _api) = scene(crate::drive::somebody());
    let mut drive = Drive::begin(&scene, "");
    drive.order("c", "hub", Some("carol"));
    let refused = drive.outcome("c");
    assert_eq!(
        (&refused["refused"], &refused["final"]),
        (&json!("FH-SECRET-MISSING"), &json!(true)),
        "{refused}"
    );
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.contains("fumehood secret set TOKEN --user 'urn:fumehood:key|carol'"), "{reason}");
    // And nobody's cell has what is one's own.
    drive.order("s", "hub", None);
    let refused = drive.outcome("s");
    assert_eq!(refused["refused"], "FH-SECRET-MISSING", "{refused}");
    assert!(refused["reason"].as_str().unwrap().contains("cell = \"user\""), "{refused}");
    // As soon as there is a value, it is used.
    scene.keep("TOKEN", Some("carol"), "ghp_CarolsOwnTokenCarolsOwnToken0123456", API);
    drive.start("again", "hub", Some("carol"));
    drive.finish();
}

#[test]
fn the_control_without_the_guard_a_user_gets_what_is_not_the_users() {
    let (scene, api) = scene(crate::drive::somebody());
    let mut drive = Drive::begin(&scene, "per-user-secret");
    let sent = sent(&mut drive, &api, &["alice", "carol"]);
    assert_eq!(sent["alice"], format!("Bearer {EVERYBODYS}"));
    assert_eq!(sent["carol"], format!("Bearer {EVERYBODYS}"));
    drive.finish();
}

#[test]
fn a_rotated_value_of_one_user_reaches_that_users_cell_alone() {
    let (scene, api) = scene(crate::drive::somebody());
    let mut drive = Drive::begin(&scene, "");
    for user in ["alice", "bob"] {
        drive.start(user, "hub", Some(user));
    }
    let renewed = "ghp_AlicesNewTokenAlicesNewToken0123456";
    let ran = scene.run(&["secret", "rotate", "TOKEN", "--user", "urn:fumehood:key|alice"], renewed);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let last = |api: &Origin| api.asked().pop().unwrap().header("authorization").unwrap().to_owned();
    for _ in 0..100 {
        drive.call("alice", "fetch", "");
        if last(&api) == format!("Bearer {renewed}") {
            drive.call("bob", "fetch", "");
            assert_eq!(last(&api), format!("Bearer {BOBS}"));
            let listed: Value =
                serde_json::from_str(&scene.run(&["secret", "list", "--json"], "").stdout).unwrap();
            let subjects: Vec<&str> =
                listed.as_array().unwrap().iter().filter_map(|one| one["user"]["subject"].as_str()).collect();
            assert_eq!(subjects.len(), 2, "{listed}");
            assert!(subjects.contains(&"alice") && subjects.contains(&"bob"), "{listed}");
            drive.finish();
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("the new value was never used: {}", last(&api));
}
