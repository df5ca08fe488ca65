//! `fumehood serve`: all servers behind one address.

use std::process::ExitCode;

use crate::{cli::serve::Serve, places, serve::load};

mod check;
mod install;
pub(super) mod new_key;

/// Serves, or does one of the things around it.
pub(crate) fn perform(asked: &Serve) -> anyhow::Result<ExitCode> {
    if let Some(name) = &asked.new_key {
        return new_key::perform(name, asked.json);
    }
    if asked.install {
        return install::perform(asked);
    }
    let folders = places::folders()?;
    let folder = load::folder(asked.project.as_deref())?;
    check::perform(&folders, &folder, asked.json)
}
