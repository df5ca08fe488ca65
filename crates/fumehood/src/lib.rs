//! The command line: `fumehood run` in place of a command, and what belongs to it.
//!
//! Deliberately absent: logic. Verbs translate words into requests to a supervisor and answers into words.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;

mod attend;
mod bridge;
mod cli;
mod configuration;
mod edit;
mod ending;
mod exposing;
mod finding;
mod guard;
mod hosts;
mod naming;
mod passphrase;
mod places;
mod published;
mod reading;
mod relay;
mod serve;
mod server;
mod session;
mod stop;
mod terminal;
mod verb;

/// The whole program, but for where it is started from.
pub fn main() -> ExitCode {
    #[cfg(feature = "guard-off")]
    if std::env::args().nth(1).as_deref() == Some("drive-cells") {
        return serve::cells::driving::perform().unwrap_or_else(|error| stop::tell(&error));
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are no errors; clap knows which and where they go.
        Err(error) => return usage(&error),
    };
    match verb::perform(cli.verb) {
        Ok(code) => code,
        Err(error) => stop::tell(&error),
    }
}

fn usage(error: &clap::Error) -> ExitCode {
    // Whoever cannot be told how it is used has closed the stream.
    error.print().ok();
    if error.use_stderr() { stop::USAGE.into() } else { ExitCode::SUCCESS }
}
