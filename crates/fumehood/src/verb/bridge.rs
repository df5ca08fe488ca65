//! `fumehood bridge`: a remote MCP server on stdin and stdout.

use std::process::ExitCode;

use super::runtime;
use crate::{
    bridge::{self, Target},
    cli::Bridge,
    stop::{FAILURE, Stop, USAGE},
};

/// Carries messages until the client or the server has had enough.
pub(crate) fn perform(asked: &Bridge) -> anyhow::Result<ExitCode> {
    let lookup = |name: &str| std::env::var(name).ok();
    let target = Target::read(&asked.url, &asked.headers, asked.plain, lookup)
        .map_err(|error| Stop::new(USAGE, error.to_string(), error.hint()))?;
    let runtime = runtime()?;
    let carried = runtime.block_on(bridge::carry(target));
    // A read of stdin may never come back.
    runtime.shutdown_background();
    carried.map_err(|error| Stop::new(FAILURE, error.to_string(), error.hint()))?;
    Ok(ExitCode::SUCCESS)
}
