//! A request on its way.

use std::{sync::Arc, time::SystemTime};

use access::principal::Principal;
use serde_json::Value;
use store::audit::CallId;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{Duration, Instant},
};

use super::{
    Ask, AskError, Question,
    post::{Asked, Ends, Said, Settled},
    wire,
};

/// As often may progress be told of one call; what comes in between is kept, and the newest of it told.
const PACE: Duration = Duration::from_millis(50);

/// A request that has no answer yet.
pub(super) struct Call {
    pub(super) whose: Whose,
    /// What is to be asked, until it is.
    pub(super) ask: Option<(String, Value, Option<Value>)>,
    /// From when on the server may have read it.
    pub(super) sent: Option<SystemTime>,
    /// It has to be answered by then.
    pub(super) deadline: Instant,
    /// And, whatever it tells of its progress, by then.
    pub(super) ends: Instant,
    /// How long it may take without progress.
    pub(super) each: Duration,
    /// How many questions to its caller are open.
    pub(super) open_questions: usize,
    pub(super) progress: Option<Progress>,
    /// When a timer is set for it.
    pub(super) timer: Instant,
}

/// Whose request it is.
pub(super) enum Whose {
    /// A caller's.
    Caller {
        call: CallId,
        who: Option<Arc<Principal>>,
        questions: Option<mpsc::Sender<Question>>,
        follows: Option<String>,
        reply: oneshot::Sender<Settled>,
        _room: OwnedSemaphorePermit,
    },
    /// Ours: which revisions does the server know?
    Discovery,
    /// Ours, and its answer is of no account.
    Quiet,
}

impl Call {
    /// Of a caller. It may wait for `start` before it is sent, and take `total` times its time afterwards.
    pub(super) fn asked(asked: Asked, start: Duration, total: u32) -> (u64, Self) {
        let Asked { number, who, ask, follows, reply, room } = asked;
        let Ask { call, method, params, modern, progress, questions, deadline } = ask;
        let by = Instant::now() + start + deadline;
        let made = Self {
            whose: Whose::Caller { call, who, questions, follows, reply, _room: room },
            ask: Some((method, params, modern)),
            sent: None,
            deadline: by,
            ends: Instant::now() + start + deadline.saturating_mul(total.max(1)),
            each: deadline,
            open_questions: 0,
            progress: progress.map(Progress::of),
            // As soon as it can end, so that most calls need no other.
            timer: Instant::now() + deadline,
        };
        (number, made)
    }

    /// Ours.
    pub(super) fn ours(whose: Whose, within: Duration) -> Self {
        let by = Instant::now() + within;
        Self {
            whose,
            ask: None,
            sent: None,
            deadline: by,
            ends: by,
            each: within,
            open_questions: 0,
            progress: None,
            timer: by,
        }
    }

    pub(super) fn is_callers(&self) -> bool {
        matches!(self.whose, Whose::Caller { .. })
    }

    /// Who asked for it.
    pub(super) fn who(&self) -> Option<Arc<Principal>> {
        match &self.whose {
            Whose::Caller { who, .. } => who.clone(),
            Whose::Discovery | Whose::Quiet => None,
        }
    }

    /// The server has it now.
    pub(super) fn is_sent(&mut self, total: u32) {
        if self.sent.is_none() {
            self.sent = Some(SystemTime::now());
            if self.is_callers() {
                self.ends = Instant::now() + self.each.saturating_mul(total.max(1));
            }
            self.goes_on();
        }
    }

    /// Its time begins anew; all of it, while somebody is being asked.
    pub(super) fn goes_on(&mut self) {
        let more = if self.open_questions > 0 { self.ends } else { Instant::now() + self.each };
        self.deadline = more.min(self.ends);
    }

    /// The address that its caller is to follow from now on, where the server grants it.
    pub(super) fn granted(&self, outcome: &Result<Said, AskError>) -> Option<String> {
        let (Whose::Caller { follows: Some(uri), .. }, Ok(said)) = (&self.whose, outcome) else {
            return None;
        };
        wire::is_result(&said.0).then(|| uri.clone())
    }

    /// Tells its caller.
    pub(super) fn settle(self, outcome: Result<Said, AskError>, follows: Option<Ends>) {
        if let Some(mut progress) = self.progress {
            progress.flush();
        }
        if let Whose::Caller { reply, .. } = self.whose {
            // A caller who has gone wants no answer.
            reply.send(Settled { outcome, follows }).ok();
        }
    }
}

/// What a caller is told of the progress of a call.
pub(super) struct Progress {
    to: mpsc::Sender<Value>,
    /// The last that was told of (MCP 2025-11-25, progress: it must increase).
    last: Option<f64>,
    told: Option<Instant>,
    kept: Option<Value>,
}

impl Progress {
    fn of(to: mpsc::Sender<Value>) -> Self {
        Self { to, last: None, told: None, kept: None }
    }

    /// Takes the parameters of a notification. Whether it is one.
    pub(super) fn take(&mut self, mut params: Value) -> bool {
        let Some(now) = params.get("progress").and_then(Value::as_f64) else { return false };
        if self.last.is_some_and(|last| now <= last) && !crate::guard::off("pool-progress") {
            return false;
        }
        self.last = Some(now);
        if let Some(members) = params.as_object_mut() {
            members.remove("progressToken");
        }
        self.kept = Some(params);
        if self.due().is_none_or(|due| due <= Instant::now()) {
            self.flush();
        }
        true
    }

    /// When what is kept is to be told.
    pub(super) fn due(&self) -> Option<Instant> {
        self.kept.as_ref()?;
        self.told.map(|told| told + PACE)
    }

    /// Tells what is kept. Whoever does not listen misses it.
    pub(super) fn flush(&mut self) {
        let Some(params) = self.kept.take() else { return };
        self.told = Some(Instant::now());
        if let Err(mpsc::error::TrySendError::Full(params)) = self.to.try_send(params) {
            self.kept = Some(params);
        }
    }
}
