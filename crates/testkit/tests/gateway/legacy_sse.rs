//! Servers of revision 2024-11-05, by HTTP with SSE: in a cell, and elsewhere.

use std::{
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

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

/// The fixture on a port of this machine.
struct Far(Child, u16);

impl Far {
    fn start(scene: &Scene, endpoint: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("python3");
        command.arg(scene.world.path("servers/mcp_server.py")).args(["sse", &port.to_string(), endpoint]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let far = Self(child, port);
        for _ in 0..1000 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return far;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it did not come up");
    }

    /// What a client hears from it through a bridge.
    fn ask(&self, scene: &Scene) -> Vec<Value> {
        let hello = json!({ "jsonrpc": "2.0", "id": "h", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let said = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let call =
            json!({ "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": { "name": "whoami" } });
        let url = format!("http://127.0.0.1:{}/sse", self.1);
        let ran = scene.run(&["bridge", &url, "--plain"], &format!("{hello}\n{said}\n{call}\n"));
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_server_elsewhere_that_has_a_stream_only_is_spoken_to_by_that_and_by_no_other_host() {
    let scene = Scene::new(somebody(), |_| String::new());
    let heard = Far::start(&scene, "/messages?session={}").ask(&scene);
    assert!(heard.len() == 2 && heard[1]["id"] == "c", "{heard:?}");
    assert!(heard[1].to_string().contains("nobody"), "{heard:?}");
    let heard = Far::start(&scene, "http://localhost:1/messages?session={}").ask(&scene);
    let refused = heard[0]["error"]["message"].as_str().unwrap_or_else(|| panic!("{heard:?}"));
    assert!(refused.contains("not its own address"), "{refused}");
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
