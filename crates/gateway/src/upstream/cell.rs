//! The cell of a server: started, frozen, continued, ended.

use std::sync::Arc;

use serde_json::Value;
use tokio::{
    sync::mpsc,
    time::{Duration, Instant, timeout},
};

use super::{AskError, Control, Heard, Running, StartError, Upstream, call::Call, era::Modern};

/// How long a cell may take to be frozen, continued or ended until that counts as failed.
const STEP: Duration = Duration::from_secs(30);

/// Where the cell is.
pub(super) enum Cell {
    /// There is none.
    None,
    /// It is being started.
    Starting,
    /// It runs.
    Up(Up),
    /// It is being ended, and may still tell of something.
    Ending(Option<mpsc::Receiver<Heard>>),
}

/// A running cell.
pub(super) struct Up {
    pub(super) say: mpsc::Sender<Vec<u8>>,
    pub(super) hear: mpsc::Receiver<Heard>,
    pub(super) control: Arc<dyn Control>,
    pub(super) roots: Vec<Value>,
    pub(super) speaks_http: bool,
    pub(super) modern: Modern,
    pub(super) since: Instant,
    pub(super) is_frozen: bool,
    /// It could not be, once.
    pub(super) cannot_be_frozen: bool,
    /// It reads no more, and is listened to until then.
    pub(super) mute: Option<Instant>,
    /// It is to be ended.
    pub(super) is_done: bool,
}

/// A step that has ended.
pub(super) enum Moved {
    Started(Result<Running, StartError>),
    Frozen(Result<(), String>),
    Continued(Result<(), String>),
    Ended,
}

impl Cell {
    /// What is heard of it, and where it is spoken to.
    pub(super) fn ends(&mut self) -> (Option<&mut mpsc::Receiver<Heard>>, Option<&mpsc::Sender<Vec<u8>>>) {
        match self {
            Self::Up(up) => (Some(&mut up.hear), Some(&up.say)),
            Self::Ending(hear) => (hear.as_mut(), None),
            Self::None | Self::Starting => (None, None),
        }
    }

    pub(super) fn up(&mut self) -> Option<&mut Up> {
        match self {
            Self::Up(up) => Some(up),
            _ => None,
        }
    }

    /// How long it is listened to, where it reads no more.
    pub(super) fn patience(&self) -> Option<Instant> {
        match self {
            Self::Up(up) => up.mute,
            _ => None,
        }
    }
}

/// The next things that are heard.
pub(super) async fn hear(
    hear: Option<&mut mpsc::Receiver<Heard>>,
    into: &mut Vec<Heard>,
    most: usize,
) -> usize {
    match hear {
        Some(hear) => hear.recv_many(into, most).await,
        None => std::future::pending().await,
    }
}

/// Room for one more line, or nobody to read it.
pub(super) async fn room(say: Option<&mpsc::Sender<Vec<u8>>>) {
    match say {
        Some(say) => drop(say.reserve().await),
        None => std::future::pending().await,
    }
}

/// The end of the step under way.
pub(super) async fn moved<F: Future + Unpin>(motion: &mut Option<F>) -> F::Output {
    match motion {
        Some(motion) => motion.await,
        None => std::future::pending().await,
    }
}

impl Upstream {
    /// The cell does next what it has to.
    pub(super) fn proceed(&mut self) {
        let now = Instant::now();
        if self.is_forsaken {
            self.stopping.get_or_insert(now);
        }
        if self.leaving.is_some_and(|by| by <= now) {
            self.cut("the server is started anew, for something that it depends on has changed");
        }
        if self.stopping.is_some_and(|by| by <= now) {
            self.refuse_waiting(&AskError::Stopping);
            self.start_no_more();
            self.cut("the service is being stopped");
        }
        self.note_idleness(now);
        if self.motion.is_some() {
            return;
        }
        match &mut self.cell {
            Cell::None => self.proceed_without(),
            Cell::Up(_) => self.proceed_with(now),
            Cell::Starting | Cell::Ending(_) => {}
        }
    }

