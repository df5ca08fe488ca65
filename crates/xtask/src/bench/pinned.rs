//! How long a server from the store takes to its list and to its first call: bare, by a warm `npx`, and pinned and accepted.
//!
//! The bare server is the very tree of the store, so all three run the same files. Rounds are interleaved.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::Pace;
use super::budget::judge;
use super::server::Server;
use super::summary::Summary;
use super::world::World;
use crate::workspace::Workspace;

const AROUND: &[&str] = &["bare", "npx", "fumehood"];

struct Pinned {
    name: &'static str,
    package: String,
    /// The program of the tree, as it is started bare.
    bare: Vec<String>,
    call: Value,
}

/// Time to the list and to the first call, of one start.
#[derive(Default)]
struct Times {
    list: Vec<Duration>,
    call: Vec<Duration>,
}

pub(super) fn measure(workspace: &Workspace, product: &Path, pace: Pace) -> Result<Value> {
    let world = World::new(workspace, product)?;
    let rounds = pace.of([15, 2]);
    let mut results = Map::new();
    for (name, call) in [
        ("memory", json!({ "name": "search_nodes", "arguments": { "query": "nothing" } })),
        ("everything", json!({ "name": "echo", "arguments": { "message": "hello" } })),
    ] {
        let pinned = install(&world, name, call).with_context(|| format!("installing server-{name}"))?;
        let mut times: Vec<Times> = AROUND.iter().map(|_| Times::default()).collect();
        // The first round fills caches and is not counted.
        for round in 0..=rounds {
            for (around, times) in AROUND.iter().zip(&mut times) {
                let (list, call) =
                    once(&world, around, &pinned).with_context(|| format!("{} {around}", pinned.name))?;
                if round > 0 {
                    times.list.push(list);
                    times.call.push(call);
                }
            }
        }
        results.insert(pinned.name.to_owned(), tell(&pinned, &times, rounds));
    }
    Ok(Value::Object(results))
}

/// Adds it, accepts it, and finds its files.
fn install(world: &World, name: &'static str, call: Value) -> Result<Pinned> {
    let program = world.server(name);
    let script = program.get(1).context("no script")?;
    let manifest = Path::new(script).ancestors().nth(2).context("no package")?.join("package.json");
    let manifest: Value = serde_json::from_str(&std::fs::read_to_string(manifest)?)?;
    let version = manifest.get("version").and_then(Value::as_str).context("no version")?;
    let package = format!("@modelcontextprotocol/server-{name}@{version}");
    // Not accepted yet is what it is to say.
    world.fumehood(&["add", name, &format!("npx:{package}")]).stdin(Stdio::null()).output()?;
    let listed = world.fumehood(&["list", "--json"]).output()?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    let row = listed.as_array().into_iter().flatten().find(|row| row.get("name") == Some(&json!(name)));
    let fingerprint =
        row.and_then(|row| row.get("fingerprint")).and_then(Value::as_str).context("it was not pinned")?;
    let accepted = world.fumehood(&["review", name, "--accept", fingerprint]).output()?;
    if !accepted.status.success() {
        bail!("it was not accepted: {}", String::from_utf8_lossy(&accepted.stderr));
    }
    let stored = world.fumehood(&["store", "list", "--json"]).output()?;
    let stored: Value = serde_json::from_slice(&stored.stdout)?;
    let used = |row: &&Value| {
        row.get("used_by").and_then(Value::as_array).is_some_and(|names| names.contains(&json!(name)))
    };
    let row = stored.as_array().into_iter().flatten().find(used).context("it is not in the store")?;
    let folder = row.get("folder").and_then(Value::as_str).context("no folder")?;
    let bare = format!("{folder}/node_modules/@modelcontextprotocol/server-{name}/dist/index.js");
    let shown = if name == "memory" { "server-memory" } else { "server-everything" };
    Ok(Pinned { name: shown, package, bare: vec!["node".to_owned(), bare], call })
}

fn once(world: &World, around: &str, pinned: &Pinned) -> Result<(Duration, Duration)> {
    let mut command = match around {
        "fumehood" => world.fumehood(&["run", "--strict", pinned.name.trim_start_matches("server-")]),
        "npx" => {
            let mut command = Command::new("npx");
            command.args(["--yes", &pinned.package]).env("npm_config_cache", world.file("npx-cache"));
            command
        }
        _ => {
            let mut command = Command::new("node");
            command.args(pinned.bare.iter().skip(1));
            command
        }
    };
    world.settle(&mut command);
    // npx may ask its registry, which this machine may trust by them alone.
    if around != "npx" {
        World::without_own_roots(&mut command);
    }
    let start = Instant::now();
    let mut server = Server::start(&mut command)?;
    server.list()?;
    let list = start.elapsed();
    server.call(&pinned.call)?;
    let call = start.elapsed();
    server.end()?;
    Ok((list, call))
}

fn tell(pinned: &Pinned, times: &[Times], rounds: usize) -> Value {
    let mut result =
        Map::from_iter([("rounds".to_owned(), json!(rounds)), ("package".to_owned(), json!(pinned.package))]);
    let mut median = |what: &str, of: fn(&Times) -> &[Duration]| -> Vec<Option<f64>> {
        let bare = times.first().and_then(|times| Summary::of(of(times))).map(|summary| summary.median);
        AROUND
            .iter()
            .zip(times)
            .map(|(around, times)| {
                let summary = Summary::of(of(times))?;
                let over = bare.map(|bare| summary.median / bare);
                println!(
                    "  {:<18} {what:<5} {around:<9} {:>8.1} ms ({:.1} to {:.1}), {:.2}x bare",
                    pinned.name,
                    summary.median,
                    summary.p10,
                    summary.p90,
                    over.unwrap_or(f64::NAN)
                );
                let numbers = json!({
                    "median_ms": summary.median, "p10_ms": summary.p10, "p90_ms": summary.p90, "over_bare": over,
                });
                result.insert(format!("{what} {around}"), numbers);
                Some(summary.median)
            })
            .collect()
    };
    let list = median("list", |times| &times.list);
    let call = median("call", |times| &times.call);
    let ratio = |of: &[Option<f64>], base: usize| Some((*of.get(2)?)? / (*of.get(base)?)?);
    let budgets = vec![
        judge(&format!("{}: list over bare", pinned.name), ratio(&list, 0), 0.1),
        judge(&format!("{}: first call over bare", pinned.name), ratio(&call, 0), 1.05),
        judge(&format!("{}: first call over warm npx", pinned.name), ratio(&call, 1), 0.5),
    ];
    result.insert("budgets".to_owned(), budgets.into());
    Value::Object(result)
}
