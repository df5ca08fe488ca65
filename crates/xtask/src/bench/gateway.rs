//! What the service costs: the same calls of the same server, directly and through it, with every check and the record on.
//!
//! Rounds are interleaved. The server is one of ours over HTTP with as little of its own as there can be: it runs bare for
//! the one side, and accepted, in a cell, behind the service for the other.

mod load;
mod service;

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use self::load::Target;
use self::service::Process;
use super::Pace;
use super::budget::{judge, judge_least};
use super::summary::Summary;
use super::world::World;
use crate::workspace::Workspace;

/// Tools of the server with a long list.
const MANY: usize = 500;
/// Where the servers listen inside their cells.
const PORT: u16 = 8080;
/// After so long without a call a cell is frozen, and stopped, where that is measured.
const FROZEN: Duration = Duration::from_secs(1);
const STOPPED: Duration = Duration::from_secs(4);

pub(super) fn measure(workspace: &Workspace, product: &Path, pace: Pace) -> Result<Value> {
    let world = World::new(workspace, product)?;
    let script = service::script(&world)?;
    let key = service::key(&world)?;
    world.configure(&configuration(&script, &key.sha256, ""))?;
    for name in ["echo", "many"] {
        service::accept(&world, name)?;
    }
    let mut results = Map::new();
    {
        let bare = service::bare(&script, 1)?;
        let service = service::serve(&world)?;
        results.insert("calls".to_owned(), calls(&bare, &service, &key.text, pace)?);
        results.insert("list".to_owned(), list(&service, &key.text, pace)?);
    }
    world.configure(&configuration(
        &script,
        &key.sha256,
        "[serve]\nidle_freeze = \"1s\"\nidle_stop = \"4s\"\n",
    ))?;
    results.insert("wake".to_owned(), wake(&service::serve(&world)?, &key.text, pace)?);
    results.insert("record".to_owned(), record(workspace, pace)?);
    Ok(Value::Object(results))
}

fn configuration(script: &Path, sha256: &str, serve: &str) -> String {
    let script = script.display();
    let server = |name: &str, tools: usize| {
        format!(
            "[servers.{name}]\ncommand = [\"node\", \"{script}\", \"{PORT}\", \"{tools}\"]\nmounts = [\"{script}\"]\n\
             transport = \"http\"\nport = {PORT}\n"
        )
    };
    format!(
        "{serve}{}{}[servers.echo.tools.echo]\ntier = 1\n[roles.bench]\ntools = [\"*\"]\n\
         [keys.bench]\nsha256 = \"{sha256}\"\nsubject = \"bench\"\nroles = [\"bench\"]\n",
        server("echo", 1),
        server("many", MANY),
    )
}

/// Calls: bare, of a tool of tier 1, of one of tier 2, whose intent is on the disk before it is done.
fn calls(bare: &Process, service: &Process, key: &str, pace: Pace) -> Result<Value> {
    let plain = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#;
    let direct = Target::new(bare.address, "/mcp", &[], plain, "hello");
    let tier_1 = call(service, key, "echo__echo");
    let tier_2 = call(service, key, "many__echo");
    for target in [&direct, &tier_1, &tier_2] {
        target.load(1, pace.of([Duration::from_secs(2), Duration::from_millis(200)]))?;
    }
    let mut results = Map::new();
    let mut budgets = Vec::new();
    for connections in [1, 16, 64] {
        let mut columns: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); 3];
        for _ in 0..pace.of([7, 1]) {
            for (target, (medians, rates)) in [&direct, &tier_1, &tier_2].into_iter().zip(&mut columns) {
                let told = target
                    .load(connections, pace.of([Duration::from_secs(2), Duration::from_millis(300)]))?;
                medians.push(Summary::of(&told.times).context("no calls")?.median);
                rates.push(told.rate);
            }
        }
        let of: Vec<(f64, f64)> =
            columns.into_iter().map(|(medians, rates)| (median(medians), median(rates))).collect();
        let [direct, one, two] = of.as_slice() else { continue };
        println!("  {connections} connection(s)        p50 ms   added    calls/s   over direct");
        for (name, (p50, rate)) in [("direct", direct), ("tier 1", one), ("tier 2", two)] {
            println!(
                "    {name:<18} {p50:>9.3} {:>7.3} {rate:>10.0} {:>8.2}x",
                p50 - direct.0,
                rate / direct.1
            );
        }
        if connections == 1 {
            budgets.push(judge("milliseconds added to a call of tier 1", Some(one.0 - direct.0), 0.12));
        } else {
            let what = format!("calls a second at {connections} connections over direct");
            budgets.push(judge_least(&what, Some(one.1 / direct.1), 0.5));
        }
        let told = |(p50, rate): &(f64, f64)| json!({ "p50_ms": p50, "calls_per_second": rate });
        results.insert(
            connections.to_string(),
            json!({ "direct": told(direct), "tier_1": told(one), "tier_2": told(two) }),
        );
    }
    results.insert("budgets".to_owned(), json!(budgets));
    Ok(Value::Object(results))
}

