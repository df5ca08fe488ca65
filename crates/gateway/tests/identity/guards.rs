//! Every guard of tokens is in the table of attacks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::attacks::ATTACKS;

#[test]
fn every_guard_of_tokens_is_taken_away_by_a_control() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../access/src/token");
    let mut source = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "rs") {
            source += &fs::read_to_string(path).unwrap();
        }
    }
    let guards: BTreeSet<&str> =
        source.split("guard::off(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(guards.len() > 10, "only these were found: {guards:?}");
    let tried: BTreeSet<&str> = ATTACKS.iter().flat_map(|attack| attack.guards).copied().collect();
    assert_eq!(guards, tried);
}
