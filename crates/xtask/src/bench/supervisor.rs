//! How much memory ten idle cells with a secret each take besides what runs in them: proportional set sizes, as the
//! kernel counts them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::api::ask;
use super::budget::judge;
use super::server::Server;
use super::world::World;
use crate::workspace::Workspace;

const CELLS: u32 = 10;

const SECRET: &str = "BENCH_TOKEN";

pub(super) fn measure(workspace: &Workspace, product: &Path) -> Result<Value> {
    let world = World::new(workspace, product)?;
    world.keep_secret(SECRET, "0123456789abcdef0123456789abcdef01234567", "api.example.com")?;
    let call = json!({ "name": "search_nodes", "arguments": { "query": "nothing" } });
    let mut servers = Vec::new();
    for _ in 0..CELLS {
        let mut server = Server::start(&mut world.confined_with("memory", &["--secret", SECRET]))?;
        server.call(&call)?;
        servers.push(server);
    }
    let sockets = world.sockets();
    if sockets.len() != CELLS as usize {
        bail!("{} cells have a socket, not {CELLS}", sockets.len());
    }
    let (mut supervisors, mut jails) = (Vec::new(), Vec::new());
    for socket in &sockets {
        let cell = ask(socket, "GET", "/v1/cell")?;
        let pid = |name: &str| {
            cell.get(name).and_then(Value::as_u64).with_context(|| format!("no pid of the {name}"))
        };
        supervisors.push(pss_kib(pid("supervisor")?)?);
        jails.push(pss_kib(pid("jail")?)?);
    }
    let runs = servers.iter().map(|server| pss_kib(server.pid().into())).collect::<Result<Vec<u32>>>()?;
    let mean = |sizes: &[u32]| sizes.iter().sum::<u32>() / CELLS;
    for (name, sizes) in [("supervisor", &supervisors), ("PID 1 (jail)", &jails), ("fumehood run", &runs)] {
        println!("  {name:<14} mean PSS of {CELLS}: {:>6} KiB", mean(sizes));
    }
    for server in servers {
        server.end()?;
    }
    let mib = supervisors.iter().map(|kib| f64::from(*kib)).sum::<f64>() / (1024.0 * f64::from(CELLS));
    Ok(json!({
        "cells": CELLS,
        "supervisor_pss_kib": mean(&supervisors),
        "jail_pss_kib": mean(&jails),
        "run_pss_kib": mean(&runs),
        "budgets": [judge("MiB of one supervisor", Some(mib), 6.0)],
    }))
}

/// The proportional set size of a process.
pub(super) fn pss_kib(pid: u64) -> Result<u32> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).with_context(|| {
        format!("`{path}` cannot be read; the programs are not dumpable, so this measurement needs root")
    })?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).context("no Pss line")?;
    line.trim().trim_end_matches(" kB").parse().with_context(|| format!("`{line}` is no size"))
}
