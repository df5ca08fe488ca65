//! A client's side of a conversation over stdio, one question at a time.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long one answer may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);
/// The most pages of one list.
const PAGES: usize = 20;

/// A server that is being spoken to.
pub(crate) struct Talk {
    program: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    asked: u64,
}

impl Talk {
    /// Starts it and says hello, with the capabilities of a client that has none and under this name.
    pub(crate) fn begin(command: &mut Command, client: &str) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let (tell, lines) = mpsc::channel();
        let stdout = BufReader::new(program.stdout.take().unwrap());
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let mut stderr = program.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut said = Vec::new();
            // What was said before an error counts.
            stderr.read_to_end(&mut said).ok();
            String::from_utf8_lossy(&said).into_owned()
        });
        let stdin = program.stdin.take();
        let mut talk = Self { program, stdin, lines, stderr: Some(stderr), asked: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": client, "version": "1"},
        });
        let answer = talk.ask("initialize", &hello);
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        talk
    }

    /// The tools, all pages of them, by name.
    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let mut tools = Vec::new();
        let mut parameters = json!({});
        for _ in 0..PAGES {
            let answer = self.ask("tools/list", &parameters);
            let page = answer["result"]["tools"].as_array();
            tools.extend(page.unwrap_or_else(|| panic!("{answer}")).iter().cloned());
            let Some(next) = answer["result"].get("nextCursor") else {
                tools.sort_by_key(|tool| tool["name"].as_str().map(str::to_owned));
                return tools;
            };
            parameters = json!({"cursor": next});
        }
        panic!("more than {PAGES} pages of tools")
    }

    /// The answer to a call.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Leaves, and waits until it is gone. Its exit code, and what it said on stderr.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        self.stdin = None;
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.program.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it goes on though its client has left");
            thread::sleep(Duration::from_millis(20));
        };
        let said = self.stderr.take().map(|stderr| stderr.join().unwrap());
        (status.code(), said.unwrap_or_default())
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else { self.give_up(method) };
            // Some servers say on stdout what is no message.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else { continue };
            let answer = match message["method"].as_str() {
                Some("ping") => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
                _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "not here"}}),
            };
            self.say(&answer);
        }
    }

    fn say(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        // One that is gone is noticed by its silence.
        stdin.write_all(format!("{message}\n").as_bytes()).and_then(|()| stdin.flush()).ok();
    }

    fn give_up(&mut self, method: &str) -> ! {
        self.program.kill().unwrap();
        let said = self.stderr.take().map(|stderr| stderr.join().unwrap());
        panic!("`{method}` was not answered: {}", said.unwrap_or_default())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // One that ended by itself needs neither.
        self.program.kill().and_then(|()| self.program.wait()).ok();
    }
}
