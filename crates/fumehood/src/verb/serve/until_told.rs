//! Serving, until a signal says that it is enough.

use std::{path::PathBuf, process::ExitCode};

use cell::folders::Folders;
use tokio::runtime::Builder;

use crate::{
    attend::Signals,
    cli::serve::Serve,
    places,
    serve::{
        load::{self, Loaded},
        logs::{self, Started},
        reload,
        running::{self, Service},
        supervisor,
    },
};

/// signal(7).
const SIGHUP: u8 = 1;

/// Serves. The first signal lets calls under way end; a second one does not wait for them.
pub(super) fn perform(
    asked: &Serve,
    folders: Folders,
    folder: PathBuf,
    loaded: Loaded,
) -> anyhow::Result<ExitCode> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(serve(asked, folders, folder, loaded));
    runtime.shutdown_background();
    code
}

async fn serve(asked: &Serve, folders: Folders, folder: PathBuf, loaded: Loaded) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    places::sweep(&folders, false);
    for warning in &loaded.warnings {
        tracing::warn!(warning, "a word of the configuration is most likely not meant so");
    }
    let started = standing(&loaded);
    let socket = asked.socket.clone().unwrap_or_else(|| running::socket(&folders));
    let mut service = Service::begin(folders.clone(), loaded, asked.listen, socket).await?;
    let address = service.address.map(|address| address.to_string());
    logs::started(&Started { address, socket: service.socket.display().to_string(), ..started });
    supervisor::ready("serving");
    let number = loop {
        tokio::select! {
            number = signals.next() => match number {
                SIGHUP => again(&mut service, &folders, &folder, asked.listen).await,
                number => break number,
            },
            () = service.decided() => {
                // Half a change is seen again when it is a whole one.
                match load::load_for(&folders, &folder, asked.listen) {
                    Ok(loaded) => {
                        if let Err(error) = service.take_over(loaded, false).await {
                            tracing::error!("what was decided cannot be taken over: {error:#}");
                        }
                    }
                    Err(problems) => tracing::warn!(%problems, "what was decided is taken over when the configuration is right"),
                }
            }
        }
    };
    supervisor::stopping("letting calls end");
    tracing::info!("stopping: calls under way may end");
    tokio::select! {
        () = service.end() => Ok(ExitCode::SUCCESS),
        _ = signals.next() => Ok(ExitCode::from(128 + number)),
    }
}

async fn again(
    service: &mut Service,
    folders: &Folders,
    folder: &std::path::Path,
    listen: Option<std::net::SocketAddr>,
) {
    let Some(loaded) = reload::again(folders, folder.to_owned(), listen).await else { return };
    let now = standing(&loaded);
    match service.take_over(loaded, true).await {
        Ok(()) => {
            tracing::info!(ready = now.ready.join(" "), withheld = now.withheld.join(" "), "reloaded");
            supervisor::ready("serving");
        }
        Err(error) => {
            tracing::error!("what was in force stays so: {error:#}");
            supervisor::ready("serving; the last reload failed and changed nothing");
        }
    }
}

fn standing(loaded: &Loaded) -> Started {
    let names = |is_ready: bool| {
        let servers = loaded.servers.iter().filter(move |(_, served)| served.reason().is_none() == is_ready);
        servers.map(|(name, _)| name.to_string()).collect()
    };
    Started { address: None, socket: String::new(), ready: names(true), withheld: names(false) }
}
