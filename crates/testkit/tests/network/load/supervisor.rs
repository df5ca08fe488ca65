//! A cell's supervisor, seen from outside: its API, its descriptors, its memory.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    path::PathBuf,
    time::Duration,
};

use serde_json::{Value, json};

/// How long an order may take. It has far less to do, but the machine is busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// A supervisor that runs.
#[derive(Debug, Clone)]
pub(super) struct Supervisor {
    pid: u64,
    socket: PathBuf,
}

impl Supervisor {
    /// The one of an entry of `fumehood ps --json`; `state` is Fumehood's state folder.
    pub(super) fn of(cell: &Value, state: &std::path::Path) -> Self {
        let socket = state.join("cells").join(cell["id"].as_str().unwrap()).join("api.sock");
        Self { pid: cell["supervisor"].as_u64().unwrap(), socket }
    }

    /// Puts a list of hosts in force: the answer, which comes after the cut.
    pub(super) fn set_hosts(&self, hosts: &[String]) -> Value {
        self.ask("PUT", &json!({"hosts": hosts}).to_string())
    }

    /// Connections that are open.
    pub(super) fn flows(&self) -> u64 {
        self.ask("GET", "")["flows"].as_u64().unwrap()
    }

    /// Its descriptors by what they are: `socket`, `pipe`, `anon_inode`, or a path.
    pub(super) fn descriptors(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for entry in fs::read_dir(format!("/proc/{}/fd", self.pid)).unwrap().flatten() {
            // It may be closed by now.
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            let target = target.display().to_string();
            let kind = if target.starts_with('/') { &target } else { target.split(':').next().unwrap() };
            *counts.entry(kind.to_owned()).or_default() += 1;
        }
        counts
    }

    /// Its proportional share of memory, in KiB.
    pub(super) fn memory(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    fn ask(&self, method: &str, body: &str) -> Value {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "{method} /v1/cell/network HTTP/1.1\r\nHost: cell\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).unwrap()
    }
}
