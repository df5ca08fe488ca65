//! `fumehood serve`: all servers behind one address.

use std::process::ExitCode;

use crate::{
    cli::serve::Serve,
    places,
    serve::{load, logs},
    stop::USAGE,
    terminal,
};

mod check;
mod install;
mod new_key;
mod until_told;

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
    if asked.check {
        return check::perform(&folders, &folder, asked.listen, asked.json);
    }
    let loaded = match load::load_for(&folders, &folder, asked.listen) {
        Ok(loaded) => loaded,
        Err(problems) => {
            terminal::say_whole(&problems.to_string());
            return Ok(USAGE.into());
        }
    };
    logs::begin(asked.json)?;
    until_told::perform(asked, folders, folder, loaded)
}
