//! Keys that are kept.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use access::token::KeySet;
use http::Uri;
use serde_json::Value;
use tokio::sync::watch;

use super::error::KeysError;
use super::fetch::{MAX_BYTES, get};
use super::source::{Settings, Source, address, documents};
use crate::guard;

/// What time it is; handed in so that tests need not wait.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

/// The keys of one issuer. Clones are the same keys.
#[derive(Debug, Clone)]
pub struct Keys {
    inner: Arc<Inner>,
}

/// How an issuer's keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeysHealth {
    /// They are fresh.
    Fresh,
    /// They are old, because fetching fails.
    Stale {
        /// How old.
        age: Duration,
        /// Why they are not newer.
        why: KeysError,
    },
    /// There are none that may be used.
    Absent {
        /// Why not.
        why: KeysError,
    },
}

struct Inner {
    settings: Settings,
    clock: Clock,
    state: Mutex<State>,
    /// Counts the fetches that ended.
    ended: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    kept: Option<Kept>,
    /// When the last fetch ended, and what came of it.
    last: Option<(Instant, Result<(), KeysError>)>,
    /// Where the issuer's document says that the keys are, and since when that is known.
    found: Option<(Instant, Uri)>,
    is_fetching: bool,
}

#[derive(Clone)]
struct Kept {
    set: Arc<KeySet>,
    since: Instant,
}

impl Clock {
    /// The machine's own, which no setting of the time moves.
    pub fn monotonic() -> Self {
        Self(Arc::new(Instant::now))
    }

