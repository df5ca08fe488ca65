//! `fumehood cell`: one supervisor.

use std::process::ExitCode;

use anyhow::Context;
use cell::{Supervision, serve};

use crate::{
    cli::Supervise,
    places,
    stop::{Stop, USAGE},
};

/// Supervises until the cell has ended.
pub(crate) fn perform(asked: Supervise) -> anyhow::Result<ExitCode> {
    let owner = cell::sys::adopt(asked.owner_fd).ok_or_else(|| {
        let message = format!("--owner-fd {}: no such descriptor was inherited", asked.owner_fd);
        Stop::new(USAGE, message, "this verb is for `fumehood run` and the like")
    })?;
    let mut folders = places::folders()?;
    if let Some(state) = asked.state {
        folders.state = state;
    }
    let supervision = Supervision { folders, launcher: places::launcher()?, broker: None };
    serve(supervision, owner).context("supervising a cell")?;
    Ok(ExitCode::SUCCESS)
}
