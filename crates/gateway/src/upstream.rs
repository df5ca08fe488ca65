//! One running server, which several callers use at once.
//!
//! A task per cell plays the one client of a [`crate::front::Front`]: requests of many callers go to the server under ids
//! that are ours, and each answer goes to the caller it belongs to and to nobody else. The task is there before its cell
//! runs and after; it starts the cell when something is asked, freezes and ends it when nothing is.
//!
//! Nothing waits within the task: what takes long is a future that it looks at beside everything else.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    fmt,
    sync::Arc,
};

use access::principal::Principal;

use futures_util::{
    future::BoxFuture,
    stream::{FuturesUnordered, StreamExt},
};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Duration, Instant},
};

use self::{
    call::Call,
    cell::{Cell, Moved},
    failing::Failing,
    network::Network,
    wire::Ids,
};
use crate::front::Front;

mod ask;
mod call;
mod calls;
mod cell;
mod era;
mod failing;
mod following;
mod hearing;
mod key;
mod network;
mod opening;
pub(crate) mod post;
mod running;
mod saying;
mod surroundings;
mod times;
mod told;
mod wire;

pub use ask::{Answer, Ask, AskError, Question};
pub use key::{CellKey, Holder};
pub use running::{Cells, Control, Heard, Running, StartError};
pub use surroundings::{Accepted, Changes, Record, Seen};
pub use times::Times;
pub use told::{Level, Told};
pub use wire::UNANSWERED;

use post::{Around, Post};

/// Messages that are taken at once before anything else is looked at.
const AT_ONCE: usize = 64;

/// Takes a cell's task off whatever finds it, unless something was posted meanwhile; whether it did. It is handed the
/// question whether nothing was.
pub(crate) type Retire = Box<dyn Fn(&dyn Fn() -> bool) -> bool + Send>;

/// The task of one cell.
pub(crate) struct Upstream {
    key: CellKey,
    around: Around,
    retire: Retire,
    mailbox: mpsc::UnboundedReceiver<Post>,
    /// For what tells the task later that it is not wanted any more.
    own: mpsc::WeakUnboundedSender<Post>,
    /// None where nothing was accepted when it was last looked.
    front: Option<Front>,
    accepted: Option<Accepted>,
    /// Why nothing may be used.
    shut: Option<AskError>,
    ids: Ids,
    calls: HashMap<u64, Call>,
    /// Those that the front has not got yet, in order; ones that were withdrawn may stand there still.
    waiting: VecDeque<u64>,
    /// When to look after which call. INVARIANT: each call of `calls` once, at its `timer`.
    timers: BTreeSet<(Instant, u64)>,
    /// The server's questions that a caller has, by a number of ours.
    questions: HashMap<u64, hearing::Asked>,
    answers: FuturesUnordered<BoxFuture<'static, (u64, Value)>>,
    cell: Cell,
    motion: Option<BoxFuture<'static, Moved>>,
    to_server: VecDeque<Vec<u8>>,
    /// Bytes in it.
    unsaid: usize,
    network: Network,
    failing: Failing,
    settle: Option<Instant>,
    idle: Option<Instant>,
    /// Withdrawn calls may still be at work until then.
    unheeding: Option<Instant>,
    /// Who asked for something last, where the cell is one user's: it is started anew for whoever follows addresses, too.
    user: Option<Arc<Principal>>,
    /// How many follow an address.
    followed: HashMap<String, u32>,
    levels: HashMap<u64, Level>,
    /// The cell is to be ended for another one, at that time at the latest.
    leaving: Option<Instant>,
    /// No more calls come, and those there are have until then.
    stopping: Option<Instant>,
    stopped: Vec<oneshot::Sender<()>>,
    /// Nobody can ask any more.
    is_forsaken: bool,
    is_over: bool,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What has happened.
enum Event {
    Posts,
    /// The number of things heard; none where the cell's line is closed.
    Heard(usize),
    Moved(Moved),
    /// There is room for what is to be said, or nobody reads it any more.
    Room,
    Recorded,
    Answered(u64, Value),
    Time,
}

impl Upstream {
    /// Begins the task, within a runtime.
    pub(crate) fn begin(key: CellKey, around: Around, retire: Retire) -> mpsc::UnboundedSender<Post> {
        let (sender, mailbox) = mpsc::unbounded_channel();
        let mut upstream = Self {
            front: None,
            accepted: None,
            shut: None,
            ids: Ids::new(&opening::random()),
            calls: HashMap::new(),
            waiting: VecDeque::new(),
            timers: BTreeSet::new(),
            questions: HashMap::new(),
            answers: FuturesUnordered::new(),
            cell: Cell::None,
            motion: None,
            to_server: VecDeque::new(),
            unsaid: 0,
            network: Network::to(around.record.clone()),
            failing: Failing::default(),
            settle: None,
            idle: None,
            unheeding: None,
            user: None,
            followed: HashMap::new(),
            levels: HashMap::new(),
            leaving: None,
            stopping: None,
            stopped: Vec::new(),
            is_forsaken: false,
            is_over: false,
            own: sender.downgrade(),
            key,
            around,
            retire,
            mailbox,
        };
        tokio::spawn(async move { upstream.go_on().await });
        sender
    }

