//! Changes that must not be forgotten: many starts at once, runs that are killed, marks of one change and of another.

use std::{thread, time::Duration};

use serde_json::json;

use crate::{
    lists::Lists,
    project::{Project, somebody},
    rows::{TOOLS, changes},
    session::said,
};

fn changed() -> Lists {
    changes().remove(0).lists
}

#[test]
fn two_clients_at_once_are_both_refused_and_the_change_is_kept_once() {
    let project = Project::new(somebody(), &["weather"]);
    let accepted = project.accept("weather");
    project.offer("weather", &changed());
    let both = |off: Option<&str>, expected: &str, code: i32| {
        let mut sessions: Vec<_> = (0..2).map(|_| project.client(off, "weather")).collect();
        let calls: Vec<u64> = sessions
            .iter_mut()
            .map(|session| session.send("tools/call", &json!({ "name": "steady", "arguments": {} })))
            .collect();
        for (session, call) in sessions.iter_mut().zip(calls) {
            let said = said(&session.answer(call));
            assert!(said.starts_with(expected), "{said}");
        }
        for session in &mut sessions {
            let ended = session.end();
            assert_eq!(ended.code, Some(code), "{ended:?}");
        }
    };
    // Control: where nothing is compared, both are answered.
    both(Some("front-comparison"), "did steady", 0);
    both(None, "FH-NOT-ACCEPTED: ", 10);
    let told = project.told(&["review", "weather", "--json"]);
    assert_eq!(told["before"], accepted);
    project.offer("weather", &Lists::accepted());
    assert_eq!(project.start("weather").code, Some(10));
    // Control: a mark that is not looked at does not stick.
    let mut session = project.client(Some("pending-change"), "weather");
    assert_eq!(session.call("steady"), "did steady");
    session.end();
    assert_eq!(project.start("weather").code, Some(10));
}

#[test]
fn a_run_that_is_killed_at_any_moment_lets_nothing_in_afterwards() {
    // Before the cell is there, while it is compared, about when it is decided, and after.
    const MOMENTS: [u64; 10] = [0, 40, 90, 160, 300, 700, 1_500, 3_000, 3_200, 3_500];
    let names: Vec<String> = MOMENTS.iter().map(|moment| format!("killed-{moment}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let project = Project::new(somebody(), &names);
    thread::scope(|scope| {
        for (name, moment) in names.iter().zip(MOMENTS) {
            let project = &project;
            scope.spawn(move || {
                project.accept(name);
                project.offer(name, &changed());
                let mut session = project.client(None, name);
                session.send("tools/call", &json!({ "name": "steady", "arguments": {} }));
                thread::sleep(Duration::from_millis(moment));
                session.kill();
                let listed = project.told(&["list", "--json"]);
                let row = listed.as_array().unwrap().iter().find(|row| row["name"] == *name).unwrap();
                match row["standing"].as_str() {
                    // It was seen, and kept.
                    Some("changed") => assert_eq!(project.start(name).code, Some(10), "{name}"),
                    // It was not: it is compared anew, and refused.
                    Some("ready") => {
                        let mut session = project.client(None, name);
                        let said = session.call("steady");
                        assert!(said.starts_with("FH-NOT-ACCEPTED: "), "{name}: {said}");
                        assert_eq!(session.end().code, Some(10), "{name}");
                        assert_eq!(project.start(name).code, Some(10), "{name}");
                    }
                    _ => panic!("{row}"),
                }
            });
        }
    });
}

#[test]
fn what_a_client_was_told_to_be_held_is_kept_already() {
    let project = Project::new(somebody(), &["weather"]);
    project.accept("weather");
    for (off, standing) in [(Some("front-hold"), "ready"), (None, "changed")] {
        let mut session = project.client(off, "weather");
        assert_eq!(session.call("steady"), "did steady");
        project.offer("weather", &changed());
        if off.is_some() {
            // Control: what is not held is called; that it was seen is kept nevertheless.
            thread::sleep(Duration::from_millis(300));
            assert_eq!(session.call("get_forecast"), "did get_forecast");
        } else {
            session.wait_for_change("tools");
        }
        session.kill();
        project.offer("weather", &Lists::accepted());
        if standing == "ready" {
            project.run(&["review", "weather", "--reject"]);
            project.works("weather", &TOOLS);
        } else {
            let ended = project.start("weather");
            assert_eq!((ended.code, ended.heard.len()), (Some(10), 0), "{ended:?}");
        }
    }
}

#[test]
fn a_yes_to_one_change_is_none_to_the_next() {
    let project = Project::new(somebody(), &["weather"]);
    project.accept("weather");
    let mut session = project.client(None, "weather");
    assert_eq!(session.call("steady"), "did steady");
    let one = Lists::with(|lists| lists.tools[1]["description"] = "Lists all stations that measure.".into());
    project.offer("weather", &one);
    session.wait_for_change("tools");
    let looked_at = project.fingerprint("weather");
    project.offer("weather", &changed());
    session.wait_for_change("tools");
    let newer = project.fingerprint("weather");
    assert_ne!(looked_at, newer);
    let refused = project.run(&["review", "weather", "--accept", &looked_at]);
    assert_eq!(refused.code, Some(12), "{refused:?}");
    assert!(refused.stderr.contains(&newer), "{refused:?}");
    assert_eq!(session.end().code, Some(10));
    assert_eq!(project.start("weather").code, Some(10));
    let accepted = project.run(&["review", "weather", "--accept", &newer]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    project.works("weather", &TOOLS);
}
