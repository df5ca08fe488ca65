//! Values of the vault in what a model says are found by a process that does not have them.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    os::unix::fs::FileExt as _,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::drive::{Drive, Scene, somebody};

const VALUE: &str = "ghp_NobodyButTheBroker/Has+This0123456";
const USERS: &str = "ghp_NobodyButTheBrokerHasAlsoThis012345";

/// How often the bytes are in the memory of a process.
fn in_memory(pid: u32, bytes: &[u8]) -> usize {
    let maps = BufReader::new(File::open(format!("/proc/{pid}/maps")).unwrap());
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut count = 0;
    for line in maps.lines().map_while(Result::ok).filter(|line| line.contains(" rw")) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [from, to] = [from, to].map(|text| u64::from_str_radix(text, 16).unwrap());
        let mut region = vec![0; usize::try_from(to - from).unwrap()];
        // What cannot be read is nobody's data.
        if memory.read_exact_at(&mut region, from).is_ok() {
            count += region.windows(bytes.len()).filter(|window| *window == bytes).count();
        }
    }
    count
}

fn find(drive: &mut Drive, value: &Value) -> Value {
    drive.wish(&json!({ "do": "find", "value": value }));
    drive.wait("finding", |said| said.get("found").is_some())["found"].clone()
}

#[test]
fn a_value_is_found_however_it_is_written_by_a_process_without_it() {
    let scene = Scene::new(somebody(), |scene| {
        let path = scene.world.make_file("token", "a token of a file, and a long one", 0o600).unwrap();
        format!("[secrets.FILED]\nfile = {path:?}\nhosts = [\"api.github.com\"]\n")
    });
    scene.keep("TOKEN", None, VALUE, "api.github.com");
    scene.keep("MINE", Some("alice"), USERS, "api.github.com");
    let mut drive = Drive::begin(&scene, "");
    drive.wish(&json!({ "do": "screening" }));
    drive.wait("needles", |said| said["screen"] == "begun");
    for value in [VALUE, USERS] {
        assert_eq!(in_memory(drive.pid(), value.as_bytes()), 0, "the service has a value");
    }
    let hex = VALUE.bytes().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let percent = VALUE.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
    for (how, text) in [
        ("raw", VALUE.to_owned()),
        ("within", format!("the token is {VALUE}.")),
        ("base64", STANDARD.encode(VALUE)),
        ("base64 of more", STANDARD.encode(format!("x-token:{VALUE}"))),
        ("hex", hex),
        ("percent", percent),
    ] {
        let found = find(&mut drive, &json!({ "deep": [{ "body": text }] }));
        assert_eq!(found[0], "deep[0].body", "{how}: {found}");
        assert!(found[1].as_str().unwrap().contains("TOKEN"), "{how}: {found}");
    }
    assert!(find(&mut drive, &json!({ "text": USERS }))[1].as_str().unwrap().contains("MINE"));
    assert_eq!(find(&mut drive, &json!({ "text": "ghp_NobodyButTheBroker/Has+This0123457" })), Value::Null);
    find(&mut drive, &json!({ "text": VALUE }));
    // That the search of the memory finds what is there: it has been told by now.
    assert!(in_memory(drive.pid(), VALUE.as_bytes()) > 0);
    // What is kept later is looked for soon.
    let later = "ghp_KeptWhileTheServiceRan0123456789abc";
    assert_eq!(find(&mut drive, &json!({ "text": later })), Value::Null);
    scene.keep("LATER", None, later, "api.github.com");
    drive.wait("needles", |said| said["screen"] == "renewed");
    assert!(find(&mut drive, &json!({ "text": later }))[1].as_str().unwrap().contains("LATER"));
    // And so is what a file holds that the operator's file names, now and later.
    let found = |drive: &mut Drive, text: &str| find(drive, &json!({ "text": text }))[1].to_string();
    assert!(found(&mut drive, "a token of a file, and a long one").contains("FILED"));
    scene.world.make_file("token", "another token of a file, and long", 0o600).unwrap();
    drive.wait("needles", |said| said["screen"] == "renewed");
    assert!(found(&mut drive, "another token of a file, and long").contains("FILED"));
    drive.finish();
}

#[test]
fn the_control_without_needles_a_value_passes() {
    let scene = Scene::new(somebody(), |_| String::new());
    scene.keep("TOKEN", None, VALUE, "api.github.com");
    let mut drive = Drive::begin(&scene, "screening");
    drive.wish(&json!({ "do": "screening" }));
    drive.wait("needles", |said| said["screen"] == "begun");
    assert_eq!(find(&mut drive, &json!({ "text": VALUE })), Value::Null);
    drive.finish();
}
