//! One run of the product with somebody at its stdin and stdout, who waits for what is said.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// Nothing here takes longer, on however busy a machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A client of the product.
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    heard: Vec<String>,
    stderr: Option<JoinHandle<String>>,
    asked: u64,
    /// The answer to `initialize`.
    pub(crate) hello: Value,
}

/// How a session, or a run without one, ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Exit code; nothing where a signal ended it.
    pub(crate) code: Option<i32>,
    /// Everything it said on stdout, line by line.
    pub(crate) heard: Vec<String>,
    /// Everything it said on stderr.
    pub(crate) stderr: String,
}

impl Session {
    /// Starts it, and says nothing yet.
    pub(crate) fn begin(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let mut pipe = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut said = Vec::new();
            // What was said before an error counts.
            pipe.read_to_end(&mut said).ok();
            String::from_utf8_lossy(&said).into_owned()
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, heard: Vec::new(), stderr: Some(stderr), asked: 0, hello: Value::Null }
    }

    /// Starts it, and says hello.
    pub(crate) fn with_hello(command: &mut Command) -> Self {
        let mut session = Self::begin(command);
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        session.hello = session.ask("initialize", &hello)["result"].clone();
        session.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    /// The process that was started.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn say(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        // One that has ended already is told of by what is waited for.
        stdin.write_all(format!("{message}\n").as_bytes()).and_then(|()| stdin.flush()).ok();
    }

    /// Sends a request; its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request, with `result` or `error`.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait(&format!("an answer to {id}"), |message| message["id"] == id)
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The list of tools as the client sees it.
    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let answer = self.ask("tools/list", &json!({}));
        answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// Everything that a model would read of the server, as one text.
    pub(crate) fn everything(&mut self) -> String {
        let lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
        let mut text = self.hello.to_string();
        for list in lists {
            let mut cursor = json!({});
            loop {
                let result = self.ask(list, &cursor)["result"].clone();
                text += &result.to_string();
                let Some(next) = result.get("nextCursor") else { break };
                cursor = json!({ "cursor": next });
            }
        }
        text
    }

    /// The names of the tools.
    pub(crate) fn names(&mut self) -> Vec<String> {
        self.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What the call of a tool says, or why it was refused.
    pub(crate) fn call(&mut self, tool: &str) -> String {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        said(&answer)
    }

    /// Waits until the client was told that a list has changed.
    pub(crate) fn wait_for_change(&mut self, list: &str) {
        let method = format!("notifications/{list}/list_changed");
        self.wait(&method, |message| message["method"] == *method);
    }

    /// Waits for the first message of a kind, which may have come already; it is not found a second time.
    fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let parsed = self.heard.iter().map(|line| serde_json::from_str(line).unwrap_or(Value::Null));
            if let Some((at, message)) = parsed.enumerate().find(|(_, message)| is_it(message)) {
                self.heard.remove(at);
                return message;
            }
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.heard.push(line),
                Err(RecvTimeoutError::Timeout) => panic!("there was no {what}; heard: {:?}", self.heard),
                Err(RecvTimeoutError::Disconnected) => {
                    let ended = self.end();
                    panic!("there was no {what} before the end: {ended:?}");
                }
            }
        }
    }

    /// Takes the client away, and waits for the end of the run.
    pub(crate) fn end(&mut self) -> Ended {
        drop(self.stdin.take());
        self.wait_for_end()
    }

    /// Waits for the end of the run while the client stays.
    pub(crate) fn wait_for_end(&mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("it did not end");
            }
            thread::sleep(Duration::from_millis(5));
        };
        let mut heard = std::mem::take(&mut self.heard);
        heard.extend(self.lines.iter());
        let stderr = self.stderr.take().and_then(|said| said.join().ok()).unwrap_or_default();
        Ended { code: status.code(), heard, stderr }
    }

    /// Kills the process, as nothing else can be ended.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Ended {
    /// Everything it said on stdout, as one text.
    pub(crate) fn stdout(&self) -> String {
        self.heard.join("\n")
    }

    /// As one JSON value, which was printed on several lines.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Text of a call's result, or of an error.
pub(crate) fn said(answer: &Value) -> String {
    let text =
        answer["result"]["content"][0]["text"].as_str().or_else(|| answer["error"]["message"].as_str());
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Runs a command that reads nothing to its end.
pub(crate) fn run(command: &mut Command) -> Ended {
    Session::begin(command).end()
}
