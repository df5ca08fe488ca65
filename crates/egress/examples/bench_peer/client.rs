//! The client: each line of stdin is an order (JSON), each line of stdout what came of it.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::Fault;
use crate::held::Held;
use crate::load::Load;
use crate::target::{Found, Target};

#[derive(Debug, Deserialize)]
struct Order {
    target: Target,
    #[serde(flatten)]
    load: Asked,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "load", rename_all = "kebab-case")]
enum Asked {
    /// Requests one after the other on each of so many connections, for so long.
    KeptAlive { connections: usize, millis: u64 },
    /// A connection for each request, one after the other, for so long.
    New { millis: u64 },
    /// One answer of so many bytes.
    Down { bytes: u64 },
    /// One request of so many bytes.
    Up { bytes: u64 },
    /// One request that the origin tells back.
    Echo,
    /// So many more connections, kept open.
    Hold { connections: usize },
    /// Another request on each connection kept open, then its end.
    Release,
}

/// Obeys until stdin ends.
pub(crate) fn obey(runtime: &Runtime) -> Result<(), Fault> {
    let mut held = Held::default();
    for line in std::io::stdin().lines() {
        let order = serde_json::from_str(&line?)?;
        let told = match runtime.block_on(perform(order, &mut held)) {
            Ok(told) => told,
            Err(error) => json!({ "error": error.to_string() }),
        };
        println!("{told}");
    }
    Ok(())
}

async fn perform(order: Order, held: &mut Held) -> Result<Value, Fault> {
    let target = &order.target.find().await?;
    Ok(match order.load {
        Asked::KeptAlive { connections, millis } => kept_alive(target, connections, millis).await?,
        Asked::New { millis } => new(target, millis).await?,
        Asked::Down { bytes } => volume(target, "GET", &format!("/down/{bytes}"), 0, bytes).await?,
        Asked::Up { bytes } => volume(target, "POST", "/up", bytes, bytes).await?,
        Asked::Echo => {
            let (sent, told) = target.open().await?.echo().await?;
            json!({ "sent": sent, "told": told })
        }
        Asked::Hold { connections } => {
            held.add(target, connections).await?;
            json!({ "held": connections })
        }
        Asked::Release => {
            let (answered, cut) = held.try_all().await;
            json!({ "answered": answered, "cut": cut })
        }
    })
}

async fn kept_alive(target: &Found, connections: usize, millis: u64) -> Result<Value, Fault> {
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(target.open().await?);
    }
    let begun = Instant::now();
    let until = begun + Duration::from_millis(millis);
    let asking = open.into_iter().map(|mut connection| {
        tokio::spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < until {
                let asked = Instant::now();
                connection.exchange().await?;
                times.push(asked.elapsed());
            }
            Ok::<_, Fault>(times)
        })
    });
    let mut times = Vec::new();
    for each in asking.collect::<Vec<_>>() {
        times.extend(each.await??);
    }
    Ok(requests(times, begun.elapsed()))
}

async fn new(target: &Found, millis: u64) -> Result<Value, Fault> {
    let begun = Instant::now();
    let until = begun + Duration::from_millis(millis);
    let mut times = Vec::new();
    while Instant::now() < until {
        let asked = Instant::now();
        target.open().await?.exchange().await?;
        times.push(asked.elapsed());
    }
    Ok(requests(times, begun.elapsed()))
}

#[expect(clippy::cast_precision_loss, reason = "a count of requests is far below 2^52")]
fn requests(mut times: Vec<Duration>, took: Duration) -> Value {
    times.sort_unstable();
    let at = |percent: usize| {
        let index = times.len().saturating_sub(1) * percent / 100;
        times.get(index).map(|time| time.as_secs_f64() * 1e6)
    };
    json!({
        "rate": times.len() as f64 / took.as_secs_f64(),
        "count": times.len(),
        "p50_us": at(50),
        "p99_us": at(99),
    })
}

/// The rate is in millions of bytes a second.
#[expect(clippy::cast_precision_loss, reason = "no more bytes than 2^52")]
async fn volume(target: &Found, method: &str, path: &str, sent: u64, bytes: u64) -> Result<Value, Fault> {
    let mut connection = target.open().await?;
    connection.exchange().await?;
    let begun = Instant::now();
    connection.ask(method, path, Load(sent)).await?;
    let megabytes = bytes as f64 / 1e6;
    Ok(json!({ "rate": megabytes / begun.elapsed().as_secs_f64(), "count": megabytes }))
}
