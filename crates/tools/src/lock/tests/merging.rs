//! Three locks into one.

use super::*;

fn at(version: &str) -> Pinned {
    Pinned { source: format!("npx:pkg@{version}"), short: "0".repeat(16), ..command() }
}

fn merged<const A: usize, const B: usize, const C: usize>(
    base: [(&str, Pinned); A],
    ours: [(&str, Pinned); B],
    theirs: [(&str, Pinned); C],
) -> Merged {
    let text = |lock: Lock| lock.to_text().into_bytes();
    merge(&text(lock(base)), &text(lock(ours)), &text(lock(theirs))).unwrap()
}

fn clean<const N: usize>(merged: &Merged, wanted: [(&str, Pinned); N]) {
    assert_eq!(merged, &Merged::Clean(lock(wanted).to_text()));
}

#[test]
fn what_one_side_did_is_done() {
    let (one, two, three) = (|| at("1"), || at("2"), || at("3"));
    clean(&merged([], [("a", one())], [("b", two())]), [("a", one()), ("b", two())]);
    clean(
        &merged([("m", one())], [("m", one()), ("a", two())], [("m", one()), ("b", two())]),
        [("a", two()), ("b", two()), ("m", one())],
    );
    clean(&merged([("a", one())], [("a", two())], [("a", one())]), [("a", two())]);
    clean(&merged([("a", one())], [("a", one())], [("a", two())]), [("a", two())]);
    clean(&merged([("a", one())], [("a", two())], [("a", two())]), [("a", two())]);
    clean(
        &merged([("a", one()), ("b", one())], [("b", one())], [("a", one()), ("b", three())]),
        [("b", three())],
    );
    clean(&merged([("a", one())], [], []), []);
    clean(&merged([], [("a", one())], [("a", one())]), [("a", one())]);
}

#[test]
fn a_file_that_was_not_there_before_has_no_base() {
    let text = |server: &str| lock([(server, at("1"))]).to_text().into_bytes();
    let merged = merge(b"", &text("a"), &text("b")).unwrap();
    clean(&merged, [("a", at("1")), ("b", at("1"))]);
}

#[test]
fn a_conflict_stays_within_its_table() {
    let merged = merged(
        [("a", at("1")), ("b", at("1")), ("c", at("1"))],
        [("a", at("1")), ("b", at("2")), ("c", at("2"))],
        [("a", at("2")), ("b", at("3")), ("c", at("1"))],
    );
    let Merged::Conflict(text) = &merged else { panic!("{merged:?}") };
    let tables: Vec<&str> = text.split("\n[servers.").collect();
    let marked: Vec<bool> = tables.iter().map(|table| table.contains("<<<<<<<")).collect();
    assert_eq!(marked, [false, false, true, false]);
    let wanted = "b]\n<<<<<<< ours\nsource = \"npx:pkg@2\"\n=======\nsource = \"npx:pkg@3\"\n>>>>>>> theirs\ncommand = [\n";
    assert!(tables[2].starts_with(wanted), "{text}");
    assert!(tables[1].contains("pkg@2") && tables[3].contains("pkg@2"));
    let error = Lock::parse("l", text.as_bytes()).unwrap_err();
    let line = text.lines().position(|line| line.starts_with("<<<<<<<")).unwrap() + 1;
    assert_eq!((error.fault(), error.line()), (&LockFault::Conflict, line));
    assert_eq!(merged.text(), text);
    for (keep, version) in [("ours", "2"), ("theirs", "3")] {
        let wanted = lock([("a", at("2")), ("b", at(version)), ("c", at("2"))]);
        assert_eq!(Lock::parse("l", choose(text, keep).as_bytes()).unwrap(), wanted);
    }
}

#[test]
fn one_side_changed_what_the_other_took_out() {
    for swapped in [false, true] {
        let (left, right) = (lock([("b", at("2"))]).to_text(), Lock::default().to_text());
        let (ours, theirs) = if swapped { (&right, &left) } else { (&left, &right) };
        let base = lock([("b", at("1"))]).to_text();
        let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).unwrap();
        assert!(matches!(merged, Merged::Conflict(_)));
        for (keep, side) in [("ours", ours), ("theirs", theirs)] {
            // An empty line is left where the table was.
            assert_eq!(choose(merged.text(), keep).trim_end(), side.trim_end());
        }
    }
}

#[test]
fn both_sides_added_the_same_server_differently() {
    let merged = merged([], [("a", package())], [("a", command())]);
    let Merged::Conflict(text) = &merged else { panic!("{merged:?}") };
    assert_eq!(text.matches("[servers.a]").count(), 1);
    for (keep, pinned) in [("ours", package()), ("theirs", command())] {
        assert_eq!(Lock::parse("l", choose(text, keep).as_bytes()).unwrap(), lock([("a", pinned)]));
    }
}

#[test]
fn a_side_that_is_no_lock_is_named() {
    let good = Lock::default().to_text();
    for (sides, named) in [
        (["x = 1", &good, &good], "base:1: "),
        ([&good, "<<<<<<< HEAD\n", &good], "ours:1: "),
        ([&good, "", &good], "ours:1: "),
        ([&good, &good, "version = 2"], "theirs:1: "),
    ] {
        let [base, ours, theirs] = sides.map(str::as_bytes);
        let error = merge(base, ours, theirs).unwrap_err();
        assert!(error.to_string().starts_with(named), "{error}");
    }
}

/// What a person does: keeps one side of each conflict.
fn choose(text: &str, keep: &str) -> String {
    let mut side = "both";
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            "<<<<<<< ours" => side = "ours",
            "=======" => side = "theirs",
            ">>>>>>> theirs" => side = "both",
            _ if side == "both" || side == keep => kept.push_str(line),
            _ => {}
        }
    }
    kept
}
