//! A server that offers something else after its review than at it: nothing of it is used, and a person decides.

use std::thread;

use testkit::world::{Caller, skip};

use crate::{
    project::{Project, somebody},
    rows::{Row, TOOLS, changes, no_changes},
};

/// The comparison of the running server, which is left out in controls.
const COMPARISON: Option<&str> = Some("front-comparison");

/// All rows at the same time: most of each is waiting.
fn at_once<T: Send>(rows: Vec<T>, trial: impl Fn(usize, T) + Sync) {
    thread::scope(|scope| {
        let trial = &trial;
        let running: Vec<_> =
            rows.into_iter().enumerate().map(|(at, row)| scope.spawn(move || trial(at, row))).collect();
        for one in running {
            one.join().unwrap();
        }
    });
}

/// The changed server reaches the client where nothing is compared, and its text where nothing is pinned.
fn controls(project: &Project, row: &Row) {
    let mut session = project.client(COMPARISON, row.name);
    assert_eq!(session.call("steady"), "did steady", "{}", row.name);
    assert_eq!(session.end().code, Some(0), "{}", row.name);
    let mut session = project.bare_client(row.name);
    let read = session.everything();
    match row.marker {
        "" => assert!(!read.contains("list_stations"), "{}: {read}", row.name),
        marker => {
            let quoted = serde_json::to_string(marker).unwrap();
            let inner = quoted.trim_matches('"');
            assert!(read.contains(inner) || read.contains(marker), "{}: {read}", row.name);
        }
    }
    session.end();
}

/// At the first start after the change.
fn is_refused(project: &Project, row: &Row) {
    let mut session = project.client(None, row.name);
    assert_eq!(session.names(), TOOLS, "{}: what was accepted is told at once", row.name);
    let said = session.call("steady");
    assert!(
        said.starts_with("FH-NOT-ACCEPTED: ") && said.contains("fumehood review"),
        "{}: {said}",
        row.name
    );
    session.wait_for_change("tools");
    session.wait_for_change("prompts");
    session.wait_for_change("resources");
    let tools = session.tools();
    assert_eq!(tools.len(), 1, "{}: {tools:?}", row.name);
    assert_eq!(tools[0]["name"], "fumehood_status", "{}", row.name);
    let read = session.everything();
    assert!(row.marker.is_empty() || !read.contains(row.marker), "{}: {read}", row.name);
    let said = session.call("fumehood_status");
    assert!(said.contains(&format!("`fumehood review {}`", row.name)), "{}: {said}", row.name);
    let ended = session.end();
    assert_eq!(ended.code, Some(10), "{}: {ended:?}", row.name);
    assert!(ended.stderr.contains(&format!("`fumehood review {}`", row.name)), "{}: {ended:?}", row.name);
}

/// At every later one, at once.
fn stays_refused(project: &Project, row: &Row) {
    let ended = project.start(row.name);
    assert_eq!((ended.code, ended.heard.len()), (Some(10), 0), "{}: {ended:?}", row.name);
    assert!(ended.stderr.contains("is not what was accepted"), "{}: {ended:?}", row.name);
}

/// What is shown of it. The fingerprint of the change.
fn is_shown(project: &Project, row: &Row, accepted: &str) -> String {
    let told = project.told(&["review", row.name, "--json"]);
    assert_eq!(told["before"], accepted, "{}", row.name);
    assert_eq!(told["review"]["class"], row.class, "{}: {told:#}", row.name);
    let shown = project.run(&["review", row.name]);
    assert_eq!(shown.code, Some(10), "{}: {shown:?}", row.name);
    assert!(shown.stdout().contains(row.class), "{}: {}", row.name, shown.stdout());
    let fingerprint = told["fingerprint"].as_str().unwrap().to_owned();
    assert_ne!(fingerprint, accepted, "{}", row.name);
    assert!(shown.stderr.contains(&format!("--accept {fingerprint}")), "{}: {shown:?}", row.name);
    fingerprint
}

#[test]
fn every_change_is_refused_shown_with_its_class_and_waits_for_a_person() {
    let rows = changes();
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let project = Project::new(somebody(), &names);
    at_once(rows, |at, row| {
        let accepted = project.accept(row.name);
        project.offer(row.name, &row.lists);
        controls(&project, &row);
        is_refused(&project, &row);
        stays_refused(&project, &row);
        let changed = is_shown(&project, &row, &accepted);
        stays_refused(&project, &row);
        // Another fingerprint is no yes, be it the accepted one.
        for wrong in [accepted.as_str(), "v1:sha256:00"] {
            let refused = project.run(&["review", row.name, "--accept", wrong]);
            assert_eq!(refused.code, Some(12), "{}: {refused:?}", row.name);
        }
        // Going back does not make up for it.
        project.offer(row.name, &crate::lists::Lists::accepted());
        stays_refused(&project, &row);
        assert_eq!(is_shown(&project, &row, &accepted), changed, "{}", row.name);
        if at % 2 == 0 {
            let rejected = project.run(&["review", row.name, "--reject"]);
            assert_eq!(rejected.code, Some(11), "{}: {rejected:?}", row.name);
            project.works(row.name, &TOOLS);
        } else {
            let taken = project.run(&["review", row.name, "--accept", &changed]);
            assert_eq!(taken.code, Some(0), "{}: {taken:?}", row.name);
            project.offer(row.name, &row.lists);
            project.works(row.name, row.tools);
        }
    });
}

#[test]
fn what_is_no_change_starts_as_always() {
    let rows = no_changes();
    let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    let project = Project::new(somebody(), &names);
    at_once(rows, |_, (name, lists)| {
        project.accept(name);
        assert_ne!(lists.text(), crate::lists::Lists::accepted().text(), "{name}");
        project.offer(name, &lists);
        project.works(name, &TOOLS);
        let mut session = project.client(None, name);
        assert_eq!(session.call("get_forecast"), "did get_forecast");
        // The same amid a session: nothing is held.
        project.offer(name, &crate::lists::Lists::accepted());
        project.offer(name, &lists);
        for tool in TOOLS {
            assert_eq!(session.call(tool), format!("did {tool}"), "{name}");
        }
        assert_eq!(session.end().code, Some(0), "{name}");
    });
}

#[test]
fn a_change_that_was_rejected_is_compared_anew_and_refused_again() {
    at_once(callers(), |_, caller| {
        let project = Project::new(caller, &["weather"]);
        let accepted = project.accept("weather");
        let row = changes().remove(0);
        project.offer("weather", &row.lists);
        let row = Row { name: "weather", ..row };
        for _ in 0..2 {
            is_refused(&project, &row);
            is_shown(&project, &row, &accepted);
            assert_eq!(project.run(&["review", "weather", "--reject"]).code, Some(11));
        }
        project.offer("weather", &crate::lists::Lists::accepted());
        project.works("weather", &TOOLS);
    });
}

/// Those that this test run can act as.
fn callers() -> Vec<Caller> {
    let callers = Caller::all();
    if callers.len() < 2 {
        skip("a changed server as the other caller", "this run can act as one alone");
    }
    callers
}
