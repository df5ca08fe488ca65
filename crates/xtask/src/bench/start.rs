//! How long a start takes: bare, confined, in bubblewrap, and in `unshare` with the same namespaces and nothing else.
//!
//! `true` is timed until it has ended; a server until its first call is answered. Rounds are interleaved, so a busy
//! moment of the machine hits all alike.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::budget::judge;
use super::server::Server;
use super::summary::Summary;
use super::world::World;
use crate::workspace::Workspace;

/// What stands around the program, in the order in which a round runs it.
const AROUND: &[&str] = &["bare", "unshare", "bwrap", "fumehood"];

struct Workload {
    name: &'static str,
    /// The npm server it is; none for a program of the host.
    server: Option<&'static str>,
    rounds: usize,
    program: Vec<String>,
    /// The call whose answer ends the time; none to wait for the program's end.
    call: Option<Value>,
}

pub(super) fn measure(workspace: &Workspace, product: &Path) -> Result<Value> {
    let world = World::new(workspace, product)?;
    let mut results = Map::new();
    for workload in workloads(&world) {
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); AROUND.len()];
        // The first round fills caches and is not counted.
        for round in 0..=workload.rounds {
            for (around, times) in AROUND.iter().zip(&mut times) {
                let time =
                    once(&world, around, &workload).with_context(|| format!("{} {around}", workload.name))?;
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
    let fumehood_over = |base: &str| Some(median("fumehood")? / median(base)?);
    let budgets: Vec<Value> = workload
        .budgets()
        .iter()
        .map(|(base, most)| judge(&format!("{} over {base}", workload.name), fumehood_over(base), *most))
        .collect();
    result.insert("budgets".to_owned(), budgets.into());
    Value::Object(result)
}

impl Workload {
    /// Over what a confined start may take how many times as long.
    fn budgets(&self) -> &'static [(&'static str, f64)] {
        if self.server.is_some() { &[("bare", 1.05)] } else { &[("unshare", 2.0), ("bwrap", 0.6)] }
    }
}

fn workloads(world: &World) -> Vec<Workload> {
    let call = |name: &str, arguments: Value| Some(json!({ "name": name, "arguments": arguments }));
    vec![
        Workload { name: "true", server: None, rounds: 40, program: vec!["true".to_owned()], call: None },
        Workload {
            name: "server-memory",
            server: Some("memory"),
            rounds: 15,
            program: world.server("memory"),
            call: call("search_nodes", json!({ "query": "nothing" })),
        },
        Workload {
            name: "server-everything",
            server: Some("everything"),
            rounds: 15,
            program: world.server("everything"),
            call: call("echo", json!({ "message": "hello" })),
        },
    ]
}

fn once(world: &World, around: &str, workload: &Workload) -> Result<Duration> {
    let mut command = command(world, around, workload);
    World::without_own_roots(&mut command);
    let start = Instant::now();
    let Some(call) = &workload.call else {
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
        let time = start.elapsed();
        return if status.success() { Ok(time) } else { bail!("ended with {status}") };
    };
    let mut server = Server::start(&mut command)?;
    server.call(call)?;
    let time = start.elapsed();
    server.end()?;
    Ok(time)
}

fn command(world: &World, around: &str, workload: &Workload) -> Command {
    let mut command = match (around, workload.server) {
        ("fumehood", Some(server)) => return world.confined(server),
        ("fumehood", None) => return world.exec(&workload.program),
        ("unshare", _) => {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]);
            command.args(["--net", "--ipc", "--uts", "--cgroup", "--"]);
            command
        }
        ("bwrap", _) => {
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
        // `env` would be one more program to start.
        _ => return bare(world, &workload.program),
    };
    command.args(&workload.program);
    world.settle(&mut command);
    command
}

fn bare(world: &World, program: &[String]) -> Command {
    let mut words = program.iter();
    let mut command = Command::new(words.next().map_or("true", String::as_str));
    command.args(words);
    world.settle(&mut command);
    command
}
