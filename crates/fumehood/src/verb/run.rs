//! `fumehood run`: an MCP server in a cell.

use std::{
    ffi::OsStr,
    io::{self, IsTerminal},
    process::ExitCode,
};

use cell::folders::Folders;
use cell_api::order::{EndOrder, StderrMode};
use gateway::front::Front;
use model::config::Transport;
use tokio::task::LocalSet;

use super::{review, runtime};
use crate::{
    attend::{self, Manner},
    cli::Run,
    configuration::Configuration,
    exposing, places,
    published::Publish,
    relay::Dialect,
    server::{
        self,
        conversation::{Background, Conversation},
        preparing, random,
        signed::{self, Damage},
        standing::Standing,
        target::{Home, Source, Target},
    },
    stop::{CHANGED, NOT_ACCEPTED, Stop, USAGE},
    terminal,
};

/// Runs it until it has ended.
pub(crate) fn perform(asked: &Run) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let configuration = Configuration::read(&folders, &asked.given)?;
    let explicit = is_explicit(&asked.words, std::env::args_os());
    let publish: Vec<Publish> =
        asked.publish.iter().map(|text| Publish::parse(text)).collect::<anyhow::Result<_>>()?;
    let target = configuration.server(&folders, asked.words.clone(), explicit)?;
    exposing::confirm(&target.spec.secrets, &asked.given.expose_yes_really)?;
    let runtime = runtime()?;
    let local = LocalSet::new();
    let code = if asked.unreviewed {
        runtime.block_on(local.run_until(unreviewed(asked, &folders, &target, publish)))
    } else {
        runtime.block_on(local.run_until(reviewed(asked, &folders, target, &publish)))
    };
    drop(local);
    // A thread may still wait for our stdin.
    runtime.shutdown_background();
    code
}

/// A program of this machine, whose lists pass as they are: for whoever is writing it.
async fn unreviewed(
    asked: &Run,
    folders: &Folders,
    target: &Target,
    mut publish: Vec<Publish>,
) -> anyhow::Result<ExitCode> {
    if target.source != Source::Local {
        let message = "`--unreviewed` is for programs of this machine: what comes from elsewhere is reviewed";
        let remedy = match &target.home {
            Home::CommandLine => server::again(target),
            _ => format!("fumehood run {}", target.name),
        };
        return Err(Stop::new(USAGE, message, format!("leave it out: `{remedy}`")).into());
    }
    if let standing @ Standing::Untrusted { .. } = Standing::of(target, folders)? {
        return Err(not_accepted(target, &standing));
    }
    let listens = match target.transport {
        Transport::Stdio => false,
        Transport::Http { port } => {
            if !publish.iter().any(|published| published.inside == port) {
                publish.push(Publish::anywhere(port));
            }
            true
        }
    };
    let verbose = asked.given.verbose;
    let manner = Manner {
        dialect: Dialect::JsonRpc,
        stderr: if verbose { StderrMode::Lossy } else { StderrMode::False },
        // A server that listens is not spoken to by stdin, so the end of that says nothing.
        after_stdin: (!listens).then(|| end_order(asked)),
        verbose,
    };
    attend::cell(&target.spec, manner, &publish).await
}

/// A server of which nothing is told that nobody has accepted.
async fn reviewed(
    asked: &Run,
    folders: &Folders,
    target: Target,
    publish: &[Publish],
) -> anyhow::Result<ExitCode> {
    if !publish.is_empty() {
        let message = "what a server says on a port of its own is not compared with what was accepted";
        let hint = "add `--unreviewed` where it is a program of this machine, or let it speak by stdio";
        return Err(Stop::new(USAGE, message, hint).into());
    }
    let mut standing = Standing::of(&target, folders)?;
    if let Standing::Changed(_) = standing {
        return Err(not_accepted(&target, &standing));
    }
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_terminal && !asked.strict && !matches!(standing, Standing::Ready(_) | Standing::Untrusted { .. }) {
        review::at_start(&target, folders, standing).await?;
        standing = Standing::of(&target, folders)?;
    }
    // Where it was accepted here, or not at all, that changes nothing.
    if let Some(damage) = signed::damage(&target) {
        terminal::say(damage.text());
        terminal::say(&format!("help: {}", Damage::HINT));
    }
    let prefix = format!("fumehood-{}-", random::hex(8)?);
    let mut conversation = Conversation {
        folders: folders.clone(),
        front: match &standing {
            Standing::Ready(entry) => {
                Front::accepted(entry.surface.clone(), entry.pinned.client.clone(), prefix)
                    .called(target.name.to_string())
            }
            other => {
                if is_terminal || asked.strict {
                    return Err(not_accepted(&target, other));
                }
                let reason = other.reason().unwrap_or_default();
                if let Standing::New = other {
                    terminal::say(&format!("{}: {reason}; it is being installed and read", target.name));
                } else {
                    terminal::say(&format!("{}: {reason}", target.name));
                    terminal::say(&format!(
                        "help: `{}` in a terminal; the client waits",
                        other.remedy(&target)
                    ));
                }
                let notice = server::notice(&target, reason, other.remedy(&target));
                Front::closed(notice, target.client.clone(), prefix)
            }
        },
        start: None,
        background: None,
        end: end_order(asked),
        verbose: asked.given.verbose,
        target,
    };
    match standing {
        Standing::Ready(entry) => {
            let start = preparing::start_accepted(&conversation.target, folders, &entry)?;
            attend::warn_of_secrets(&start.0);
            // What it lists is known; a call starts it.
            if !conversation.target.is_lazy {
                conversation.start = Some(start);
            }
        }
        other => conversation.background = Background::begin(&conversation.target, folders, other),
    }
    conversation.hold().await
}

fn end_order(asked: &Run) -> EndOrder {
    EndOrder { grace_ms: asked.grace * 1_000, ..EndOrder::default() }
}

/// Why nothing is started, with the exit code for it.
fn not_accepted(target: &Target, standing: &Standing) -> anyhow::Error {
    let code = if matches!(standing, Standing::Changed(_)) { CHANGED } else { NOT_ACCEPTED };
    let reason = standing.reason().unwrap_or_default();
    let whose = match &target.home {
        Home::CommandLine => target.spec.name.to_string(),
        _ => target.name.to_string(),
    };
    Stop::new(code, format!("{whose}: {reason}"), format!("`{}`", standing.remedy(target))).into()
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
