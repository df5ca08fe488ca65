//! `fumehood cell`: one supervisor.

use std::{
    fs::OpenOptions,
    io,
    os::fd::{AsFd, OwnedFd},
    process::ExitCode,
};

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
    let broker = asked.broker_fd.map(broker).transpose()?;
    let mut folders = places::folders()?;
    if let Some(state) = asked.state {
        folders.state = state;
    }
    serve(Supervision { folders, launcher: places::launcher()?, broker }, owner)
        .context("supervising a cell")?;
    Ok(ExitCode::SUCCESS)
}

/// Takes over the broker's connection. Its usual number is that of stdout, which must not stay a way to the broker.
fn broker(number: i32) -> anyhow::Result<OwnedFd> {
    const STDOUT: i32 = 1;
    if number == STDOUT {
        let moved = io::stdout().as_fd().try_clone_to_owned().context("taking the broker's connection")?;
        let nowhere = OpenOptions::new().write(true).open("/dev/null").context("opening /dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere).context("closing stdout")?;
        return Ok(moved);
    }
    let adopted = cell::sys::adopt(number);
    Ok(adopted.ok_or_else(|| {
        Stop::new(USAGE, format!("--broker-fd {number}: no such descriptor was inherited"), "")
    })?)
}
