//! Between a client and a server: one session of MCP over stdio, on each side.
//!
//! The client is answered at once from what was accepted, while the server starts beside it. Towards the server it is
//! Fumehood itself that says hello, always as the same client, and reads its lists; only when they are what was accepted do
//! the client's calls pass. A change later on holds what has changed. Nothing here ever takes a new text for accepted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::profile::Profile;
use serde_json::Value;
use tools::{fingerprint::Fingerprint, introspect::Introspection, surface::Surface};

use self::{catalog::Catalog, message::Id};

pub use notice::Notice;

mod catalog;
mod inwards;
mod message;
mod notice;
mod outwards;

/// One session.
#[derive(Debug)]
pub struct Front {
    profile: Profile,
    /// Begins the ids of our own requests to the server; nobody else knows it.
    prefix: String,
    /// How many readings were begun: each has ids of its own.
    readings: u32,
    catalog: Catalog,
    phase: Phase,
    client: Client,
    /// The client's requests that the server has and has not answered.
    in_flight: BTreeMap<Id, String>,
    /// The server's requests that the client has and has not answered.
    asked_of_client: BTreeSet<Id>,
    out: VecDeque<Order>,
}

/// What is to be done, in this order.
#[derive(Debug, PartialEq)]
pub enum Order {
    /// One line for the client.
    ToClient(Vec<u8>),
    /// One line for the server.
    ToServer(Vec<u8>),
    /// Start the server, which somebody needs now.
    Start,
    /// Call [`Front::settled`] when the server has said nothing for a while.
    Settle,
    /// The running server is the one that was accepted.
    Same,
    /// It is not. Where `whole`, nothing of it may be used, and it is to be ended; else what has changed is held.
    Changed {
        /// What it offers now, or why that cannot be told.
        now: Box<Result<Surface, String>>,
        /// Whether it is refused as a whole.
        whole: bool,
    },
    /// Something for the log.
    Log(String),
}

/// How far the server is.
#[derive(Debug)]
enum Phase {
    /// It may not be started.
    Closed,
    /// Nobody has needed it yet.
    Idle { held: Held },
    /// It is being started.
    Starting { held: Held },
    /// It runs, and is compared.
    Comparing { held: Held, introspection: Introspection },
    /// It is the one that was accepted. `seen` is the last other one that was seen since.
    Open { introspection: Introspection, seen: Option<Fingerprint> },
    /// It has ended.
    Gone,
}

/// What a client wants of a server that is not ready.
#[derive(Debug, Default)]
struct Held {
    lines: VecDeque<Waiting>,
    bytes: usize,
}

#[derive(Debug)]
struct Waiting {
    id: Option<Id>,
    method: String,
    line: Vec<u8>,
}

/// What is known of the client.
#[derive(Debug, Default)]
struct Client {
    said_hello: bool,
    is_ready: bool,
    capabilities: Option<Value>,
}

impl Held {
    /// As many calls may wait; further ones are refused.
    const MOST: usize = 1_024;
    /// As many bytes of them.
    const MOST_BYTES: usize = 64 << 20;

    fn has_room(&self, bytes: usize) -> bool {
        self.lines.len() < Self::MOST && self.bytes.saturating_add(bytes) <= Self::MOST_BYTES
    }

    fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.line.len();
        self.lines.push_back(waiting);
    }

    /// Forgets a request; whether it was there.
    fn drop_request(&mut self, id: &Id) -> bool {
        let before = self.lines.len();
        self.lines.retain(|waiting| waiting.id.as_ref() != Some(id));
        self.lines.len() != before
    }
}

impl Front {
    /// For a server that was accepted. `prefix` begins the ids of our own requests, and must not be guessable.
    pub fn accepted(surface: Surface, profile: Profile, prefix: String) -> Self {
        Self::new(Catalog::of(surface), Phase::Idle { held: Held::default() }, profile, prefix)
    }

