//! Every guard of this crate has a test that takes it away.

#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn texts_of(folder: &Path, is_one: &dyn Fn(&Path) -> bool) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &texts_of(&path, is_one);
        } else if is_one(&path) {
            all += &fs::read_to_string(path).unwrap();
        }
    }
    all
}

#[test]
fn every_guard_is_taken_away_by_a_control() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = texts_of(&crate_folder.join("src"), &|path| path.extension().is_some_and(|it| it == "rs"));
    let controls = texts_of(&crate_folder.join("tests"), &|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("controls.rs"))
    });
    let guards: BTreeSet<&str> =
        source.split("guard::off(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(guards.len() > 10, "only these were found: {guards:?}");
    let missing: Vec<_> =
        guards.into_iter().filter(|guard| !controls.contains(&format!("\"{guard}\""))).collect();
    assert!(missing.is_empty(), "no control takes these away: {missing:?}");
}
