//! A server that runs in a cell and is spoken to over its stdio.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// How long anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// `fumehood run` of a server; it ends with this.
pub(super) struct Confined {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
    said: Receiver<String>,
    last: u64,
}

impl Confined {
    /// Starts it.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("`fumehood` could not be started")?;
        let stdin = child.stdin.take();
        let answers = lines(child.stdout.take().context("no stdout")?);
        let said = lines(child.stderr.take().context("no stderr")?);
        Ok(Self { child, stdin, answers, said, last: 0 })
    }

    /// The result of a request.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last += 1;
        let line = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        let mut stdin = self.stdin.as_ref().context("its stdin is closed")?;
        stdin.write_all(format!("{line}\n").as_bytes()).context("it does not listen any more")?;
        let Ok(line) = self.answers.recv_timeout(PATIENCE) else {
            let said: Vec<String> = self.said.try_iter().collect();
            bail!("the confined server does not answer; {}", said.join(" / "));
        };
        let answer: Value = serde_json::from_str(&line).with_context(|| format!("it said `{line}`"))?;
        answer.get("result").cloned().with_context(|| format!("it answered `{line}`"))
    }

    /// What `fumehood run` says on the terminal, up to the first line that holds `last`.
    pub(super) fn says_until(&self, last: &str) -> Result<Vec<String>> {
        let deadline = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.said.recv_timeout(left) else {
                bail!("`fumehood run` did not say `{last}`, but: {}", said.join(" / "));
            };
            said.push(line);
            if said.last().is_some_and(|line| line.contains(last)) {
                return Ok(said);
            }
        }
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
        // Nothing where it has ended; the cell ends with it.
        if self.child.kill().and_then(|()| self.child.wait()).is_err() {
            eprintln!("x: the confined server of the demonstration may still run");
        }
    }
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (say, said) = channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if say.send(line).is_err() {
                return;
            }
        }
    });
    said
}
