//! What it costs to freeze a server that idles, and to thaw it for a call.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::api::ask;
use super::budget::judge;
use super::summary::Summary;
use super::world::World;
use crate::workspace::Workspace;

const ROUNDS: usize = 100;

pub(super) fn measure(workspace: &Workspace, product: &Path) -> Result<Value> {
    let world = World::new(workspace, product)?;
    let mut server = super::server::Server::start(&mut world.confined("memory"))?;
    let call = json!({ "name": "search_nodes", "arguments": { "query": "nothing" } });
    server.call(&call)?;
    let socket = world.sockets().into_iter().next().context("the running cell has no socket")?;
    let (mut running, mut freezing, mut thawing) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        running.push(timed(|| server.call(&call))?);
        freezing.push(timed(|| ask(&socket, "POST", "/v1/cell/freeze").map(drop))?);
        thawing.push(timed(|| {
            ask(&socket, "POST", "/v1/cell/thaw")?;
            server.call(&call)
        })?);
    }
    server.end()?;
    let median = |times: &[Duration]| Summary::of(times).map_or(f64::NAN, |summary| summary.median);
    let added = median(&thawing) - median(&running);
    println!("  a call to a running server    {:>7.2} ms", median(&running));
    println!("  freeze                        {:>7.2} ms", median(&freezing));
    println!("  thaw and call                 {:>7.2} ms, added {added:.2} ms", median(&thawing));
    Ok(json!({
        "rounds": ROUNDS,
        "call_ms": median(&running),
        "freeze_ms": median(&freezing),
        "thaw_and_call_ms": median(&thawing),
        "added_ms": added,
        "budgets": [judge("milliseconds added to a call", Some(added), 5.0)],
    }))
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}