    async fn go_on(&mut self) {
        let mut posts = Vec::with_capacity(AT_ONCE);
        let mut heard = Vec::with_capacity(AT_ONCE);
        let timer = tokio::time::sleep(Duration::ZERO);
        tokio::pin!(timer);
        let mut armed: Option<Instant> = None;
        loop {
            self.carry_out();
            self.proceed();
            self.carry_out();
            self.say();
            if self.is_over {
                return;
            }
            // A timer that fires too early costs less than one that is set anew for each call.
            if let Some(next) = self.next_time()
                && armed.is_none_or(|at| next < at)
            {
                timer.as_mut().reset(next);
                armed = Some(next);
            }
            let can_say = self.can_say() && !self.to_server.is_empty();
            let may_hear = self.may_hear();
            let (hear, say) = self.cell.ends();
            let event = tokio::select! {
                count = self.mailbox.recv_many(&mut posts, AT_ONCE), if !self.is_forsaken => {
                    self.is_forsaken = count == 0;
                    Event::Posts
                }
                count = cell::hear(hear, &mut heard, AT_ONCE), if may_hear => Event::Heard(count),
                moved = cell::moved(&mut self.motion), if self.motion.is_some() => {
                    self.motion = None;
                    Event::Moved(moved)
                }
                () = cell::room(say), if can_say => Event::Room,
                () = self.network.tell(), if self.network.is_behind() => Event::Recorded,
                Some((number, answer)) = self.answers.next(), if !self.answers.is_empty() => {
                    Event::Answered(number, answer)
                }
                () = &mut timer, if armed.is_some() => {
                    armed = None;
                    Event::Time
                }
            };
            match event {
                Event::Posts => posts.drain(..).for_each(|post| self.posted(post)),
                Event::Heard(0) => self.lost(),
                Event::Heard(_) => heard.drain(..).for_each(|one| self.heard(one)),
                Event::Moved(moved) => self.moved(moved),
                Event::Answered(number, answer) => self.answered(number, answer),
                Event::Time => self.time(),
                Event::Room | Event::Recorded => {}
            }
        }
    }

    fn posted(&mut self, post: Post) {
        match post {
            Post::Ask(asked) => self.asked(*asked),
            Post::Cancel(number) => self.cancelled(number),
            Post::Level(number, level) => self.level(number, level),
            Post::Leave(uri) => self.unfollow(&uri),
            Post::Reload => self.reload(),
            Post::Stop { by, done } => {
                self.stopping = Some(self.stopping.map_or(by, |before| before.min(by)));
                self.stopped.push(done);
            }
        }
    }

    fn log(&self, said: &str) {
        tracing::debug!(server = %self.key.server, cell = %self.key, "{said}");
    }

    /// The first time at which something is to be looked at.
    fn next_time(&self) -> Option<Instant> {
        let now = Instant::now();
        let to_come = [
            self.leaving.filter(|_| !self.calls.is_empty()),
            self.stopping.filter(|_| !self.calls.is_empty()),
            self.idle_ends(),
            self.cell.patience(),
            self.failing.held_until(),
            self.failing.forgiven(&self.around.times).filter(|_| matches!(self.cell, Cell::None)),
        ];
        // What has come was looked at just now.
        let to_come = to_come.into_iter().flatten().filter(|at| *at > now);
        self.timers.first().map(|(at, _)| *at).into_iter().chain(self.settle).chain(to_come).min()
    }

    fn time(&mut self) {
        let now = Instant::now();
        if self.settle.is_some_and(|at| at <= now) {
            self.settle = None;
            if let Some(front) = &mut self.front {
                front.settled();
            }
        }
        self.look_after_calls(now);
    }
}