    /// Another one.
    pub fn of(now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    fn now(&self) -> Instant {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}

impl Keys {
    /// Keys of an issuer; nothing is fetched yet.
    pub fn new(settings: Settings, clock: Clock) -> Self {
        let ended = watch::Sender::new(0);
        let state = Mutex::new(State::default());
        Self { inner: Arc::new(Inner { settings, clock, state, ended }) }
    }

    /// The same where the configuration was read anew: what `before` has kept stays, if it is from the same place.
    #[must_use]
    pub fn succeeding(settings: Settings, before: &Self) -> Self {
        let (old, clock) = (&before.inner.settings, before.inner.clock.clone());
        let is_same = old.issuer == settings.issuer && old.source == settings.source;
        let keys = Self::new(settings, clock);
        if is_same {
            let kept = before.inner.lock().kept.clone();
            keys.inner.lock().kept = kept;
        }
        keys
    }

    /// Whose, from where and when.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The keys as they are; they are fetched first where there are none, or none that are fresh.
    ///
    /// # Errors
    ///
    /// [`KeysError`] where there are none that may be used: why fetching failed.
    pub async fn current(&self) -> Result<Arc<KeySet>, KeysError> {
        let times = self.inner.settings.times;
        match self.age() {
            Some(_) if matches!(self.inner.settings.source, Source::File(_)) => {}
            Some(age) if age < times.renew => {}
            Some(age) if age < times.fresh || (age < times.stale && self.fails()) => {
                self.start(times.retry);
            }
            Some(_) if guard::off("jwks-fresh") => {}
            _ => {
                self.fetch(times.retry).await;
            }
        }
        self.usable()
    }

    /// The keys, fetched anew for a token whose key is not among those of `current`, unless that was done a moment ago: `None`
    /// where nothing newer is there.
    pub async fn newer(&self, than: &Arc<KeySet>) -> Option<Arc<KeySet>> {
        if matches!(self.inner.settings.source, Source::File(_)) {
            return None;
        }
        let pause = if guard::off("jwks-pause") { Duration::ZERO } else { self.inner.settings.times.pause };
        self.fetch(pause).await;
        self.usable().ok().filter(|set| !Arc::ptr_eq(set, than))
    }

    /// Fetches the keys whatever was kept: at the start, and when the configuration is read anew. What was kept stays where it
    /// fails.
    ///
    /// # Errors
    ///
    /// [`KeysError`]: why there are no newer ones.
    pub async fn reload(&self) -> Result<Arc<KeySet>, KeysError> {
        // One that is under way may have read what was there before.
        if !self.fetch(Duration::ZERO).await {
            self.fetch(Duration::ZERO).await;
        }
        if let Some((_, Err(error))) = &self.inner.lock().last {
            return Err(error.clone());
        }
        self.usable()
    }

    /// Keeps them fresh without anybody asking, until it is dropped.
    pub async fn keep(self) {
        if matches!(self.inner.settings.source, Source::File(_)) {
            return std::future::pending().await;
        }
        loop {
            let times = self.inner.settings.times;
            self.fetch(times.retry).await;
            tokio::time::sleep(if self.fails() { times.pause } else { times.renew }).await;
        }
    }

    /// How they are.
    pub fn health(&self) -> KeysHealth {
        let failure = match &self.inner.lock().last {
            Some((_, Err(error))) => Some(error.clone()),
            _ => None,
        };
        match (self.usable(), failure) {
            (Err(why), _) => KeysHealth::Absent { why },
            (Ok(_), None) => KeysHealth::Fresh,
            (Ok(_), Some(why)) => match self.age() {
                Some(age) if age >= self.inner.settings.times.fresh => KeysHealth::Stale { age, why },
                _ => KeysHealth::Fresh,
            },
        }
    }

    fn age(&self) -> Option<Duration> {
        let now = self.inner.clock.now();
        self.inner.lock().kept.as_ref().map(|kept| now.saturating_duration_since(kept.since))
    }

    fn usable(&self) -> Result<Arc<KeySet>, KeysError> {
        let is_file = matches!(self.inner.settings.source, Source::File(_));
        let now = self.inner.clock.now();
        let state = self.inner.lock();
        let young = state.kept.as_ref().filter(|kept| {
            let age = now.saturating_duration_since(kept.since);
            is_file || age < self.inner.settings.times.stale || guard::off("jwks-stale")
        });
        match (young, &state.last) {
            (Some(kept), _) => Ok(Arc::clone(&kept.set)),
            (None, Some((_, Err(error)))) => Err(error.clone()),
            (None, _) => Err(KeysError::Absent(self.inner.settings.issuer.clone())),
        }
    }

    /// Whether the last fetch failed. Nobody waits for the next one then, where there are keys that may be used.
    fn fails(&self) -> bool {
        self.inner.lock().last.as_ref().is_some_and(|(_, outcome)| outcome.is_err())
    }

    /// Fetches, or waits for who does, unless the last fetch ended less than `pause` ago. Whether it was fetched for this caller.
    async fn fetch(&self, pause: Duration) -> bool {
        match self.start(pause) {
            Start::Soon => true,
            Start::Joined(mut ended) => {
                // The sender lives as long as `self`.
                ended.changed().await.ok();
                false
            }
            Start::Begun(mut ended) => {
                ended.changed().await.ok();
                true
            }
        }
    }

    /// Begins a fetch, which goes on if whoever wanted it goes away.
    fn start(&self, pause: Duration) -> Start {
        let now = self.inner.clock.now();
        let mut state = self.inner.lock();
        let ended = self.inner.ended.subscribe();
        if state.is_fetching {
            return Start::Joined(ended);
        }
        // What was fetched is tried again after `pause`, what failed after `retry`.
        let is_too_soon = state.last.as_ref().is_some_and(|(at, outcome)| {
            let pause = if outcome.is_err() { pause.min(self.inner.settings.times.retry) } else { pause };
            now.saturating_duration_since(*at) < pause
        });
        if is_too_soon {
            return Start::Soon;
        }
        state.is_fetching = true;
        drop(state);
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            // Also where it panics: nobody waits for ever.
            let _done = Done(&inner);
            let outcome = inner.fetched().await;
            inner.keep(outcome);
        });
        Start::Begun(ended)
    }
}

