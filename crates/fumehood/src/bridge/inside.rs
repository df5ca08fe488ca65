//! The same for a server that listens in a cell: lines both ways, over connections into the cell.

use tokio::{
    sync::{mpsc, oneshot},
    task::LocalSet,
};

use super::{
    carrier::{Carrier, Notes},
    connection::{Connections, Dial},
    exchange::Peer,
    message::Message,
    target::Target,
};

/// Lines that wait either way.
const WAITING: usize = 64;

/// What is between a server in a cell and whoever speaks to it.
#[derive(Debug)]
pub(crate) struct Inside {
    /// Messages for the server, one at a time. The session ends with it.
    pub(crate) say: mpsc::Sender<Vec<u8>>,
    /// Messages of the server, each with a line end.
    pub(crate) hear: mpsc::Receiver<Vec<u8>>,
    /// Why nothing can be carried any more, in words.
    pub(crate) lost: oneshot::Receiver<String>,
    /// Closed once the session was ended.
    pub(crate) left: oneshot::Receiver<()>,
}

/// Begins to carry messages to and from the server that listens on this port. Within a [`LocalSet`].
pub(crate) fn carry_inside(port: u16, dial: Dial, notes: Notes) -> Inside {
    let peer = Peer::new(Connections::inside(Target::inside(port), dial));
    let (say, mut said) = mpsc::channel::<Vec<u8>>(WAITING);
    let (out, hear) = mpsc::channel(WAITING);
    let (tell, lost) = oneshot::channel();
    let (leaving, left) = oneshot::channel();
    // Whatever it has begun ends with it.
    let own = LocalSet::new();
    let serving = async move {
        let carrier = Carrier::new(peer, out, notes);
        let outcome = tokio::select! {
            () = async {
                while let Some(line) = said.recv().await {
                    if let Some(message) = Message::read(&line) {
                        carrier.take(message).await;
                    }
                }
                carrier.settle().await;
            } => None,
            error = carrier.broken() => Some(error),
        };
        carrier.leave(outcome.is_none()).await;
        if let Some(error) = outcome {
            // Nobody has to listen.
            tell.send(error.to_string()).ok();
        }
        drop(leaving);
    };
    tokio::task::spawn_local(async move { own.run_until(serving).await });
    Inside { say, hear, lost, left }
}