    fn proceed_without(&mut self) {
        if self.leaving.take().is_some() {
            self.look();
        }
        self.refuse_unsendable();
        if self.is_wanted() {
            self.start();
        } else if self.stopping.is_some() && self.calls.is_empty() {
            if !self.network.is_behind() {
                self.is_over = true;
                self.stopped.clear();
            }
        } else if self.is_forgettable() {
            let mailbox = &self.mailbox;
            let is_unasked = || mailbox.is_empty();
            self.is_over = (self.retire)(&is_unasked);
        }
    }

    /// Whether there is something to start a cell for.
    fn is_wanted(&self) -> bool {
        let is_asked = self.waiting.iter().any(|number| self.calls.contains_key(number));
        let is_followed = !self.followed.is_empty() && self.stopping.is_none();
        (is_asked || is_followed)
            && self.shut.is_none()
            && self.front.is_some()
            && self.failing.objection().is_none()
    }

    fn proceed_with(&mut self, now: Instant) {
        self.hand_over();
        let is_leaving = self.leaving.is_some() && self.has_nothing_in_flight();
        let is_stopping = self.stopping.is_some() && self.calls.is_empty();
        let is_idle = self.is_idle_for(self.around.times.idle_stop, now);
        let rests = self.to_server.is_empty();
        let freezes = self.is_idle_for(self.around.times.idle_freeze, now) && rests;
        let is_needed = !rests || !self.calls.is_empty();
        let is_open = self.front.as_ref().is_some_and(crate::front::Front::is_open);
        let Cell::Up(up) = &mut self.cell else { return };
        if up.mute.is_some_and(|by| by <= now) {
            return self.ended("it reads no more what it is asked");
        }
        if up.is_done || is_leaving || is_stopping || is_idle {
            return self.end_cell();
        }
        let control = Arc::clone(&up.control);
        if up.is_frozen && is_needed {
            self.motion = Some(Box::pin(async move {
                let done = timeout(STEP, control.thaw()).await;
                Moved::Continued(done.unwrap_or_else(|_| Err("it took too long".to_owned())))
            }));
        } else if freezes && is_open && !up.is_frozen && !up.cannot_be_frozen {
            self.motion = Some(Box::pin(async move {
                let done = timeout(STEP, control.freeze()).await;
                Moved::Frozen(done.unwrap_or_else(|_| Err("it took too long".to_owned())))
            }));
        }
    }

    fn start(&mut self) {
        if let Some(front) = &mut self.front {
            front.starting();
        }
        let asked = self.waiting.iter().find_map(|number| self.calls.get(number));
        let who = asked.and_then(Call::who).or_else(|| self.user.clone());
        let starting = self.around.cells.start(self.key.clone(), who);
        let within = self.around.times.start;
        self.cell = Cell::Starting;
        self.motion = Some(Box::pin(async move {
            Moved::Started(timeout(within, starting).await.unwrap_or_else(|_| {
                let reason = format!("it was not there within {within:?}");
                Err(StartError { code: "FH-START-TIMEOUT", reason, is_final: false })
            }))
        }));
    }

    /// A start under way is given up.
    fn start_no_more(&mut self) {
        if let Cell::Starting = self.cell {
            self.motion = None;
            self.cell = Cell::None;
            if let Some(front) = &mut self.front {
                front.gone("the service is being stopped");
            }
        }
    }

    pub(super) fn moved(&mut self, moved: Moved) {
        match moved {
            Moved::Started(Ok(running)) => self.started(running),
            Moved::Started(Err(error)) => self.not_started(&error),
            Moved::Frozen(done) => {
                let Some(up) = self.cell.up() else { return };
                up.is_frozen = done.is_ok();
                up.cannot_be_frozen = done.is_err();
                if let Err(error) = done {
                    self.log(&format!("the cell cannot be frozen: {error}"));
                }
            }
            Moved::Continued(Ok(())) => {
                if let Some(up) = self.cell.up() {
                    up.is_frozen = false;
                }
            }
            Moved::Continued(Err(error)) => self.ended(&format!("its cell cannot be continued: {error}")),
            Moved::Ended => {
                self.cell = Cell::None;
                self.idle = None;
            }
        }
    }

