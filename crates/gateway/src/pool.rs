//! Running cells by whom they are for: started, frozen when idle, stopped, woken.
//!
//! A call names the cell that it is for. Where that one does not run it is started, and the call waits; where it is frozen
//! it is continued. A call is handed to a server once at most: what a server had when it ended is answered with that, and
//! is not asked again.
//!
//! Nothing here is keyed by a session or by a connection: those are names, not rights.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use access::principal::Principal;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, oneshot},
    time::{Duration, Instant},
};

use crate::guard;
use crate::upstream::{
    Upstream,
    post::{Around, Asked, End, Ends, MOST_CALLS, Post, Said, Settled},
};

pub use crate::upstream::{
    Accepted, Answer, Ask, AskError, CellKey, Cells, Changes, Control, Heard, Holder, Level, Question,
    Record, Running, Seen, StartError, Times, Told, UNANSWERED,
};

/// Notifications that a listener may be behind with until it misses the oldest.
const TOLD: usize = 1_024;
/// Events at the edges of cells that may wait to be kept, apart from those that wait in each cell.
const SEEN: usize = 256;

/// Every running cell, and those that may be started. Cheap to clone; when the last clone is dropped the cells are ended.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    around: Around,
    tasks: Mutex<HashMap<CellKey, Task>>,
    is_stopping: AtomicBool,
}

/// The task of one cell, as those know it who want something of it.
#[derive(Clone)]
struct Task {
    mailbox: mpsc::UnboundedSender<Post>,
    room: Arc<Semaphore>,
}

impl Pool {
    /// An empty one, within a runtime. `changes` knows what was accepted, and `record` keeps what happens at the edges of
    /// cells.
    pub fn new(
        cells: Arc<dyn Cells>,
        changes: Arc<dyn Changes>,
        record: Arc<dyn Record>,
        times: Times,
    ) -> Self {
        let (to_record, mut seen) = mpsc::channel(SEEN);
        tokio::spawn(async move {
            while let Some(one) = seen.recv().await {
                record.network(one).await;
            }
        });
        let around = Around {
            cells,
            changes,
            times: Arc::new(times),
            told: broadcast::Sender::new(TOLD),
            record: to_record,
            numbers: Arc::new(AtomicU64::new(1)),
        };
        Self(Arc::new(Inner { around, tasks: Mutex::default(), is_stopping: AtomicBool::new(false) }))
    }

    /// Asks the server in a cell, which is started or continued for it. `who` asks: where the cell is one user's, it is
    /// this user's. Dropping the future withdraws the request: the server is told, where it has it.
    ///
    /// # Errors
    ///
    /// [`AskError`] where there is no answer of the server. Such a request is never made again by itself.
    pub async fn ask(
        &self,
        key: &CellKey,
        who: Option<Arc<Principal>>,
        ask: Ask,
    ) -> Result<Answer, AskError> {
        Ok(self.settle(key, who, ask, None).await?.0)
    }

    /// Asks for notifications about a resource: `ask` is `resources/subscribe` with its address. They come by
    /// [`Pool::notifications`] as long as what is returned is kept, also after the server was started anew.
    ///
    /// # Errors
    ///
    /// As [`Pool::ask`]. The server's own error is no error here, and leaves nothing to keep.
    pub async fn subscribe(
        &self,
        key: &CellKey,
        who: Option<Arc<Principal>>,
        ask: Ask,
    ) -> Result<(Answer, Option<Subscription>), AskError> {
        let uri = ask.params.get("uri").and_then(Value::as_str).map(str::to_owned);
        let (answer, ends) = self.settle(key, who, ask, uri).await?;
        Ok((answer, ends.map(|ends| Subscription { _ends: ends })))
    }

    async fn settle(
        &self,
        key: &CellKey,
        who: Option<Arc<Principal>>,
        ask: Ask,
        follows: Option<String>,
    ) -> Result<(Answer, Option<Ends>), AskError> {
        let number = self.0.around.number();
        let (reply, settled) = oneshot::channel();
        let asked = |room| Post::Ask(Box::new(Asked { number, who, ask, follows, reply, room }));
        let mailbox = self.0.post_ask(key, asked)?;
        let mut withdrawn = Withdrawn { mailbox: Some(mailbox), number };
        let Ok(Settled { outcome, follows }) = settled.await else {
            // The task of a cell answers everything before it ends.
            return Err(AskError::Ended { why: "its task has ended".to_owned(), was_sent: true });
        };
        withdrawn.mailbox = None;
        outcome.and_then(Said::answer).map(|answer| (answer, follows))
    }

