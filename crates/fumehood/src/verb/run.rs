//! `fumehood run`: an MCP server in a cell.

use std::{ffi::OsStr, process::ExitCode};

use cell_api::order::{EndOrder, StderrMode};

use super::{
    attend::{self, Manner},
    runtime,
};
use crate::{cli::Run, configuration::Configuration, places, relay::Dialect};

/// Runs it until it has ended.
pub(crate) fn perform(asked: Run) -> anyhow::Result<ExitCode> {
    let configuration = Configuration::read(&places::folders()?, &asked.given)?;
    let explicit = is_explicit(&asked.words, std::env::args_os());
    let spec = configuration.server(asked.words, explicit)?;
    let verbose = asked.given.verbose;
    let manner = Manner {
        dialect: Dialect::JsonRpc,
        stderr: if verbose { StderrMode::Lossy } else { StderrMode::False },
        after_stdin: Some(EndOrder { grace_ms: asked.grace * 1_000, ..EndOrder::default() }),
        writes: spec.mounts.iter().any(|mount| mount.write),
        verbose,
    };
    let runtime = runtime()?;
    let code = runtime.block_on(attend::cell(&spec, manner));
    // A thread may still wait for our stdin.
    runtime.shutdown_background();
    code
}

/// Whether `--` stood right before the words: clap takes it away.
fn is_explicit(words: &[String], arguments: impl IntoIterator<Item = std::ffi::OsString>) -> bool {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let before = arguments.len().checked_sub(words.len() + 1);
    before.and_then(|index| arguments.get(index)).is_some_and(|argument| argument == OsStr::new("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dashes_make_a_command_of_a_name() {
        let explicit = |line: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            is_explicit(&words, line.split(' ').map(Into::into))
        };
        assert!(explicit("fumehood run -- weather", &["weather"]));
        assert!(!explicit("fumehood run weather", &["weather"]));
        assert!(!explicit("fumehood run npx -- x", &["npx", "--", "x"]));
    }
}
