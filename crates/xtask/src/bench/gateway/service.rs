//! The service, with servers that were accepted, and the same server without it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::world::World;

/// A process that is ended with the measurement.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Drop for Process {
    fn drop(&mut self) {
        // By the signal that lets it end its cells; one that is gone is what is wanted.
        Command::new("kill").arg(self.child.id().to_string()).status().ok();
        self.child.wait().ok();
    }
}

/// The key of the one caller.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) sha256: String,
}

/// Makes a key.
pub(super) fn key(world: &World) -> Result<Key> {
    let output = world.fumehood(&["serve", "--new-key", "bench", "--json"]).output()?;
    let printed: Value = serde_json::from_slice(&output.stdout).context("`serve --new-key`")?;
    let text = |name: &str| printed.get(name).and_then(Value::as_str).map(str::to_owned).context("no key");
    Ok(Key { text: text("key")?, sha256: text("sha256")? })
}

/// Pins a declared server and accepts it.
pub(super) fn accept(world: &World, name: &str) -> Result<()> {
    world.fumehood(&["lock", name]).stdin(Stdio::null()).output()?;
    let review = world.fumehood(&["review", name, "--json"]).output()?;
    let review: Value = serde_json::from_slice(&review.stdout)
        .with_context(|| format!("reviewing {name}: {}", String::from_utf8_lossy(&review.stderr)))?;
    let fingerprint = review.get("fingerprint").and_then(Value::as_str).context("no fingerprint")?;
    let accepted = world.fumehood(&["review", name, "--accept", fingerprint]).output()?;
    if !accepted.status.success() {
        bail!("{name} was not accepted: {}", String::from_utf8_lossy(&accepted.stderr));
    }
    Ok(())
}

/// Starts the service at a free port.
pub(super) fn serve(world: &World) -> Result<Process> {
    let mut command = world.fumehood(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let stderr = BufReader::new(child.stderr.take().context("no stderr")?);
    listening(child, stderr, |line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let is_it = line.get("message").and_then(Value::as_str) == Some("serving");
        line.get("address").and_then(Value::as_str).filter(|_| is_it)?.parse().ok()
    })
}

/// Starts the server without anything around it.
pub(super) fn bare(script: &Path, tools: usize) -> Result<Process> {
    let mut command = Command::new("node");
    command.arg(script).args(["0", &tools.to_string()]);
    World::without_own_roots(&mut command);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let stderr = BufReader::new(child.stderr.take().context("no stderr")?);
    listening(child, stderr, |line| {
        let port = line.strip_prefix("listening ")?.trim().parse().ok()?;
        Some(SocketAddr::from(([127, 0, 0, 1], port)))
    })
}

/// Waits until a process has said where it listens, and reads on so that it is never held up.
fn listening(
    mut child: Child,
    mut stderr: BufReader<impl std::io::Read + Send + 'static>,
    address: impl Fn(&str) -> Option<SocketAddr>,
) -> Result<Process> {
    let mut said = String::new();
    loop {
        let mut line = String::new();
        if stderr.read_line(&mut line)? == 0 {
            child.wait()?;
            bail!("it ended instead of listening: {said}");
        }
        if let Some(address) = address(&line) {
            thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
            return Ok(Process { child, address });
        }
        said.push_str(&line);
    }
}

/// Lays the server's script down.
pub(super) fn script(world: &World) -> Result<PathBuf> {
    let path = world.file("echo.mjs");
    std::fs::write(&path, include_str!("echo.mjs"))?;
    Ok(path)
}
