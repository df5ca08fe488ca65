//! How long a start takes: bare, confined, in bubblewrap, and in `unshare` with the same namespaces and nothing else.
//!
//! `true` is timed until it has ended; a server until its first call is answered. Rounds are interleaved, so a busy
//! moment of the machine hits all alike.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::summary::Summary;
use crate::workspace::Workspace;

/// What stands around the program, in the order in which a round runs it.
const AROUND: &[&str] = &["bare", "unshare", "bwrap", "fumehood"];

struct Workload {
    name: &'static str,
    rounds: usize,
    program: Vec<String>,
    /// The call whose answer ends the time; none to wait for the program's end.
    call: Option<Value>,
}

struct Bench<'a> {
    product: &'a Path,
    packages: PathBuf,
    state: TempDir,
}

pub(super) fn measure(workspace: &Workspace, product: &Path) -> Result<Value> {
    let bench = Bench {
        product,
        packages: workspace.cache.join("npm"),
        state: TempDir::with_prefix("fumehood-bench-")?,
    };
    let mut results = Map::new();
    for workload in bench.workloads() {
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); AROUND.len()];
        // The first round fills caches and is not counted.
        for round in 0..=workload.rounds {
            for (around, times) in AROUND.iter().zip(&mut times) {
                let time =
                    bench.once(around, &workload).with_context(|| format!("{} {around}", workload.name))?;
                if round > 0 {
                    times.push(time);
                }
            }
        }
        results.insert(workload.name.to_owned(), tell(&workload, &times));
    }
    Ok(Value::Object(results))
}

/// Prints and returns medians and their ratios.
fn tell(workload: &Workload, times: &[Vec<Duration>]) -> Value {
    let summaries: Vec<(&str, Summary)> =
        AROUND.iter().zip(times).filter_map(|(around, times)| Some((*around, Summary::of(times)?))).collect();
    let median =
        |name: &str| summaries.iter().find(|(around, _)| *around == name).map(|(_, summary)| summary.median);
    let mut result = Map::from_iter([("rounds".to_owned(), json!(workload.rounds))]);
    for (around, summary) in &summaries {
        let over = |base: &str| median(base).map(|base| summary.median / base);
        println!(
            "  {:<18} {around:<9} {:>8.1} ms ({:.1} to {:.1}), {:.2}x bare, {:.2}x unshare, {:.2}x bwrap",
            workload.name,
            summary.median,
            summary.p10,
            summary.p90,
            over("bare").unwrap_or(f64::NAN),
            over("unshare").unwrap_or(f64::NAN),
            over("bwrap").unwrap_or(f64::NAN),
        );
        let numbers = json!({
            "median_ms": summary.median,
            "p10_ms": summary.p10,
            "p90_ms": summary.p90,
            "over_bare": over("bare"),
            "over_unshare": over("unshare"),
            "over_bwrap": over("bwrap"),
        });
        result.insert((*around).to_owned(), numbers);
    }
    Value::Object(result)
}

impl Bench<'_> {
    fn workloads(&self) -> Vec<Workload> {
        let server = |name: &str| {
            let path =
                self.packages.join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
            vec!["node".to_owned(), path.display().to_string()]
        };
        let call = |name: &str, arguments: Value| Some(json!({ "name": name, "arguments": arguments }));
        vec![
            Workload { name: "true", rounds: 40, program: vec!["true".to_owned()], call: None },
            Workload {
                name: "server-memory",
                rounds: 15,
                program: server("memory"),
                call: call("search_nodes", json!({ "query": "nothing" })),
            },
            Workload {
                name: "server-everything",
                rounds: 15,
                program: server("everything"),
                call: call("echo", json!({ "message": "hello" })),
            },
        ]
    }

    fn once(&self, around: &str, workload: &Workload) -> Result<Duration> {
        let mut command = self.command(around, workload);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn()?;
        let Some(call) = &workload.call else {
            let status = child.wait()?;
            let time = start.elapsed();
            return if status.success() { Ok(time) } else { bail!("ended with {status}") };
        };
        let answered = first_call(&mut child, call);
        let time = start.elapsed();
        // Its stdin is closed by now, which is how a client says goodbye.
        let status = child.wait()?;
        answered.with_context(|| format!("no answer ({status})"))?;
        Ok(time)
    }

    fn command(&self, around: &str, workload: &Workload) -> Command {
        let mut command = match around {
            "unshare" => {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]);
                command.args(["--net", "--ipc", "--uts", "--cgroup", "--"]);
                command
            }
            "bwrap" => {
                let mut command = Command::new("bwrap");
                command.args(["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]);
                command.args([
                    "--ro-bind",
                    "/",
                    "/",
                    "--proc",
                    "/proc",
                    "--dev",
                    "/dev",
                    "--tmpfs",
                    "/dev/shm",
                    "--",
                ]);
                command
            }
            "fumehood" => {
                let mut command = Command::new(self.product);
                if workload.call.is_some() {
                    command.args(["run", "--name", workload.name, "--mount"]).arg(&self.packages);
                } else {
                    command.arg("exec");
                }
                command.arg("--");
                command
            }
            _ => Command::new("env"),
        };
        command.args(&workload.program);
        for name in ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
            command.env(name, self.state.path());
        }
        // The memory server otherwise writes into its own package, which is read-only inside.
        command.env("MEMORY_FILE_PATH", self.state.path().join("memory.jsonl"));
        command.current_dir(self.state.path());
        command
    }
}

/// Says hello, calls, and waits for the answer.
fn first_call(child: &mut Child, call: &Value) -> Result<()> {
    let mut stdin = child.stdin.take().context("no stdin")?;
    let stdout = child.stdout.take().context("no stdout")?;
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "fumehood-bench", "version": "1" },
    });
    writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }))?;
    writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))?;
    for line in BufReader::new(stdout).lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message.get("id") == Some(&json!(2)) {
            return if message.get("result").is_some() {
                Ok(())
            } else {
                bail!("the call failed: {message}")
            };
        }
    }
    bail!("the server ended before it answered")
}
