//! How long it takes to take a host away: from the order to the acknowledgement, with many connections open.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::load::Order;
use super::peer::{Client, Target};
use crate::bench::Pace;
use crate::bench::api;
use crate::bench::budget::judge;
use crate::bench::world::World;

/// The host that is taken away and given back.
pub(super) const GOING: &str = "going.example.com";
/// A host whose connections go on.
pub(super) const STAYING: &str = "staying.example.com";

const PORT: u16 = 7000;
const CUT: u32 = 1_000;
const KEPT: u32 = 100;

/// Rounds of a whole measurement, and of a quick one.
const ROUNDS: [usize; 2] = [100, 3];

/// The rules of both.
pub(super) fn hosts() -> [String; 2] {
    [GOING, STAYING].map(|name| format!("tcp://{name}:{PORT}"))
}

pub(super) fn measure(world: &World, client: &mut Client, pace: Pace) -> Result<Value> {
    let rounds = pace.of(ROUNDS);
    let sockets = world.sockets();
    let [socket] = sockets.as_slice() else { bail!("{} cells have a socket, not one", sockets.len()) };
    let all = api::ask(socket, "GET", "/v1/cell/network")?;
    let all: Vec<String> = serde_json::from_value(all.get("hosts").cloned().context("no list of hosts")?)?;
    let fewer: Vec<&String> = all.iter().filter(|rule| !rule.contains(GOING)).collect();
    let (going, staying) = (Target::new(GOING, PORT, None), Target::new(STAYING, PORT, None));
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..rounds {
        client.order(&going, Order::Hold(CUT))?;
        client.order(&staying, Order::Hold(KEPT))?;
        let begun = Instant::now();
        let changed = api::send(socket, "PUT", "/v1/cell/network", &json!({ "hosts": fewer }))?;
        times.push(begun.elapsed());
        let released = client.order(&staying, Order::Release)?;
        if changed.get("cut") != Some(&json!(CUT)) || released != json!({ "answered": KEPT, "cut": CUT }) {
            bail!(
                "{CUT} connections were to be cut and {KEPT} to go on: {changed}, and the client: {released}"
            );
        }
        api::send(socket, "PUT", "/v1/cell/network", &json!({ "hosts": all }))?;
    }
    times.sort_unstable();
    let at = |percent: usize| {
        let index = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(index).map(|time| time.as_secs_f64() * 1000.0)
    };
    let (p50, p99) = (at(50), at(99));
    println!(
        "  {CUT} connections cut, {KEPT} kept: acknowledged after {:.1} ms p50, {:.1} ms p99 of {rounds}",
        p50.unwrap_or(f64::NAN),
        p99.unwrap_or(f64::NAN)
    );
    Ok(json!({
        "cut": CUT, "kept": KEPT, "rounds": rounds, "p50_ms": p50, "p99_ms": p99,
        "budgets": [judge("milliseconds to a cut of 1,000, p99", p99, 50.0)],
    }))
}
