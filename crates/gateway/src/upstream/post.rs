//! What the task of a cell is told, and by whom.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use access::principal::Principal;
use model::visible::excerpt;
use tokio::{
    sync::{OwnedSemaphorePermit, broadcast, mpsc, oneshot},
    time::Instant,
};

use super::{Answer, Ask, AskError, Cells, Changes, Level, Seen, Times, Told, wire};

/// As many calls may one cell have at once, waiting ones among them; further ones are refused.
pub(crate) const MOST_CALLS: usize = 1_024;

/// What all cells' tasks have in common.
#[derive(Clone)]
pub(crate) struct Around {
    pub(crate) cells: Arc<dyn Cells>,
    pub(crate) changes: Arc<dyn Changes>,
    pub(crate) times: Arc<Times>,
    pub(crate) told: broadcast::Sender<Told>,
    pub(crate) record: mpsc::Sender<Seen>,
    pub(crate) numbers: Arc<AtomicU64>,
}

impl Around {
    /// A number that nothing else has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

/// One message for a cell's task.
///
/// The mailbox has no bound of its own: calls are bounded by [`MOST_CALLS`], everything else is sent once at most for each
/// call, caller or reload.
pub(crate) enum Post {
    Ask(Box<Asked>),
    /// The caller of this call has gone.
    Cancel(u64),
    /// A reader of logs, by a number of its own, comes or goes.
    Level(u64, Option<Level>),
    /// A follower of this address goes.
    Leave(String),
    /// What was accepted, or what cells depend on, may be another thing now.
    Reload,
    /// No calls come any more; dropping `done` says that nothing of the cell runs.
    Stop {
        by: Instant,
        done: oneshot::Sender<()>,
    },
}

/// A request, and where its answer goes.
pub(crate) struct Asked {
    pub(crate) number: u64,
    pub(crate) who: Option<Arc<Principal>>,
    pub(crate) ask: Ask,
    /// The address that its caller wants to follow.
    pub(crate) follows: Option<String>,
    pub(crate) reply: oneshot::Sender<Settled>,
    pub(crate) room: OwnedSemaphorePermit,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) outcome: Result<Said, AskError>,
    /// Of a request to follow an address that was granted.
    pub(crate) follows: Option<Ends>,
}

/// An answer as the server gave it. Whoever asked reads it: a long one holds up nobody else.
#[derive(Debug)]
pub(crate) struct Said(pub(crate) Vec<u8>);

impl Said {
    /// Reads it. A server that says of itself that it gave no answer gains nothing by that.
    pub(crate) fn answer(self) -> Result<Answer, AskError> {
        match wire::answer_in(&self.0) {
            Ok(Answer::Error(error)) => match wire::unanswered(&error) {
                Some((why, was_sent)) => Err(AskError::Ended { why: excerpt(why, 200), was_sent }),
                None => Ok(Answer::Error(error)),
            },
            Ok(result) => Ok(result),
            Err(why) => Err(AskError::Malformed(format!(
                "the server's answer cannot be passed on: {}",
                excerpt(&why, 200)
            ))),
        }
    }
}

/// Tells a cell's task, when dropped, that something is not wanted any more.
#[derive(Debug)]
pub(crate) struct Ends {
    mailbox: mpsc::WeakUnboundedSender<Post>,
    what: Option<End>,
}

#[derive(Debug)]
pub(crate) enum End {
    Following(String),
    Reading(u64),
}

impl Ends {
    pub(crate) fn new(mailbox: mpsc::WeakUnboundedSender<Post>, what: End) -> Self {
        Self { mailbox, what: Some(what) }
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let post = match self.what.take() {
            Some(End::Following(uri)) => Post::Leave(uri),
            Some(End::Reading(number)) => Post::Level(number, None),
            None => return,
        };
        if let Some(mailbox) = self.mailbox.upgrade() {
            // A task that has ended has forgotten it already.
            mailbox.send(post).ok();
        }
    }
}
