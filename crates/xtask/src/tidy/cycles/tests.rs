use super::*;

fn told(files: &[(&str, &str)]) -> Vec<String> {
    faults(&Tree::of(files)).into_iter().map(|fault| fault.text).collect()
}

const LIB: (&str, &str) = ("crates/x/src/lib.rs", "mod a; mod b; mod c;");

#[test]
fn a_straight_line_is_sound() {
    let files = [
        LIB,
        ("crates/x/src/a.rs", "use crate::{b, c::Thing};"),
        ("crates/x/src/b.rs", "use crate::c::Thing;"),
        ("crates/x/src/c.rs", "pub struct Thing; // crate::a"),
    ];
    assert_eq!(told(&files), Vec::<String>::new());
}

#[test]
fn a_circle_is_found_through_groups_macros_and_paths_in_code() {
    let files = [
        LIB,
        ("crates/x/src/a.rs", "use crate::{b::{self, Thing}};"),
        ("crates/x/src/b.rs", "fn f() { println!(\"{}\", crate::c::g()) }"),
        ("crates/x/src/c.rs", "use super::a::Other;"),
    ];
    assert_eq!(
        told(&files),
        [
            "modules import in a circle: a → b (crates/x/src/a.rs:1) → c (crates/x/src/b.rs:1) → a (crates/x/src/c.rs:1)"
        ]
    );
}

#[test]
fn a_circle_between_brothers_deeper_down_is_found() {
    let files = [
        ("crates/x/src/a.rs", "mod one; mod two;"),
        ("crates/x/src/a/one.rs", "use super::two::T;"),
        ("crates/x/src/a/two.rs", "use crate::a::one::O;"),
    ];
    assert_eq!(
        told(&files),
        ["modules import in a circle: one → two (crates/x/src/a/one.rs:1) → one (crates/x/src/a/two.rs:1)"]
    );
}

#[test]
fn parents_children_and_tests_are_not_counted() {
    let files = [
        LIB,
        (
            "crates/x/src/a.rs",
            "mod one; use self::one::O; #[cfg(test)] mod t { use crate::b::B; } use crate::Root;",
        ),
        ("crates/x/src/a/one.rs", "use super::A;"),
        ("crates/x/src/a/tests.rs", "use crate::b::B;"),
        ("crates/x/src/b.rs", "use crate::a::A; #[cfg(test)] mod tests;"),
    ];
    assert_eq!(told(&files), Vec::<String>::new());
}

#[test]
fn crates_do_not_mix() {
    let files = [("crates/x/src/a.rs", "use crate::b::B;"), ("crates/y/src/b.rs", "use crate::a::A;")];
    assert_eq!(told(&files), Vec::<String>::new());
}
