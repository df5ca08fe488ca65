//! Sessions of clients that open with `initialize` (MCP up to 2025-11-25).
//!
//! A session is a name, not a right: who asks is read from each request, and a session is nothing to anybody but the one
//! who opened it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use crate::{
    call::Scope,
    guard,
    pool::{Level, LogInterest, Subscription},
};

/// How long a session is kept that nobody uses.
const IDLE: Duration = Duration::from_hours(1);
/// Sessions younger than this are not ended to make room for others.
const YOUNG: Duration = Duration::from_mins(1);
/// As many addresses may one session follow.
pub(super) const MOST_FOLLOWED: usize = 256;
/// As many requests may one session have at once.
pub(super) const MOST_IN_FLIGHT: usize = 256;
/// As many questions may wait for one client.
const MOST_ASKED: usize = 64;

/// All sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    open: Mutex<HashMap<String, Arc<Session>>>,
    most: usize,
}

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    /// Its name: 256 random bits.
    pub(super) id: String,
    /// Who opened it: [`access::principal::Principal::key`].
    principal: String,
    scope: Scope,
    /// What the client can do (MCP 2025-11-25, `ClientCapabilities`).
    pub(super) capabilities: Value,
    /// What the client says of itself.
    pub(super) client_info: Value,
    used: Mutex<Instant>,
    in_flight: Mutex<HashMap<String, oneshot::Sender<()>>>,
    asked: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    counter: AtomicU64,
    followed: Mutex<BTreeMap<String, Option<Subscription>>>,
    logs: Mutex<Option<(Level, Vec<LogInterest>)>>,
    /// The stream that speaks, of those that are open: the newest one.
    speaks: AtomicU64,
    streams: AtomicU64,
    ended: Notify,
    is_ended: AtomicBool,
}

/// What a client has to say to open a session.
#[derive(Debug)]
pub(super) struct Opening {
    /// Who opens it.
    pub(super) principal: String,
    /// Of which servers it is.
    pub(super) scope: Scope,
    /// What the client can do.
    pub(super) capabilities: Value,
    /// What it says of itself.
    pub(super) client_info: Value,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    /// There are too many.
    #[error("too many sessions are open")]
    Full,
    /// The system gives no random bytes.
    #[error("no random name: {0}")]
    Random(#[from] getrandom::Error),
}

impl Sessions {
    /// With room for `most`.
    pub(super) fn new(most: usize) -> Self {
        Self { open: Mutex::default(), most: most.max(1) }
    }

    /// Opens a session. Where there is no room, one that nobody uses makes it: of one's own first, which is all that one
    /// caller's many sessions cost.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub(super) fn open(&self, opening: Opening, now: Instant) -> Result<Arc<Session>, OpenError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let session = Arc::new(Session::new(URL_SAFE_NO_PAD.encode(bytes), opening, now));
        let mut open = lock(&self.open);
        open.retain(|_, session| {
            let is_kept = !session.is_idle_for(IDLE, now);
            if !is_kept {
                session.end();
            }
            is_kept
        });
        let own = open.values().filter(|other| other.principal == session.principal).count();
        let most_of_one = (self.most / 4).max(1);
        let leaving = if own >= most_of_one {
            let own = open.values().filter(|other| other.principal == session.principal);
            Some(longest_idle(own, now, Duration::ZERO).ok_or(OpenError::Full)?)
        } else if open.len() >= self.most {
            Some(longest_idle(open.values(), now, YOUNG).ok_or(OpenError::Full)?)
        } else {
            None
        };
        if let Some(leaving) = leaving.and_then(|id| open.remove(&id)) {
            leaving.end();
        }
        open.insert(session.id.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// The session of this name; none where it is another one's, or of other servers.
    pub(super) fn of(&self, id: &str, principal: &str, scope: &Scope, now: Instant) -> Option<Arc<Session>> {
        let session = lock(&self.open).get(id).cloned()?;
        let is_own = session.principal == principal || guard::off("mcp-session-principal");
        if !is_own || session.scope != *scope || session.is_idle_for(IDLE, now) {
            return None;
        }
        *lock(&session.used) = now;
        Some(session)
    }

    /// Ends one.
    pub(super) fn end(&self, session: &Session) {
        if let Some(session) = lock(&self.open).remove(&session.id) {
            session.end();
        }
    }
}

fn longest_idle<'a>(
    sessions: impl Iterator<Item = &'a Arc<Session>>,
    now: Instant,
    at_least: Duration,
) -> Option<String> {
    let idle = sessions.filter(|session| session.is_idle_for(at_least, now));
    idle.min_by_key(|session| *lock(&session.used)).map(|session| session.id.clone())
}

impl Session {
    fn new(id: String, opening: Opening, now: Instant) -> Self {
        Self {
            id,
            principal: opening.principal,
            scope: opening.scope,
            capabilities: opening.capabilities,
            client_info: opening.client_info,
            used: Mutex::new(now),
            in_flight: Mutex::default(),
            asked: Mutex::default(),
            counter: AtomicU64::new(0),
            followed: Mutex::default(),
            logs: Mutex::default(),
            speaks: AtomicU64::new(0),
            streams: AtomicU64::new(0),
            ended: Notify::new(),
            is_ended: AtomicBool::new(false),
        }
    }

