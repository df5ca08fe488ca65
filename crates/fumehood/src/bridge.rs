//! A remote MCP server on stdin and stdout: what runs in the cell of a server that is reached by a URL. And the same for a
//! server that listens in a cell: there it runs beside the cell, and speaks through the supervisor.
//!
//! Inside a cell it knows no key: the variables that its headers are filled from hold placeholders, and the cell's edge writes the
//! values into its requests.

mod carrier;
mod connection;
mod events;
mod exchange;
mod inside;
mod message;
mod modern;
mod old;
mod stdio;
mod target;

use std::{io, rc::Rc};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    task::LocalSet,
};

use self::{
    carrier::Carrier,
    connection::{ConnectionError, Connections},
    exchange::Peer,
    message::Message,
    stdio::Line,
};
pub(crate) use connection::Dial;
pub(crate) use inside::{Inside, carry_inside};
pub(crate) use target::Target;

/// Largest message either way, bytes.
const MAX_MESSAGE: usize = 64 << 20;

/// Why the bridge ended before its client did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BridgeError {
    /// The way to the server.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The server has forgotten the session.
    #[error("the remote server has ended the session")]
    SessionLost,
    /// The one stream of a server of the first revision has ended, and with it all that was agreed on.
    #[error("the remote server has closed its stream")]
    StreamLost,
    /// Our own streams.
    #[error("{step} failed: {source}")]
    Io { step: &'static str, source: io::Error },
}

impl BridgeError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::SessionLost | Self::StreamLost => {
                "start it again: a new session begins with the client's first message"
            }
            Self::Connection(_) | Self::Io { .. } => "",
        }
    }
}

/// Carries messages until stdin ends, a signal comes, or the session is lost.
pub(crate) async fn carry(target: Target) -> Result<(), BridgeError> {
    let peer = Peer::new(Connections::new(target)?);
    LocalSet::new().run_until(serve(peer)).await
}

async fn serve(peer: Peer) -> Result<(), BridgeError> {
    let listening = |source| BridgeError::Io { step: "listening for signals", source };
    let mut terminate = signal(SignalKind::terminate()).map_err(listening)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(listening)?;
    let lines = stdio::lines().map_err(|source| BridgeError::Io { step: "reading stdin", source })?;
    let out = stdio::Out::new().map_err(|source| BridgeError::Io { step: "writing to stdout", source })?;
    let carrier = Carrier::new(peer, out.sender(), Box::new(crate::terminal::say));
    let outcome = tokio::select! {
        outcome = read(&carrier, lines) => outcome,
        error = carrier.broken() => Err(error),
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    };
    // What was lost with the last answers counts though stdin has ended.
    let outcome = outcome.and_then(|()| carrier.fault().map_or(Ok(()), Err));
    carrier.leave(!matches!(outcome, Err(BridgeError::SessionLost))).await;
    drop(carrier);
    out.finish().await;
    outcome
}

/// Takes messages from stdin to its end, and waits for what they led to.
async fn read(carrier: &Rc<Carrier>, mut lines: mpsc::Receiver<Line>) -> Result<(), BridgeError> {
    while let Some(line) = lines.recv().await {
        match line {
            Line::Whole(line) => match Message::read(&line) {
                Some(message) => carrier.take(message).await,
                None => crate::terminal::say("a line that is no message was not sent to the remote server"),
            },
            Line::TooLong => {
                crate::terminal::say("a message of more than 64 MiB was not sent to the remote server");
            }
            Line::Broken(source) => return Err(BridgeError::Io { step: "reading stdin", source }),
        }
    }
    carrier.settle().await;
    Ok(())
}
