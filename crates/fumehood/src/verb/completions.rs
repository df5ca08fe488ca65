//! `fumehood completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::{
    cli::{Cli, Completions},
    terminal,
};

/// Prints the script.
pub(crate) fn perform(asked: &Completions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut Cli::command(), "fumehood", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
