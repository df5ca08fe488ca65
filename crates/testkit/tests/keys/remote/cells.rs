//! In cells: the key is written at the edge, and the server is a real one.

use std::net::TcpListener;

use super::*;
use crate::scene::{API, Scene, TOKEN, VALUE};

/// The words that run a bridge in a cell with these flags.
fn bridge(world: &World, flags: &[&str], words: &[&str]) -> Command {
    let program = world.product_path();
    let mut command = world.product(None);
    command.args(["exec", "--limit", "require=none", "--limit", "memory=1GiB", "--mount"]).arg(&program);
    command.args(flags).arg("--").arg(program).arg("bridge").args(words);
    command
}

#[test]
fn a_remote_servers_key_is_written_at_the_edge() {
    for caller in Caller::all() {
        let scene = Scene::with(caller, |asked, peer| {
            usual(asked, peer).unwrap_or_else(|| {
                let said = asked.header("authorization").unwrap_or_default();
                let body = json!({ "jsonrpc": "2.0", "id": "a", "result": { "said": said } }).to_string();
                say(peer, "200 OK", JSON, body.as_bytes())
            })
        });
        scene.set(TOKEN, VALUE, &["--host", API]);
        let url = format!("https://{API}/mcp");
        let words = [url.as_str(), "--header", "authorization:Bearer ${TOKEN}"];
        let input = lines(hello().iter().chain([&request("a", "tools/list")]));
        let ran = scene.world.run(&mut bridge(&scene.world, &["--secret", TOKEN], &words), &input).unwrap();
        assert!(ran.code == Some(0) && !ran.late && ran.remains.is_empty(), "{caller:?}: {ran:?}");
        assert!(!format!("{ran:?}").contains(VALUE), "{caller:?}: the value came in: {ran:?}");
        let said = heard(&ran);
        let said = answer(&said, "a")["result"]["said"].as_str().unwrap();
        assert!(said.starts_with("Bearer ") && said.len() == VALUE.len() + 7, "{caller:?}: {said}");
        let asked = scene.api.asked();
        assert_eq!(asked.len(), 5, "{caller:?}: {asked:?}");
        for asked in asked {
            assert!(asked.is_tls);
            assert_eq!(asked.header("authorization"), Some(format!("Bearer {VALUE}").as_str()), "{caller:?}");
        }
        // A server that nobody allowed is not reached, key or not.
        let words = ["https://other.example/mcp"];
        let ran = scene.world.run(&mut bridge(&scene.world, &[], &words), &lines(&hello())).unwrap();
        let failed = heard(&ran)[0]["error"]["message"].as_str().unwrap().to_owned();
        assert!(failed.contains("connecting to other.example:443 failed"), "{caller:?}: {ran:?}");
        assert!(scene.other.asked().is_empty());
    }
}

/// The official SDK behind a port of this machine.
pub(super) struct Everything(Child, pub(super) u16);

impl Everything {
    pub(super) fn start() -> Option<Self> {
        let cache = std::env::var_os("FUMEHOOD_CACHE").map_or_else(
            || std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cache")),
            std::path::PathBuf::from,
        );
        let program = cache.join("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        if !program.exists() {
            testkit::world::skip("a remote server of the official SDK", "it is not among the test packages");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("node");
        command.arg(program).arg("streamableHttp").env("PORT", port.to_string());
        let streams = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert!(said.any(|line| line.contains("listening")), "it did not come up");
        Some(Self(child, port))
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn the_official_server_is_spoken_to_from_a_cell_and_asks_back() {
    let Some(everything) = Everything::start() else { return };
    for caller in Caller::all() {
        let world = World::new(caller).unwrap();
        world.make_folder("config/fumehood").unwrap();
        let text = format!(
            "[upstreams.\"mcp.example\"]\naddress = \"127.0.0.1:{}\"\nloopback = true\n",
            everything.1
        );
        world.make_file("config/fumehood/config.toml", &text, 0o600).unwrap();
        let flags = ["--host", "http://mcp.example"];
        let mut talk = Talk::begin(&mut bridge(&world, &flags, &["--plain", "http://mcp.example/mcp"]));
        let [first, initialized] = hello();
        talk.say(&first);
        assert_eq!(talk.hear()["result"]["protocolVersion"], "2025-11-25", "{caller:?}");
        talk.say(&initialized);
        talk.say(&request("list", "tools/list"));
        let next = |talk: &mut Talk| loop {
            let message = talk.hear();
            // What it tells by itself comes whenever it comes.
            if message.get("id").is_some() {
                return message;
            }
        };
        let tools = next(&mut talk);
        assert!(tools["result"]["tools"].as_array().unwrap().len() > 5, "{caller:?}: {tools}");
        let params =
            json!({ "name": "trigger-sampling-request", "arguments": { "prompt": "x", "maxTokens": 5 } });
        talk.say(&json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params }));
        let asks = next(&mut talk);
        assert_eq!(asks["method"], "sampling/createMessage", "{caller:?}: {asks}");
        let content = json!({ "type": "text", "text": "what a model said" });
        let result = json!({ "role": "assistant", "model": "m", "content": content });
        talk.say(&json!({ "jsonrpc": "2.0", "id": asks["id"], "result": result }));
        let called = next(&mut talk);
        assert!(called["id"] == "call" && called.to_string().contains("what a model said"), "{called}");
        let (code, _) = talk.end();
        assert_eq!(code, Some(0), "{caller:?}");
    }
}