    fn is_idle_for(&self, time: Duration, now: Instant) -> bool {
        self.speaks.load(Ordering::Relaxed) == 0
            && lock(&self.in_flight).is_empty()
            && now.saturating_duration_since(*lock(&self.used)) >= time
    }

    fn end(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
        self.ended.notify_waiters();
        lock(&self.in_flight).clear();
        lock(&self.asked).clear();
        lock(&self.followed).clear();
        *lock(&self.logs) = None;
    }

    /// Done when it has ended.
    pub(super) async fn ended(&self) {
        let ended = self.ended.notified();
        tokio::pin!(ended);
        ended.as_mut().enable();
        if !self.is_ended.load(Ordering::SeqCst) {
            ended.await;
        }
    }

    /// Notes that a request is being answered. It resolves, with an error, when the client takes it back.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(super) fn begin(
        self: &Arc<Self>,
        id: &Value,
    ) -> Result<(InFlight, oneshot::Receiver<()>), &'static str> {
        let (sender, receiver) = oneshot::channel();
        let id = id.to_string();
        let mut in_flight = lock(&self.in_flight);
        if in_flight.len() >= MOST_IN_FLIGHT {
            return Err("too many requests are in flight in this session");
        }
        if in_flight.contains_key(&id) {
            return Err("a request with this id is in flight");
        }
        in_flight.insert(id.clone(), sender);
        drop(in_flight);
        Ok((InFlight { session: Arc::clone(self), id }, receiver))
    }

    /// The client takes a request back.
    pub(super) fn cancel(&self, id: &Value) {
        lock(&self.in_flight).remove(&id.to_string());
    }

    /// Puts a question, whose answer goes to `to`, into words.
    ///
    /// # Errors
    ///
    /// Gives `to` back where too many wait.
    pub(super) fn ask(
        self: &Arc<Self>,
        method: &str,
        params: &Value,
        to: oneshot::Sender<Value>,
    ) -> Result<(Asked, Value), oneshot::Sender<Value>> {
        let id = format!("fumehood-{}", self.counter.fetch_add(1, Ordering::Relaxed));
        let mut asked = lock(&self.asked);
        if asked.len() >= MOST_ASKED {
            return Err(to);
        }
        asked.insert(id.clone(), to);
        drop(asked);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Ok((Asked { session: Arc::clone(self), id }, message))
    }

    /// The client's answer to one.
    pub(super) fn answered(&self, id: &Value, outcome: Value) {
        if let Some(to) = id.as_str().and_then(|id| lock(&self.asked).remove(id)) {
            // Whoever asked may have gone.
            to.send(outcome).ok();
        }
    }

    /// Whether there is room to follow one more address.
    pub(super) fn may_follow(&self, uri: &str) -> bool {
        let followed = lock(&self.followed);
        followed.len() < MOST_FOLLOWED || followed.contains_key(uri)
    }

    /// Follows an address, as the client wrote it; its server is asked for it as long as it does.
    pub(super) fn follow(&self, uri: String, subscription: Option<Subscription>) {
        lock(&self.followed).insert(uri, subscription);
    }

    /// Follows it no longer.
    pub(super) fn leave(&self, uri: &str) {
        lock(&self.followed).remove(uri);
    }

    /// Whether it follows an address.
    pub(super) fn follows(&self, uri: &str) -> bool {
        lock(&self.followed).contains_key(uri)
    }

    /// The addresses that it follows.
    pub(super) fn followed(&self) -> Vec<String> {
        lock(&self.followed).keys().cloned().collect()
    }

    /// From which level on logs are wanted.
    pub(super) fn level(&self) -> Option<Level> {
        lock(&self.logs).as_ref().map(|(level, _)| *level)
    }

    /// Logs are wanted from a level on; servers are asked for them as long as they are.
    pub(super) fn set_level(&self, level: Level, interests: Vec<LogInterest>) {
        *lock(&self.logs) = Some((level, interests));
    }

    /// Opens a stream of what is of no request. The newest one speaks; what is told on one is told on no other.
    pub(super) fn stream(self: &Arc<Self>) -> Listening {
        let number = self.streams.fetch_add(1, Ordering::SeqCst) + 1;
        self.speaks.store(number, Ordering::SeqCst);
        Listening { session: Arc::clone(self), number }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct InFlight {
    session: Arc<Session>,
    id: String,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        lock(&self.session.in_flight).remove(&self.id);
        *lock(&self.session.used) = Instant::now();
    }
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(super) struct Asked {
    session: Arc<Session>,
    id: String,
}

impl Drop for Asked {
    fn drop(&mut self) {
        lock(&self.session.asked).remove(&self.id);
    }
}

/// An open stream.
#[derive(Debug)]
pub(super) struct Listening {
    session: Arc<Session>,
    number: u64,
}

impl Listening {
    /// Whether this is the one that speaks. Where the newest one has gone, whoever asks first takes its place.
    pub(super) fn speaks(&self) -> bool {
        let own = self.number;
        let taken = self.session.speaks.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst);
        taken.map_or_else(|speaks| speaks == own, |_| true)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let own = self.number;
        self.session.speaks.compare_exchange(own, 0, Ordering::SeqCst, Ordering::SeqCst).ok();
        *lock(&self.session.used) = Instant::now();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
