//! `fumehood exec`: a command in a throw-away cell, or in one that runs.

use std::process::ExitCode;

use cell_api::{client::Client, order::StderrMode, spec::ProcessSpec};

use super::{ps, runtime};
use crate::{
    attend::{self, Manner, Signals},
    cli::Exec,
    configuration::Configuration,
    ending, exposing, places,
    relay::{self, Dialect, Told},
    stop::{FAILURE, Stop},
};

/// Runs it until it has ended.
pub(crate) fn perform(asked: Exec) -> anyhow::Result<ExitCode> {
    let configuration = Configuration::read(&places::folders()?, &asked.given)?;
    let runtime = runtime()?;
    let code = if let Some(cell) = asked.cell {
        let process = ProcessSpec { command: asked.command, env: configuration.env()?, cwd: None };
        runtime.block_on(inside(&cell, &process))
    } else {
        let spec = configuration.code(asked.command)?;
        exposing::confirm(&spec.secrets, &asked.given.expose_yes_really)?;
        let verbose = asked.given.verbose;
        let manner = Manner { dialect: Dialect::Raw, stderr: StderrMode::True, after_stdin: None, verbose };
        runtime.block_on(attend::cell(&spec, manner, &[]))
    };
    runtime.shutdown_background();
    code
}

async fn inside(cell: &str, process: &ProcessSpec) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let folder = ps::find(&places::folders()?, cell).await?;
    let mut client = Client::connect(&folder).await.map_err(Stop::from)?;
    let id = client.exec(process).await.map_err(Stop::from)?.id;
    let attached = Client::connect(&folder).await.map_err(Stop::from)?;
    let attached = attached.attach(id, StderrMode::True).await.map_err(Stop::from)?;
    let mut relay = relay::start(attend::blocking(&attached)?, attached.early.to_vec(), Dialect::Raw)?;
    drop(attached.stream);
    loop {
        tokio::select! {
            told = relay.told.recv() => match told {
                Some(Told::Ended(end)) => {
                    if let (None, Some(words)) = (end.exit, ending::in_words(cell, &end, false)) {
                        crate::terminal::say(&words);
                    }
                    return Ok(ending::code(&end).into());
                }
                Some(Told::StdinEnded) => {}
                Some(Told::ReaderGone) => {
                    client.signal(id, SIGPIPE).await.map_err(Stop::from)?;
                }
                Some(Told::Lost) | None => {
                    return Err(Stop::new(FAILURE, format!("cell {cell} ended, and the process with it"), "").into());
                }
            },
            // What we are told, the process is told; how it ends is up to it.
            number = signals.next() => {
                client.signal(id, i32::from(number)).await.map_err(Stop::from)?;
            }
        }
    }
}

/// signal(7).
const SIGPIPE: i32 = 13;