    /// For a server of which nothing may be used: the client finds one entry that says so.
    pub fn closed(notice: Notice, profile: Profile, prefix: String) -> Self {
        Self::new(Catalog::closed(notice), Phase::Closed, profile, prefix)
    }

    fn new(catalog: Catalog, phase: Phase, profile: Profile, prefix: String) -> Self {
        Self {
            profile,
            prefix,
            readings: 0,
            catalog,
            phase,
            client: Client::default(),
            in_flight: BTreeMap::new(),
            asked_of_client: BTreeSet::new(),
            out: VecDeque::new(),
        }
    }

    /// The next thing to be done.
    pub fn next(&mut self) -> Option<Order> {
        self.out.pop_front()
    }

    /// Why nothing can be used, where that has changed; a client that reads its lists sees it.
    pub fn notice(&mut self, notice: Notice) {
        self.catalog.notice = Some(notice);
        self.tell_lists_changed();
    }

    /// A person has accepted it, elsewhere. The server is to be started.
    pub fn accept(&mut self, surface: Surface, profile: Profile) {
        let old = self.catalog.announced();
        self.catalog = Catalog::of(surface);
        self.profile = profile;
        self.phase = Phase::Idle { held: Held::default() };
        if self.client.is_ready {
            for line in Catalog::tell_changed(old) {
                self.out.push_back(Order::ToClient(line));
            }
        }
    }

    /// The server is started, though nobody needs it yet.
    pub fn starting(&mut self) {
        if let Phase::Idle { held } = &mut self.phase {
            self.phase = Phase::Starting { held: std::mem::take(held) };
        }
    }

    /// The server runs and can be spoken to.
    pub fn up(&mut self) {
        self.starting();
        let Phase::Starting { held } = &mut self.phase else { return };
        let held = std::mem::take(held);
        self.readings += 1;
        let ids = format!("{}{}-", self.prefix, self.readings);
        let mut introspection = Introspection::new(&self.profile, &ids);
        let lines = introspection.begin();
        self.phase = Phase::Comparing { held, introspection };
        self.to_server(&lines);
    }

    /// The server has ended, or could not be started. Whoever waits for an answer gets one.
    pub fn gone(&mut self, why: &str) {
        let mut waiting: Vec<Id> = std::mem::take(&mut self.in_flight).into_keys().collect();
        if let Phase::Idle { held } | Phase::Starting { held } | Phase::Comparing { held, .. } =
            &mut self.phase
        {
            waiting.extend(std::mem::take(held).lines.into_iter().filter_map(|waiting| waiting.id));
        }
        if !matches!(self.phase, Phase::Closed) {
            self.phase = Phase::Gone;
        }
        for id in waiting {
            self.answer(message::error(
                Some(&id),
                message::INTERNAL_ERROR,
                &format!("FH-SERVER-ENDED: {why}"),
            ));
        }
    }

    /// Whether somebody waits for an answer that only the server can give.
    pub fn is_waiting(&self) -> bool {
        match &self.phase {
            Phase::Idle { held } | Phase::Starting { held } | Phase::Comparing { held, .. } => {
                held.lines.iter().any(|waiting| waiting.id.is_some())
            }
            Phase::Closed | Phase::Open { .. } | Phase::Gone => false,
        }
    }

    /// Whether nothing may be used.
    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// Whether calls pass.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    fn answer(&mut self, line: Vec<u8>) {
        self.out.push_back(Order::ToClient(line));
    }

    fn log(&mut self, line: impl Into<String>) {
        self.out.push_back(Order::Log(line.into()));
    }

    fn to_server(&mut self, messages: &[Value]) {
        self.out.extend(messages.iter().map(|one| Order::ToServer(message::line(one))));
    }

    fn tell_lists_changed(&mut self) {
        if self.client.is_ready {
            for line in Catalog::tell_changed(self.catalog.announced()) {
                self.out.push_back(Order::ToClient(line));
            }
        }
    }
}

#[cfg(test)]
mod tests;
