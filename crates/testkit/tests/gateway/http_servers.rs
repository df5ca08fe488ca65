//! Servers that listen on a port inside their cell: read and accepted over HTTP, and spoken to as by lines.

use serde_json::{Value, json};

use crate::drive::{Drive, Scene, somebody};

const HTTP: &str = "transport = \"http\"\nport = 8300";
const MODERN: &str = "io.modelcontextprotocol/protocolVersion";

fn scene() -> Scene {
    let scene = Scene::new(somebody(), |scene| {
        scene.table("web", &["http", "8300", "0.5"], HTTP) + &scene.table("brief", &["nonsense"], HTTP)
    });
    scene.accept("web");
    scene
}

fn modern(name: Option<&str>, text: &str) -> Value {
    let mut params = json!({ "_meta": { MODERN: "2026-07-28" } });
    if let Some(name) = name {
        params["name"] = name.into();
        params["arguments"] = json!({ "text": text });
    }
    params
}

#[test]
fn it_is_waited_for_spoken_to_in_a_session_and_told_of_when_it_forgets_that() {
    let scene = scene();
    let mut drive = Drive::begin(&scene, "");
    let started = drive.start("w", "web", None);
    assert_eq!(started["speaks_http"], true);
    // What it says by itself, and what comes before an answer.
    drive.wait("notification", |said| said["line"]["method"] == "notifications/tools/list_changed");
    assert_eq!(drive.call("w", "whoami", ""), "nobody");
    drive.wait("notification", |said| said["line"]["method"] == "notifications/message");
    let headers: Value = serde_json::from_str(&drive.call("w", "headers", "x")).unwrap();
    assert_eq!(headers["mcp-protocol-version"], "2025-11-25", "{headers}");
    assert!(headers["mcp-session-id"].is_string() && headers.get("mcp-method").is_none(), "{headers}");
    assert_eq!(headers["host"], "localhost:8300");
    let name = Drive::names(&scene).remove(0);
    assert_eq!(name, "web");
    // The session is gone: whoever asks next hears of it, and so does whoever would start it again.
    assert_eq!(drive.call("w", "forget", ""), "forgotten");
    let lost = drive.ask("w", "after", "tools/list", &json!({}));
    assert!(lost["error"]["message"].as_str().unwrap().contains("ended the session"), "{lost}");
    assert!(drive.ended("w").contains("ended the session"));
    drive.start("again", "web", None);
    assert_eq!(drive.call("again", "whoami", ""), "nobody");
    drive.end("again");
    drive.finish();
    assert_eq!(Drive::names(&scene), [""; 0]);
    // What it prints is in the log, the end of the session among it.
    let log = scene.run(&["logs", "web"], "").stdout;
    assert!(log.contains("asked POST /mcp") && log.contains("the session was ended"), "{log}");
}

#[test]
fn a_request_without_a_session_says_in_its_headers_what_it_is() {
    let scene = scene();
    let mut drive = Drive::begin(&scene, "");
    drive.order("w", "web", None);
    assert_eq!(drive.outcome("w")["started"], true);
    let tools = drive.ask("w", "list", "tools/list", &modern(None, ""));
    assert!(tools["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{tools}");
    let answer = drive.ask("w", "call", "tools/call", &modern(Some("headers"), "ä"));
    let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let headers: Value = serde_json::from_str(said).unwrap();
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "headers"),
        // The list of its tools said that this parameter is mirrored.
        ("mcp-param-text", "=?base64?w6Q=?="),
    ] {
        assert_eq!(headers[name], value, "{headers}");
    }
    assert!(headers.get("mcp-session-id").is_none(), "{headers}");
    // A question is taken back by not listening any more.
    let slow =
        json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": modern(Some("slow"), "") });
    drive.say("w", &slow);
    assert!(drive.call_modern("w", "whoami").contains("nobody"));
    drive.say(
        "w",
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "slow" } }),
    );
    for _ in 0..400 {
        if scene.run(&["logs", "web"], "").stdout.contains("the stream was closed") {
            assert!(!drive.has_heard(|said| said["line"]["id"] == "slow"));
            drive.finish();
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the server was not told that nobody waits any more");
}

#[test]
fn its_client_by_stdio_knows_no_difference() {
    let scene = scene();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "whoami" } });
    let ran = scene.run(&["run", "web"], &format!("{hello}\n{call}\n"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("nobody"), "{ran:?}");
}

#[test]
fn one_that_ends_before_it_listens_is_told_of_at_its_review() {
    let scene = scene();
    let refused = scene.run(&["review", "brief", "--json"], "");
    assert!(refused.stderr.contains("ended before it took connections on port 8300"), "{refused:?}");
    assert!(refused.stderr.contains("fumehood logs brief"), "{refused:?}");
}

impl Drive {
    fn call_modern(&mut self, of: &str, tool: &str) -> String {
        self.ask(of, tool, "tools/call", &modern(Some(tool), "")).to_string()
    }
}
