//! A server that has been started, and calls to it.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A running server after its `initialize`. Dropping it closes its stdin and waits, as a client's goodbye.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    next_id: u64,
}

impl Server {
    /// Starts it and says hello without waiting for the answer.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let mut server = Self { child, stdin, lines, next_id: 1 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "fumehood-bench", "version": "1" },
        });
        server.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }))?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    /// Asks for the tools and waits for them.
    pub(super) fn list(&mut self) -> Result<()> {
        self.ask("tools/list", &json!({}))
    }

    /// Calls a tool and waits for its result.
    pub(super) fn call(&mut self, call: &Value) -> Result<()> {
        self.ask("tools/call", call)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<()> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        for line in self.lines.by_ref() {
            let message: Value = serde_json::from_str(&line?)?;
            if message.get("id") == Some(&json!(id)) {
                return if message.get("result").is_some() {
                    Ok(())
                } else {
                    bail!("the call failed: {message}")
                };
            }
        }
        bail!("the server ended before it answered")
    }

    /// The host pid of what was started.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Says goodbye and waits.
    pub(super) fn end(mut self) -> Result<ExitStatus> {
        self.stdin = None;
        Ok(self.child.wait()?)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        Ok(writeln!(self.stdin.as_mut().context("stdin is closed")?, "{message}")?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stdin = None;
        if self.child.wait().is_err() {
            eprintln!("x: process {} cannot be waited for", self.child.id());
        }
    }
}
