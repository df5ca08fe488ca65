//! `./x bench`: measurements of one run, interleaved, told as ratios. Absolute times belong to the machine.

mod api;
mod budget;
mod egress;
mod freeze;
mod gateway;
mod pinned;
mod server;
mod start;
mod summary;
mod supervisor;
mod world;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use crate::setup::{self, For};
use crate::workspace::Workspace;

/// How long is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Long enough to tell a difference.
    Whole,
    /// To see that it works: its numbers mean little.
    Quick,
}

impl Pace {
    /// Of a number for each.
    const fn of<T: Copy>(self, [whole, quick]: [T; 2]) -> T {
        match self {
            Self::Whole => whole,
            Self::Quick => quick,
        }
    }
}

type Measure = fn(&Workspace, &std::path::Path, Pace) -> Result<Value>;

const MEASUREMENTS: &[(&str, Measure)] = &[
    ("start", start_all),
    ("freeze", |workspace, product, _| freeze::measure(workspace, product)),
    ("supervisor", |workspace, product, _| supervisor::measure(workspace, product)),
    ("egress", egress::measure),
    ("gateway", gateway::measure),
];

/// Walls around programs, and servers from the store.
fn start_all(workspace: &Workspace, product: &std::path::Path, pace: Pace) -> Result<Value> {
    let mut results = start::measure(workspace, product)?;
    if let Value::Object(results) = &mut results {
        results.insert("pinned".to_owned(), pinned::measure(workspace, product, pace)?);
    }
    Ok(results)
}

/// Runs the named measurements, or all, and adds their results to `TARGET/bench.json` (`bench-quick.json` of quick ones).
pub fn run(workspace: &Workspace, names: &[String], pace: Pace) -> Result<ExitCode> {
    if let Some(name) = names.iter().find(|name| !MEASUREMENTS.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = MEASUREMENTS.iter().map(|(name, _)| *name).collect();
        bail!("there is no measurement `{name}`; there are: {}", known.join(", "));
    }
    setup::prepare(workspace, For::Bench)?;
    eprintln!("x: building");
    let product = workspace.build_product()?;
    let file = if pace == Pace::Quick { "bench-quick.json" } else { "bench.json" };
    let path = workspace.target.join(file);
    let kept = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
    let mut results: Map<String, Value> = kept.unwrap_or_default();
    for (name, measure) in
        MEASUREMENTS.iter().filter(|(name, _)| names.is_empty() || names.iter().any(|n| n == name))
    {
        println!("\n{name}");
        results.insert(
            (*name).to_owned(),
            measure(workspace, &product, pace).with_context(|| (*name).to_owned())?,
        );
    }
    fs::write(&path, format!("{:#}\n", Value::Object(results)))?;
    println!("\nresults: {}", path.display());
    Ok(ExitCode::SUCCESS)
}
