//! Just enough of a supervisor's API to measure it: one request a connection.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The sockets of the cells whose state is below `state` (as in `XDG_STATE_HOME`).
pub(super) fn sockets(state: &Path) -> Vec<PathBuf> {
    let cells = fs::read_dir(state.join("fumehood/cells")).into_iter().flatten().flatten();
    cells.map(|cell| cell.path().join("api.sock")).filter(|socket| socket.exists()).collect()
}

/// Sends a request without a body and reads the JSON of its answer.
pub(super) fn ask(socket: &Path, method: &str, path: &str) -> Result<Value> {
    exchange(socket, method, path, "")
}

/// Sends JSON and reads that of the answer.
pub(super) fn send(socket: &Path, method: &str, path: &str, body: &Value) -> Result<Value> {
    exchange(socket, method, path, &body.to_string())
}

fn exchange(socket: &Path, method: &str, path: &str, body: &str) -> Result<Value> {
    let mut stream =
        UnixStream::connect(socket).with_context(|| format!("cannot connect to `{}`", socket.display()))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: cell\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the supervisor gave no answer")?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("the supervisor refused {method} {path}: {body}");
    }
    serde_json::from_str(body).with_context(|| format!("the supervisor answered `{body}`"))
}
