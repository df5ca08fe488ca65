//! What is asked of a server, and what comes of it.

use std::{fmt, time::Duration};

use access::refusal::{Code, Refusal};
use serde_json::Value;
use store::audit::CallId;
use tokio::sync::{mpsc, oneshot};

/// A request for a server.
pub struct Ask {
    /// The call that it belongs to.
    pub call: CallId,
    /// Its method.
    pub method: String,
    /// Its parameters, without `_meta`.
    pub params: Value,
    /// `_meta` of a caller of 2026-07-28. A server that knows that revision is asked in it; any other one as before.
    pub modern: Option<Value>,
    /// Where progress goes: the parameters of each notification, without the token. What does not fit is left out in favour
    /// of what is newer.
    pub progress: Option<mpsc::Sender<Value>>,
    /// Where questions of the server go that belong to this call. Without it they are declined.
    pub questions: Option<mpsc::Sender<Question>>,
    /// How long it may take: from when it is handed in, and anew from each progress, up to a total of
    /// [`super::Times::total`] times as much.
    pub deadline: Duration,
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("call", &self.call).field("method", &self.method).finish_non_exhaustive()
    }
}

/// Something that a server wants to know from whoever calls it: `elicitation/create`; `sampling/createMessage` where it is
/// passed through. Dropping it declines.
#[derive(Debug)]
pub struct Question {
    /// The method.
    pub method: String,
    /// Its parameters as they came.
    pub params: Value,
    /// The result, or an object with the one member `error`.
    pub answer: oneshot::Sender<Value>,
}

/// What a server has answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A result.
    Result(Value),
    /// A JSON-RPC error object.
    Error(Value),
}

/// No answer of the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The server ended before it answered. What it did until then is not known, where `was_sent`.
    #[error("the server has ended: {why}")]
    Ended {
        /// Why it ended.
        why: String,
        /// The server may have read the request.
        was_sent: bool,
    },
    /// Its cell could not be started.
    #[error("the server could not be started: {why}")]
    NotStarted {
        /// Code of the refusal.
        code: &'static str,
        /// Why.
        why: String,
    },
    /// It has ended again and again, and is not started for a while.
    #[error(
        "the server ended {times} times in a row, and is started again in {again_in:?} at the earliest: {why}"
    )]
    Withheld {
        /// How often.
        times: u32,
        /// Until then.
        again_in: Duration,
        /// Why it ended last.
        why: String,
    },
    /// It took too long. Where the server had it, it was told to stop; whether it did is not known.
    #[error("the server has not answered within {after:?}")]
    Timeout {
        /// As long as it had.
        after: Duration,
        /// The server may have read the request.
        was_sent: bool,
    },
    /// Too much waits for it already.
    #[error("{0}")]
    Busy(String),
    /// What is asked for, or the whole server, is not what was accepted any more.
    #[error("{0}")]
    Changed(String),
    /// Nothing of it may be used.
    #[error("{0}")]
    NotAccepted(String),
    /// Its answer cannot be passed on.
    #[error("{0}")]
    Malformed(String),
    /// No calls are taken any more.
    #[error("the service is being stopped")]
    Stopping,
}

impl AskError {
    /// Code of the refusal.
    pub fn code(&self) -> Code {
        match self {
            Self::Ended { .. } => Code::SERVER_ENDED,
            Self::NotStarted { code, .. } => Code::new(code),
            Self::Withheld { .. } => Code::SERVER_WITHHELD,
            Self::Timeout { .. } => Code::TIMEOUT,
            Self::Busy(_) => Code::SERVER_BUSY,
            Self::Changed(_) => Code::CHANGED,
            Self::NotAccepted(_) => Code::new("FH-NOT-ACCEPTED"),
            Self::Malformed(_) => Code::new("FH-MALFORMED"),
            Self::Stopping => Code::STOPPING,
        }
    }

    /// As whoever called is told. Why a cell could not be made is for whoever runs the service: it can name folders and
    /// programs of the host. What a caller or a reviewer can mend is told.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::NotStarted { code, .. } if !["FH-SECRET-MISSING", "FH-SERVER-WITHHELD"].contains(code) => {
                Refusal::new(self.code(), "the server could not be started")
                    .remedy("whoever runs this service finds the reason in its log")
            }
            _ => Refusal::new(self.code(), self.to_string()),
        }
    }

    /// Whether the server may have done something of what was asked: such a call must not be made again by itself.
    pub fn may_be_done(&self) -> bool {
        match self {
            Self::Ended { was_sent, .. } | Self::Timeout { was_sent, .. } => *was_sent,
            Self::Malformed(_) => true,
            _ => false,
        }
    }
}
