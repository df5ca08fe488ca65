//! Servers of revision 2024-11-05, by HTTP with SSE: in a cell, and elsewhere.

use serde_json::json;

use crate::drive::{Drive, Scene, somebody};

const HTTP: &str = "transport = \"http\"\nport = 8300";

#[test]
fn a_server_in_a_cell_that_has_a_stream_only_is_spoken_to_by_that() {
    let scene = Scene::new(somebody(), |scene| scene.table("old", &["sse", "8300"], HTTP));
    scene.accept("old");
    let mut drive = Drive::begin(&scene, "");
    drive.start("o", "old", None);
    assert_eq!(drive.call("o", "whoami", ""), "nobody");
    let tools = drive.ask("o", "list", "tools/list", &json!({}));
    assert!(tools["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{tools}");
    // Its stream ends after this answer, and all that was agreed on with it.
    assert_eq!(drive.call("o", "forget", ""), "forgotten");
    assert!(drive.ended("o").contains("closed its stream"));
    drive.start("again", "old", None);
    assert_eq!(drive.call("again", "whoami", ""), "nobody");
    drive.finish();
}

#[test]
fn a_stream_that_leads_elsewhere_is_not_followed() {
    for endpoint in
        ["https://elsewhere.example/messages", "//elsewhere.example/messages", "http://localhost:1/m"]
    {
        let scene = Scene::new(somebody(), |scene| scene.table("old", &["sse", "8300", endpoint], HTTP));
        let refused = scene.run(&["review", "old", "--json"], "");
        assert!(refused.code != Some(0), "{endpoint}: {refused:?}");
        assert!(refused.stderr.contains("not its own address"), "{endpoint}: {refused:?}");
    }
    // The same words with an address of its own are taken.
    let scene = Scene::new(somebody(), |scene| {
        scene.table("old", &["sse", "8300", "http://localhost:8300/messages?session={}"], HTTP)
    });
    scene.accept("old");
}