/// Lists of 500 tools, whole ones: by the Messages API, which has no pages.
fn list(service: &Process, key: &str, pace: Pace) -> Result<Value> {
    let request = modern("tools/list", &json!({}));
    let authorization = format!("Bearer {key}");
    let headers = headers(&authorization, "tools/list", None);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let target = Target::new(service.address, "/mcp", &headers, &request, "echo_1");
    let told = target.load(1, pace.of([Duration::from_secs(5), Duration::from_millis(300)]))?;
    let summary = Summary::of(&told.times).context("no lists")?;
    println!("  a page of a list of {MANY} tools: p50 {:.2} ms, p90 {:.2} ms", summary.median, summary.p90);
    Ok(json!({ "tools": MANY, "p50_ms": summary.median, "p90_ms": summary.p90 }))
}

/// The first call after a cell was frozen, and after it was stopped.
fn wake(service: &Process, key: &str, pace: Pace) -> Result<Value> {
    let target = call(service, key, "echo__echo");
    let (mut warm, mut frozen, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
    target.once()?;
    for round in 0..pace.of([15, 1]) {
        warm.push(target.once()?);
        thread::sleep(FROZEN + Duration::from_millis(300));
        frozen.push(target.once()?);
        if round < pace.of([5, 1]) {
            thread::sleep(STOPPED + Duration::from_millis(700));
            stopped.push(target.once()?);
        }
    }
    let of = |times: &[Duration]| Summary::of(times).map_or(f64::NAN, |summary| summary.median);
    let added = of(&frozen) - of(&warm);
    println!(
        "  a call: warm {:.2} ms, frozen {:.2} ms, stopped {:.0} ms",
        of(&warm),
        of(&frozen),
        of(&stopped)
    );
    let budgets = [judge("milliseconds added to a call of a frozen server", Some(added), 5.0)];
    Ok(
        json!({ "warm_ms": of(&warm), "frozen_ms": of(&frozen), "stopped_ms": of(&stopped), "budgets": budgets }),
    )
}

/// Rows of the record a second.
fn record(workspace: &Workspace, pace: Pace) -> Result<Value> {
    let rows = pace.of(["50000", "2000"]);
    let mut command =
        workspace.cargo(&["run", "-q", "-p", "store", "--profile", "demo", "--example", "audit_bench", "--"]);
    let output = command.arg(rows).output()?;
    let told: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("audit_bench: {}", String::from_utf8_lossy(&output.stderr)))?;
    for (what, number) in told.as_object().into_iter().flatten() {
        println!("  {what}: {number}");
    }
    Ok(told)
}

fn call(service: &Process, key: &str, tool: &str) -> Target {
    let request = modern("tools/call", &json!({ "name": tool, "arguments": { "text": "hello" } }));
    let authorization = format!("Bearer {key}");
    let headers = headers(&authorization, "tools/call", Some(tool));
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Target::new(service.address, "/mcp", &headers, &request, "hello")
}

/// A request of the revision 2026-07-28, which needs no session.
fn modern(method: &str, params: &Value) -> String {
    let mut params = params.clone();
    if let Value::Object(params) = &mut params {
        params.insert(
            "_meta".to_owned(),
            json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }),
        );
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

fn headers(authorization: &str, method: &str, name: Option<&str>) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("authorization", authorization.to_owned()),
        ("mcp-protocol-version", "2026-07-28".to_owned()),
        ("mcp-method", method.to_owned()),
    ];
    headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
    headers
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
