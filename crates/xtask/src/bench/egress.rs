//! What the way out of a cell costs: the same client and the same origin, directly and through what stands between them.
//!
//! The table is *paths* times *loads*. A path is where the client runs and how it reaches the origin; each is told as a
//! ratio to its base path of the same round, and the median of the rounds counts, so a busy moment hits both. One client
//! runs outside, one in a real cell (`fumehood exec`); both are started once and ordered over stdin. Programs of others
//! that rewrite the same header stand outside, between the outer client and the origin.

mod cut;
mod load;
mod memory;
mod other;
mod peer;
mod proof;
mod supervisor;
mod table;

use std::path::Path as FilePath;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use self::load::{LOADS, Least};
use self::other::Other;
use self::peer::{Client, Origin, Target, build};
use self::supervisor::Supervisor;
use self::table::Column;
use super::Pace;
use super::world::World;
use crate::workspace::Workspace;

/// Rounds that count, of a whole measurement and of a quick one; one more goes before them, for caches.
const ROUNDS: [usize; 2] = [15, 2];

/// As many for the programs of others, some of which are slow.
const OTHER_ROUNDS: [usize; 2] = [5, 1];

/// Host names the origin is pinned to, one for each way that rules know.
const TUNNEL: &str = "tunnel.example.com";
const PARSED: &str = "parsed.example.com";
const INTERCEPTED: &str = "intercepted.example.com";

/// The secret that is bound to [`INTERCEPTED`].
const SECRET: &str = "BENCH_TOKEN";
const VALUE: &str = "5f1c09b7a3e84d26b0c71f9ea2d8463510bd97ce";

/// Where a client runs and what it asks for.
struct Path {
    name: &'static str,
    /// The path it is told as a ratio to; none for a base.
    base: Option<&'static str>,
    place: Place,
    target: Target,
    /// Which of a load's budgets is its.
    least: fn(Least) -> Option<f64>,
    rounds: usize,
    /// Whether the value of the secret is written into its requests.
    writes: bool,
}

/// Where a client runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Cell,
}

pub(super) fn measure(workspace: &Workspace, product: &FilePath, pace: Pace) -> Result<Value> {
    let program = build(workspace)?;
    let world = World::new(workspace, product)?;
    let mut origin = Origin::start(&program)?;
    world.configure(&configuration(&origin, &world)?)?;
    world.keep_secret(SECRET, VALUE, INTERCEPTED)?;
    let mut outside = Client::outside(&program, pace)?;
    let hosts = [TUNNEL.to_owned(), format!("http://{PARSED}")];
    let hosts = [hosts.as_slice(), &cut::hosts()].concat();
    let mut inside = Client::confined(&world, &program, &hosts, SECRET, pace)?;
    let (others, absent) = other::start(workspace, &world, &origin)?;
    let paths = paths(&origin, &others, pace);
    let mut results = Map::new();
    proof::written_and_scrubbed(&paths, &mut outside, &mut inside, &mut origin)?;
    let supervisor = Supervisor::of(&world)?;
    let target = Target::with_secret(INTERCEPTED, 443, SECRET);
    results.insert("memory".to_owned(), memory::measure(&supervisor, &mut inside, &target)?);
    for load in LOADS {
        let mut columns: Vec<Column> = paths.iter().map(|_| Column::default()).collect();
        for round in 0..=pace.of(ROUNDS) {
            let turns = paths.iter().zip(&mut columns).filter(|(path, _)| round <= path.rounds);
            // Forth and back, so that none always comes after the same one.
            let mut turns: Vec<(&Path, &mut Column)> = turns.collect();
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
    results.insert("cut".to_owned(), cut::measure(&world, &mut inside, pace)?);
    results.insert("rounds".to_owned(), json!(pace.of(ROUNDS)));
    results.insert("left out".to_owned(), json!(absent));
    Ok(Value::Object(results))
}

/// Adding a path is adding a row here, and a client where it runs somewhere else.
fn paths(origin: &Origin, others: &[Other], pace: Pace) -> Vec<Path> {
    let (tls, plain) = (Some(origin.certificate.clone()), None);
    let outside = |name: &str, port, root| Target::new(name, port, root).at_loopback();
    let path = |name, base, place, target| Path {
        name,
        base,
        place,
        target,
        least: |_| None,
        rounds: pace.of(ROUNDS),
        writes: false,
    };
    let mut paths = vec![
        path("direct", None, Place::Outside, outside(TUNNEL, origin.tls, tls.clone())),
        Path {
            least: |least| least.tunnel,
            ..path("tunnel", Some("direct"), Place::Cell, Target::new(TUNNEL, 443, tls.clone()))
        },
        Path {
            least: |least| least.intercepted,
            writes: true,
            ..path("intercepted", Some("direct"), Place::Cell, Target::with_secret(INTERCEPTED, 443, SECRET))
        },
    ];
    paths.extend(others.iter().map(|other| Path {
        rounds: pace.of(OTHER_ROUNDS),
        writes: true,
        ..path(other.name, Some("direct"), Place::Outside, outside(INTERCEPTED, other.port, tls.clone()))
    }));
    paths.extend([
        path("direct, http", None, Place::Outside, outside(PARSED, origin.plain, plain.clone())),
        path("parsed http", Some("direct, http"), Place::Cell, Target::new(PARSED, 80, plain)),
    ]);
    paths
}

/// The operator's file: names bound to the origin, whose certificate is the one to trust.
fn configuration(origin: &Origin, world: &World) -> Result<String> {
    let certificate = world.file("origin.pem");
    std::fs::write(&certificate, origin.certificate_pem())?;
    let pinned = [
        (TUNNEL, origin.tls),
        (PARSED, origin.plain),
        (cut::GOING, origin.plain),
        (cut::STAYING, origin.plain),
        (INTERCEPTED, origin.tls),
    ];
    let pin =
        |(name, port)| format!("[upstreams.\"{name}\"]\naddress = \"127.0.0.1:{port}\"\nloopback = true\n");
    let pinned: String = pinned.into_iter().map(pin).collect();
    Ok(format!("{pinned}ca = \"{}\"\n", certificate.display()))
}
