//! The process that stands between the two ends, and how long it was on a processor: what a path costs, whatever else the
//! machine does meanwhile.

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::api;
use crate::bench::supervisor::pss_kib;
use crate::bench::world::World;

/// The supervisor of the one cell that runs.
#[derive(Debug)]
pub(super) struct Supervisor(u64);

impl Supervisor {
    pub(super) fn of(world: &World) -> Result<Self> {
        let sockets = world.sockets();
        let [socket] = sockets.as_slice() else { bail!("{} cells have a socket, not one", sockets.len()) };
        let cell = api::ask(socket, "GET", "/v1/cell")?;
        Ok(Self(cell.get("supervisor").and_then(Value::as_u64).context("no pid of the supervisor")?))
    }

    /// Its proportional set size, in KiB.
    pub(super) fn memory(&self) -> Result<u32> {
        pss_kib(self.0)
    }

    /// Microseconds its thread has run; none where the kernel does not count.
    pub(super) fn ran(&self) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", self.0)).ok()?;
        let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
        Some(nanoseconds / 1e3)
    }
}
