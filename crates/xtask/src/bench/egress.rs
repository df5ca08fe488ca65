//! What the way out of a cell costs: the same client and the same origin, directly and through what stands between them.
//!
//! The table is *paths* times *loads*. A path is where the client runs and how it reaches the origin; each is told as a
//! ratio to its base path of the same round, and the median of the rounds counts, so a busy moment hits both. One client
//! runs outside, one in a real cell (`fumehood exec`); both are started once and ordered over stdin.

mod cut;
mod load;
mod peer;
mod supervisor;
mod table;

use std::path::Path as FilePath;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use self::load::LOADS;
use self::peer::{Client, Origin, Target, build};
use self::supervisor::Supervisor;
use self::table::Column;
use super::world::World;
use crate::workspace::Workspace;

/// Rounds that count; one more goes before them, for caches.
const ROUNDS: usize = 15;

/// Host names the origin is pinned to, one for each way that rules know.
const TUNNEL: &str = "tunnel.example.com";
const PARSED: &str = "parsed.example.com";

/// Where a client runs and what it asks for.
struct Path {
    name: &'static str,
    /// The path it is told as a ratio to; none for a base.
    base: Option<&'static str>,
    place: Place,
    target: Target,
    /// Whether the budgets of [`load::Load::least`] are its.
    judged: bool,
}

/// Where a client runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Cell,
}

pub(super) fn measure(workspace: &Workspace, product: &FilePath) -> Result<Value> {
    let program = build(workspace)?;
    let world = World::new(workspace, product)?;
    let origin = Origin::start(&program)?;
    world.configure(&configuration(&origin))?;
    let mut outside = Client::outside(&program)?;
    let hosts = [TUNNEL.to_owned(), format!("http://{PARSED}")];
    let mut inside = Client::confined(&world, &program, &[hosts.as_slice(), &cut::hosts()].concat())?;
    let supervisor = Supervisor::of(&world)?;
    let paths = paths(&origin);
    let mut results = Map::new();
    for load in LOADS {
        let mut columns: Vec<Column> = paths.iter().map(|_| Column::default()).collect();
        for round in 0..=ROUNDS {
            // Forth and back, so that none always comes after the same one.
            let mut turns: Vec<(&Path, &mut Column)> = paths.iter().zip(&mut columns).collect();
            if round % 2 == 1 {
                turns.reverse();
            }
            for (path, column) in turns {
                let client = if path.place == Place::Cell { &mut inside } else { &mut outside };
                let before = supervisor.ran();
                let told = client.order(&path.target, load.order);
                let told = told.with_context(|| format!("{}, {}", load.name, path.name))?;
                let ran = supervisor.ran().zip(before).map(|(after, before)| after - before);
                if round > 0 {
                    column.add(&told, ran.filter(|_| path.place == Place::Cell))?;
                }
            }
        }
        results.insert(load.name.to_owned(), table::tell(load, &paths, &columns));
    }
    results.insert("cut".to_owned(), cut::measure(&world, &mut inside)?);
    results.insert("rounds".to_owned(), json!(ROUNDS));
    Ok(Value::Object(results))
}

/// Adding a path is adding a row here, and a client where it runs somewhere else.
fn paths(origin: &Origin) -> Vec<Path> {
    let (tls, plain) = (Some(origin.certificate.clone()), None);
    let outside = |name: &str, port, root| Target::new(name, port, root).at_loopback();
    vec![
        Path {
            name: "direct",
            base: None,
            place: Place::Outside,
            target: outside(TUNNEL, origin.tls, tls.clone()),
            judged: false,
        },
        Path {
            name: "tunnel",
            base: Some("direct"),
            place: Place::Cell,
            target: Target::new(TUNNEL, 443, tls),
            judged: true,
        },
        Path {
            name: "direct, http",
            base: None,
            place: Place::Outside,
            target: outside(PARSED, origin.plain, plain.clone()),
            judged: false,
        },
        Path {
            name: "parsed http",
            base: Some("direct, http"),
            place: Place::Cell,
            target: Target::new(PARSED, 80, plain),
            judged: false,
        },
    ]
}

/// The operator's file: names bound to the origin.
fn configuration(origin: &Origin) -> String {
    let pinned = [
        (TUNNEL, origin.tls),
        (PARSED, origin.plain),
        (cut::GOING, origin.plain),
        (cut::STAYING, origin.plain),
    ];
    let pin =
        |(name, port)| format!("[upstreams.\"{name}\"]\naddress = \"127.0.0.1:{port}\"\nloopback = true\n");
    pinned.into_iter().map(pin).collect()
}
