//! Remote servers: what `fumehood bridge` makes of everything that a server may answer, first beside hosts that answer by
//! heart, then in cells, with a key, and with the official SDK at the other end.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use serde_json::{Value, json};
use testkit::world::{Caller, Ran, World};

use crate::origin::{Asked, Ca, Origin, Peer, say};

mod answers;
mod cells;
mod declared;
mod far;

const SESSION: &str = "Mcp-Session-Id: s-1\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

/// How long a line is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a client says first, and then.
fn hello() -> [Value; 2] {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "sampling": {} },
        "clientInfo": { "name": "test", "version": "1" },
    });
    [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ]
}

fn request(id: &str, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method })
}

fn lines<'a>(messages: impl IntoIterator<Item = &'a Value>) -> String {
    messages.into_iter().fold(String::new(), |lines, message| format!("{lines}{message}\n"))
}

fn heard(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The answer to a request among those.
fn answer<'a>(heard: &'a [Value], id: &str) -> &'a Value {
    let mut answers = heard.iter().filter(|message| message["id"] == id && message.get("method").is_none());
    let found = answers.next().unwrap_or_else(|| panic!("{id} has no answer: {heard:?}"));
    assert!(answers.next().is_none(), "{id} has several answers: {heard:?}");
    found
}

/// What a request is for; none of one without a body.
fn method(asked: &Asked) -> String {
    let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    body["method"].as_str().unwrap_or_default().to_owned()
}

/// The head of a stream of events that ends with its connection.
fn stream(peer: &mut dyn Peer, events: &str) -> io::Result<()> {
    write!(peer, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}")?;
    peer.flush()
}

fn event(id: &str, message: &Value) -> String {
    format!("id: {id}\ndata: {message}\n\n")
}

/// Answers as every server does what every session has; `None` for what it is really about.
fn usual(asked: &Asked, peer: &mut dyn Peer) -> Option<io::Result<()>> {
    match (asked.head.split(' ').next(), method(asked).as_str()) {
        (Some("POST"), "initialize") => {
            let result = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} });
            let body = json!({ "jsonrpc": "2.0", "id": 0, "result": result }).to_string();
            Some(say(peer, "200 OK", &format!("{JSON}{SESSION}"), body.as_bytes()))
        }
        (Some("POST"), name) if name.starts_with("notifications/") => {
            Some(say(peer, "202 Accepted", "", b""))
        }
        (Some("GET"), _) if asked.header("last-event-id").is_none() => {
            Some(say(peer, "405 Method Not Allowed", "", b""))
        }
        (Some("DELETE"), _) => Some(say(peer, "200 OK", "", b"")),
        _ => None,
    }
}

/// A host and a bridge to it on this machine, without any cell.
struct Beside {
    world: World,
    origin: Origin,
}

impl Beside {
    fn new(answer: impl Fn(&Asked, &mut dyn Peer) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let origin = Origin::start(&Ca::new(), "unused.example", answer);
        Self { world: World::new(Caller::all().into_iter().next().unwrap()).unwrap(), origin }
    }

    fn bridge(&self, words: &[&str]) -> Command {
        let mut command = self.world.product(None);
        command
            .arg("bridge")
            .arg(format!("http://{}/mcp?k=v", self.origin.address))
            .arg("--plain")
            .args(words);
        command
    }

    /// Says hello and this, and waits for the end.
    fn ask(&self, messages: &[Value]) -> Ran {
        let ran = self.world.run(&mut self.bridge(&[]), &lines(hello().iter().chain(messages))).unwrap();
        assert!(!ran.late && ran.remains.is_empty(), "{ran:?}");
        ran
    }
}

/// A bridge that is spoken to as it answers.
struct Talk {
    child: Child,
    heard: mpsc::Receiver<Value>,
}

impl Talk {
    fn begin(command: &mut Command) -> Self {
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        let (tell, heard) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if tell.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, heard }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn hear(&self) -> Value {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }

    /// Closes its stdin; how it ended, and what it said besides.
    fn end(mut self) -> (Option<i32>, Vec<Value>) {
        drop(self.child.stdin.take());
        let rest = self.heard.iter().collect();
        (self.child.wait().unwrap().code(), rest)
    }
}
