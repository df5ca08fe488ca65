use super::*;

const TABLE: &str = "| row | crate | is | names |\n|---|---|---|---|\n| 1 | `b` | – | `a` |\n| 0 | `a` | – | – |\n\
                     | 0 | `z` | – | – |\n| – | `t` | – | `b` |\n";

fn told(page: &str, b: &str, t: &str) -> Vec<String> {
    let manifest = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}");
    let tree = Tree::of(&[
        (PAGE, page),
        ("crates/a/Cargo.toml", &manifest("a", "[dependencies]\nserde = \"1\"")),
        ("crates/b/Cargo.toml", &manifest("b", b)),
        ("crates/t/Cargo.toml", &manifest("t", t)),
        ("crates/z/Cargo.toml", &manifest("z", "")),
    ]);
    faults(&tree).into_iter().map(|fault| fault.text).collect()
}

const GOOD: &str = "[dependencies]\na.workspace = true";
const GOOD_TEST: &str = "[dependencies]\nb.workspace = true";

#[test]
fn a_table_that_is_the_manifests_is_sound() {
    assert_eq!(told(TABLE, GOOD, GOOD_TEST), Vec::<String>::new());
}

#[test]
fn an_edge_the_table_misses_is_found_under_a_target_too() {
    let more = format!("{GOOD}\n[target.'cfg(unix)'.dependencies]\nz.workspace = true");
    assert_eq!(told(TABLE, &more, GOOD_TEST), ["`b` → `z` is only in the manifest"]);
}

#[test]
fn an_edge_the_manifest_misses_is_found() {
    assert_eq!(told(TABLE, "", GOOD_TEST), ["`b` → `a` is only in the table"]);
}

#[test]
fn an_edge_upwards_is_found_even_when_both_have_it() {
    let upside_down = TABLE.replace("| 1 | `b`", "| 0 | `b`");
    assert_eq!(told(&upside_down, GOOD, GOOD_TEST), ["`b` may not name `a`, which is no lower row"]);
}

#[test]
fn what_is_never_shipped_may_not_be_named_even_by_tests() {
    let names_tests = format!("{GOOD}\n[dev-dependencies]\nt.workspace = true");
    assert_eq!(told(TABLE, &names_tests, GOOD_TEST), ["`b` may not name `t`, which is no lower row"]);
}

#[test]
fn a_crate_only_one_of_them_knows_is_found() {
    let without = TABLE.replace("| 0 | `z` | – | – |\n", "| 0 | `y` | – | – |\n");
    assert_eq!(told(&without, GOOD, GOOD_TEST), ["there is no crate `y`", "the table misses the crate `z`"]);
}