    /// A reader of what a server logs, from a level on: the server is told the lowest level of all of its readers. It
    /// comes by [`Pool::notifications`]. No cell is started for it.
    pub fn read_logs(&self, key: &CellKey, level: Level) -> LogInterest {
        let number = self.0.around.number();
        let mut tasks = self.0.tasks();
        let Task { mailbox, .. } = self.0.task(&mut tasks, key);
        mailbox.send(Post::Level(number, Some(level))).ok();
        drop(tasks);
        LogInterest { _ends: Ends::new(mailbox.downgrade(), End::Reading(number)) }
    }

    /// What servers tell that is of no one call, from now on. Whoever does not keep up misses the oldest of it.
    pub fn notifications(&self) -> broadcast::Receiver<Told> {
        self.0.around.told.subscribe()
    }

    /// Has another look at what is accepted. Cells of servers that were removed, or that depend on something which has
    /// changed, are ended when what is in flight in them has ended, at the latest after [`Times::drain`]; calls that come
    /// meanwhile wait for the new cell.
    pub fn reload(&self) {
        for task in self.0.tasks().values() {
            task.mailbox.send(Post::Reload).ok();
        }
    }

    /// Takes no more calls. Those in flight have `grace` to end; then they are withdrawn and answered. Returns when no cell
    /// runs any more.
    pub async fn stop(&self, grace: Duration) {
        let by = Instant::now() + grace;
        let ended: Vec<oneshot::Receiver<()>> = {
            let tasks = self.0.tasks();
            self.0.is_stopping.store(true, Ordering::Release);
            let stop = |task: &Task| {
                let (done, ended) = oneshot::channel();
                task.mailbox.send(Post::Stop { by, done }).ok();
                ended
            };
            tasks.values().map(stop).collect()
        };
        join_all(ended).await;
    }

    /// The cells that have a task now: they run, may be started again soon, or hold something.
    pub fn keys(&self) -> Vec<CellKey> {
        self.0.tasks().keys().cloned().collect()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("keys", &self.keys()).finish_non_exhaustive()
    }
}

impl Inner {
    fn tasks(&self) -> MutexGuard<'_, HashMap<CellKey, Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a request, under the lock: a task takes itself off only while nothing is posted to it.
    fn post_ask(
        self: &Arc<Self>,
        key: &CellKey,
        asked: impl FnOnce(OwnedSemaphorePermit) -> Post,
    ) -> Result<mpsc::UnboundedSender<Post>, AskError> {
        let mut tasks = self.tasks();
        if self.is_stopping.load(Ordering::Acquire) {
            return Err(AskError::Stopping);
        }
        let Task { mailbox, room } = self.task(&mut tasks, key);
        let busy = || AskError::Busy(format!("{MOST_CALLS} calls wait for the server already"));
        let room = room.try_acquire_owned().map_err(|_| busy())?;
        mailbox.send(asked(room)).ok();
        drop(tasks);
        Ok(mailbox)
    }

    /// The task of a cell, which is begun where there is none.
    fn task(self: &Arc<Self>, tasks: &mut HashMap<CellKey, Task>, key: &CellKey) -> Task {
        if let Some(task) = tasks.get(key).filter(|task| !task.mailbox.is_closed()) {
            return task.clone();
        }
        let (pool, own) = (Arc::downgrade(self), key.clone());
        let retire = Box::new(move |is_unasked: &dyn Fn() -> bool| retire(&pool, &own, is_unasked));
        let mailbox = Upstream::begin(key.clone(), self.around.clone(), retire);
        let task = Task { mailbox, room: Arc::new(Semaphore::new(MOST_CALLS)) };
        tasks.insert(key.clone(), task.clone());
        task
    }
}

/// Takes a task off, unless something was posted to it.
fn retire(pool: &Weak<Inner>, key: &CellKey, is_unasked: &dyn Fn() -> bool) -> bool {
    let Some(pool) = pool.upgrade() else { return true };
    let mut tasks = pool.tasks();
    let is_unasked = is_unasked() || guard::off("pool-wake");
    if is_unasked {
        tasks.remove(key);
    }
    is_unasked
}

/// Tells the task of a cell that a caller has gone, where it is dropped before its call was answered.
struct Withdrawn {
    mailbox: Option<mpsc::UnboundedSender<Post>>,
    number: u64,
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        if let Some(mailbox) = &self.mailbox {
            mailbox.send(Post::Cancel(self.number)).ok();
        }
    }
}

/// A resource that a caller follows. It is followed at the server as long as one caller does; dropping this ends it for
/// one.
#[must_use]
#[derive(Debug)]
pub struct Subscription {
    _ends: Ends,
}

/// A caller who reads the logs of a server. Dropping this ends it.
#[must_use]
#[derive(Debug)]
pub struct LogInterest {
    _ends: Ends,
}
