//! Every guard of this crate has a test that takes it away.

#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn texts(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &texts(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all += &fs::read_to_string(path).unwrap();
        }
    }
    all
}

#[test]
fn every_guard_of_the_front_is_taken_away_by_a_control() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = texts(&crate_folder.join("src"));
    let controls = fs::read_to_string(crate_folder.join("tests/controls.rs")).unwrap();
    let guards: BTreeSet<&str> =
        source.split("guard::off(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(guards.len() > 10, "only these were found: {guards:?}");
    let missing: Vec<_> =
        guards.into_iter().filter(|guard| !controls.contains(&format!("\"{guard}\""))).collect();
    assert!(missing.is_empty(), "no control takes these away: {missing:?}");
}