/// What came of wanting a fetch.
enum Start {
    /// The last one was a moment ago.
    Soon,
    /// One is under way; it tells when it ends.
    Joined(watch::Receiver<u64>),
    /// One has begun.
    Begun(watch::Receiver<u64>),
}

struct Done<'a>(&'a Inner);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        // Both at once: whoever subscribes under this lock waits for a fetch that has not ended.
        let mut state = self.0.lock();
        state.is_fetching = false;
        self.0.ended.send_modify(|ended| *ended = ended.wrapping_add(1));
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, outcome: Result<KeySet, KeysError>) {
        let now = self.clock.now();
        let mut state = self.lock();
        match outcome {
            Ok(set) => {
                state.kept = Some(Kept { set: Arc::new(set), since: now });
                state.last = Some((now, Ok(())));
            }
            Err(error) => {
                tracing::warn!(
                    issuer = self.settings.issuer,
                    code = error.code(),
                    "keys could not be fetched: {error}"
                );
                // They may have moved.
                state.found = None;
                state.last = Some((now, Err(error)));
            }
        }
    }

    async fn fetched(&self) -> Result<KeySet, KeysError> {
        let bytes = match &self.settings.source {
            Source::File(path) => read(path).await?,
            Source::Address(text) => self.get(&address(text, &self.settings.issuer)?).await?,
            Source::Discovery => {
                let uri = self.discovered().await?;
                self.get(&uri).await?
            }
        };
        KeySet::parse(&bytes).map_err(|why| KeysError::Set { issuer: self.settings.issuer.clone(), why })
    }

    async fn get(&self, uri: &Uri) -> Result<Vec<u8>, KeysError> {
        get(uri, &self.settings.trust, self.settings.times.timeout).await.map(Vec::from)
    }

    /// Where the issuer says that its keys are; believed for an hour, or until fetching fails.
    async fn discovered(&self) -> Result<Uri, KeysError> {
        let now = self.clock.now();
        let known = self.lock().found.clone();
        if let Some((since, uri)) = known
            && now.saturating_duration_since(since) < DISCOVERY
        {
            return Ok(uri);
        }
        let [first, second] = documents(&self.settings.issuer)?;
        let (at, document) = match self.get(&first).await {
            Ok(document) => (first, document),
            Err(KeysError::Status { .. }) => {
                let document = self.get(&second).await?;
                (second, document)
            }
            Err(error) => return Err(error),
        };
        let uri = self.read(&at, &document)?;
        self.lock().found = Some((now, uri.clone()));
        Ok(uri)
    }

    /// What a document says. It has to be this issuer's (RFC 8414, section 3.3): else one tenant of a host names the keys of
    /// another.
    fn read(&self, at: &Uri, document: &[u8]) -> Result<Uri, KeysError> {
        let wrong = |why| KeysError::Document { address: at.to_string(), why };
        let document = model::json::parse(document).map_err(|_| wrong("is no JSON"))?;
        let issuer = document.get("issuer").and_then(Value::as_str);
        if issuer != Some(&self.settings.issuer) && !guard::off("jwks-issuer") {
            return Err(wrong("is of another issuer"));
        }
        let keys = document.get("jwks_uri").and_then(Value::as_str).ok_or_else(|| wrong("names no keys"))?;
        address(keys, &self.settings.issuer)
    }
}

/// How long it is believed where the keys are.
const DISCOVERY: Duration = Duration::from_hours(1);

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("settings", &self.settings).finish_non_exhaustive()
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, KeysError> {
    let shown = path.display().to_string();
    let failed = |why: String| KeysError::File { path: shown.clone(), why };
    let path = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        io::Result::Ok(bytes)
    });
    let bytes = reading.await.map_err(|error| failed(error.to_string()))?;
    let bytes = bytes.map_err(|error| failed(error.to_string()))?;
    if bytes.len() > MAX_BYTES { Err(failed("it is larger than 512 KiB".to_owned())) } else { Ok(bytes) }
}
