//! A server that changes while it is used: what has changed is held, the rest goes on, and the mark stays.

use std::thread;

use crate::{
    lists::Lists,
    project::{Project, somebody},
    rows::{TOOLS, changes},
};

#[test]
fn what_changes_amid_a_session_is_held_and_stays_so() {
    // Instructions are said once, at the hello: that change is found at the next start.
    let rows: Vec<_> = changes().into_iter().filter(|row| row.name != "instructions").collect();
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let project = Project::new(somebody(), &names);
    thread::scope(|scope| {
        for row in &rows {
            let project = &project;
            scope.spawn(move || {
                project.accept(row.name);
                // Control: where nothing is held, the changed tool is called.
                let mut session = project.client(Some("front-hold"), row.name);
                assert_eq!(session.call("steady"), "did steady", "{}", row.name);
                project.offer(row.name, &row.lists);
                thread::sleep(std::time::Duration::from_millis(300));
                for tool in TOOLS {
                    assert_eq!(session.call(tool), format!("did {tool}"), "{}", row.name);
                }
                session.kill();
                project.run(&["review", row.name, "--reject"]);
                project.offer(row.name, &Lists::accepted());

                let mut session = project.client(None, row.name);
                assert_eq!(session.call("steady"), "did steady", "{}", row.name);
                project.offer(row.name, &row.lists);
                if row.held.is_empty() {
                    // Nothing that can be called is touched: it is told of on stderr, and kept.
                    wait_for_mark(project, row.name);
                } else {
                    session.wait_for_change("tools");
                }
                let held = |tool: &&str| row.held.contains(tool);
                let left: Vec<&str> = TOOLS.into_iter().filter(|tool| !held(tool)).collect();
                let check = |session: &mut crate::session::Session| {
                    assert_eq!(session.names(), left, "{}", row.name);
                    for tool in TOOLS {
                        let said = session.call(tool);
                        if held(&tool) {
                            assert!(said.starts_with("FH-CHANGED: "), "{}: {said}", row.name);
                            assert!(said.contains(&format!("`fumehood review {}`", row.name)), "{said}");
                        } else {
                            assert_eq!(said, format!("did {tool}"), "{}", row.name);
                        }
                    }
                    let read = session.everything();
                    assert!(row.marker.is_empty() || !read.contains(row.marker), "{}: {read}", row.name);
                };
                check(&mut session);
                // What it calls itself back to does not count.
                project.offer(row.name, &Lists::accepted());
                thread::sleep(std::time::Duration::from_millis(300));
                check(&mut session);
                let ended = session.end();
                assert_eq!(ended.code, Some(10), "{}: {ended:?}", row.name);
                assert!(ended.stderr.contains("has changed while it ran"), "{}: {ended:?}", row.name);
                // And after the session.
                let later = project.start(row.name);
                assert_eq!((later.code, later.heard.len()), (Some(10), 0), "{}: {later:?}", row.name);
                let told = project.told(&["review", row.name, "--json"]);
                assert_eq!(told["review"]["class"], row.class, "{}", row.name);
            });
        }
    });
}

/// Waits until the change of a server was kept.
fn wait_for_mark(project: &Project, name: &str) {
    for _ in 0..400 {
        let listed = project.told(&["list", "--json"]);
        let is_it = |row: &&serde_json::Value| row["name"] == name;
        if listed.as_array().unwrap().iter().find(is_it).unwrap()["standing"] == "changed" {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the change of {name} was not kept");
}