    fn started(&mut self, running: Running) {
        let Running { say, hear, control, speaks_http, roots } = running;
        self.cell = Cell::Up(Up {
            say,
            hear,
            control,
            roots,
            speaks_http,
            modern: Modern::Unknown,
            since: Instant::now(),
            is_frozen: false,
            cannot_be_frozen: false,
            mute: None,
            is_done: false,
        });
        if let Some(front) = &mut self.front {
            front.up();
        }
    }

    fn not_started(&mut self, error: &StartError) {
        self.log(&format!("the cell was not started: {error}"));
        self.cell = Cell::None;
        if let Some(front) = &mut self.front {
            front.gone(&error.reason);
        }
        self.failing.failed(Duration::ZERO, &error.reason, &self.around.times, error.is_final);
        // All who wait are told the same.
        tracing::warn!(cell = %self.key, code = error.code, reason = error.reason, "it could not be started");
        self.refuse_waiting(&AskError::NotStarted { code: error.code, why: error.reason.clone() });
    }

    /// The server has ended by itself, or cannot be spoken to.
    pub(super) fn ended(&mut self, why: &str) {
        let Cell::Up(up) = &mut self.cell else { return };
        if up.is_done {
            return;
        }
        up.is_done = true;
        let lived = up.since.elapsed();
        self.log(&format!("the server has ended: {why}"));
        let is_open = self.front.as_ref().is_some_and(crate::front::Front::is_open);
        let lived = if is_open { lived } else { Duration::ZERO };
        self.failing.failed(lived, why, &self.around.times, false);
        if let Some(front) = &mut self.front {
            front.gone(why);
        }
        self.forget_unsaid();
    }

    /// Nothing more is heard, and nobody said why.
    pub(super) fn lost(&mut self) {
        if let Cell::Ending(hear) = &mut self.cell {
            *hear = None;
        }
        self.ended("its cell went away");
        if let Cell::Up(_) = self.cell {
            self.end_cell();
        }
    }

    /// What differs is not spoken to any more.
    pub(super) fn done_with(&mut self) {
        if let Some(up) = self.cell.up() {
            up.is_done = true;
        }
    }

    fn end_cell(&mut self) {
        let Cell::Up(up) = std::mem::replace(&mut self.cell, Cell::None) else { return };
        if let Some(front) = &mut self.front {
            front.gone("its cell was ended");
        }
        self.forget_unsaid();
        self.settle = None;
        let Up { hear, control, .. } = up;
        self.cell = Cell::Ending(Some(hear));
        self.motion = Some(Box::pin(async move {
            // Whoever made it answers for what is left of it.
            timeout(STEP, control.end()).await.ok();
            Moved::Ended
        }));
    }

    fn note_idleness(&mut self, now: Instant) {
        if self.calls.is_empty() && self.followed.is_empty() {
            self.idle.get_or_insert(now);
        } else {
            self.idle = None;
        }
    }

    fn is_idle_for(&self, long: Duration, now: Instant) -> bool {
        !long.is_zero() && self.idle.is_some_and(|since| since + long <= now)
    }

    /// When there is something to do about nothing being done.
    pub(super) fn idle_ends(&self) -> Option<Instant> {
        let (Cell::Up(_), Some(since)) = (&self.cell, self.idle) else { return None };
        let now = Instant::now();
        let times = &self.around.times;
        let ends = [times.idle_freeze, times.idle_stop].into_iter().filter(|long| !long.is_zero());
        ends.map(|long| since + long).filter(|at| *at > now).min()
    }

    /// Whether nothing would be lost with this task.
    fn is_forgettable(&self) -> bool {
        self.calls.is_empty()
            && self.followed.is_empty()
            && self.levels.is_empty()
            && !self.network.is_behind()
            && self.answers.is_empty()
            && self.failing.forgiven(&self.around.times).is_none_or(|at| at <= Instant::now())
            && self.front.as_ref().is_none_or(|front| !front.is_holding() && !front.is_closed())
    }
}
