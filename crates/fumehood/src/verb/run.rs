//! `fumehood run`: an MCP server in a cell.

use std::{ffi::OsStr, process::ExitCode};

use cell_api::order::{EndOrder, StderrMode};
use model::config::Transport;

use super::{
    attend::{self, Manner},
    runtime,
};
use crate::{
    cli::Run,
    configuration::{Configuration, Wanted},
    exposing, package, places,
    published::Publish,
    relay::Dialect,
};

/// Runs it until it has ended.
pub(crate) fn perform(asked: Run) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let configuration = Configuration::read(&folders, &asked.given)?;
    let explicit = is_explicit(&asked.words, std::env::args_os());
    let mut publish: Vec<Publish> =
        asked.publish.iter().map(|text| Publish::parse(text)).collect::<anyhow::Result<_>>()?;
    let Wanted { mut spec, transport } = configuration.server(asked.words, explicit)?;
    exposing::confirm(&spec.secrets, &asked.given.expose_yes_really)?;
    let listens = match transport {
        Transport::Stdio => false,
        Transport::Http { port } => {
            if !publish.iter().any(|published| published.inside == port) {
                publish.push(Publish::anywhere(port));
            }
            true
        }
    };
    let verbose = asked.given.verbose;
    package::fit(&mut spec, &folders, configuration.most_data(), verbose)?;
    let manner = Manner {
        dialect: Dialect::JsonRpc,
        stderr: if verbose { StderrMode::Lossy } else { StderrMode::False },
        // A server that listens is not spoken to by stdin, so the end of that says nothing.
        after_stdin: (!listens).then(|| EndOrder { grace_ms: asked.grace * 1_000, ..EndOrder::default() }),
        verbose,
    };
    let runtime = runtime()?;
    let code = runtime.block_on(attend::cell(&spec, manner, &publish));
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
