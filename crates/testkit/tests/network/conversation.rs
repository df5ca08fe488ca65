//! Speaking MCP over stdio with a server that takes its time to come up.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long an answer may take: packages are fetched first.
const PATIENCE: Duration = Duration::from_secs(100);

/// A running server.
#[derive(Debug)]
pub(crate) struct Conversation {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: thread::JoinHandle<String>,
    last: u64,
}

impl Conversation {
    /// Starts it and initializes.
    pub(crate) fn begin(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (said, lines) = channel();
        let stdout = child.stdout.take().unwrap();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = Vec::new();
            // What was said before an error counts.
            stderr.read_to_end(&mut text).ok();
            String::from_utf8_lossy(&text).into_owned()
        });
        let stdin = child.stdin.take();
        let mut conversation = Self { child, stdin, lines, stderr, last: 0 };
        let client = json!({"name": "fumehood-test", "version": "1"});
        conversation.ask(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        conversation.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        conversation
    }

    /// The result of a request.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                // Whoever waits for its stderr needs its end.
                self.child.kill().ok();
                panic!(
                    "no answer to `{method}`: {}",
                    std::mem::replace(&mut self.stderr, thread::spawn(String::new)).join().unwrap()
                );
            };
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// The names of its tools.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let result = self.ask("tools/list", &json!({}));
        let tools = result["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes stdin and waits for the end; what was said on stderr.
    pub(crate) fn end(mut self) -> String {
        drop(self.stdin.take());
        self.child.wait().unwrap();
        self.stderr.join().unwrap()
    }

    fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        // A server that has ended is told of by the answer that does not come.
        self.stdin.as_mut().unwrap().write_all(line.as_bytes()).ok();
    }
}
