//! Between a client and a server: MCP over stdio on each side. The server has one session; a client has one too, or asks by
//! requests that stand for themselves (2026-07-28), and each request says which.
//!
//! The client is answered at once from what was accepted, while the server starts beside it. Towards the server it is
//! Fumehood itself that says hello, always as the same client, and reads its lists; only when they are what was accepted do
//! the client's calls pass. A server that says later on that its lists have changed is read anew: calls that arrive until
//! that has an outcome wait for it, and what has changed is held from then on. Nothing here ever takes a new text for
//! accepted.
//!
//! Time comes in by [`Front::settled`] alone, which is called once a while after each [`Order::Settle`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::profile::Profile;
use serde_json::{Value, json};
use tools::{introspect::Introspection, surface::Surface, visible::excerpt};

use self::{
    call::{Queue, Subject},
    catalog::{Catalog, LISTED},
    listening::Listening,
    message::Id,
    modern::Asked,
    reading::{Reading, Unlike},
};

pub use notice::Notice;
pub use walk::{Over, Ticket};

mod call;
mod catalog;
mod compare;
mod inwards;
mod listening;
mod message;
mod modern;
mod notice;
mod outwards;
mod pass;
mod reading;
mod walk;

/// One session.
#[derive(Debug)]
pub struct Front {
    /// The name under which a person knows the server, where it was told.
    name: Option<String>,
    profile: Profile,
    /// Begins the ids of our own requests to the server.
    prefix: String,
    /// How many servers were begun: each is asked under ids of its own.
    begun: u32,
    catalog: Catalog,
    phase: Phase,
    client: Client,
    /// What waits until the server is ready for it. INVARIANT: empty where nothing is to come of it.
    waiting: Queue,
    /// The client's requests that the server has and has not answered.
    in_flight: BTreeSet<Id>,
    /// Those that the client has withdrawn since, the newest of them.
    withdrawn: VecDeque<Id>,
    /// Those requests of the client, of all that have no answer yet, that stand for themselves.
    modern: BTreeMap<Id, Asked>,
    /// Where the client has itself told of changes.
    listening: Listening,
    /// The server's requests that the client has and has not answered.
    asked_of_client: BTreeSet<Id>,
    /// What the server asks of its client passes as it is.
    passes_through: bool,
    /// Requests are handed out before they go to the server.
    walks: bool,
    /// Those that were, and have not come back.
    on_the_road: BTreeMap<Id, (u64, Subject)>,
    /// Those that came back and were asked.
    asked: BTreeMap<Id, u64>,
    /// How many were handed out.
    tickets: u64,
    /// Whether [`Order::Settle`] was given and has not been carried out.
    is_timed: bool,
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
    /// Call [`Front::settled`] in a while: one or two seconds from now.
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
    /// A request of [`Front::ask`] is not passed on, or gets no answer of the server any more.
    Refused {
        /// Its id.
        id: String,
        /// Why, beginning with a code: `FH-CHANGED: …`.
        said: String,
    },
    /// Have a request judged and recorded, then call [`Front::walked`] or [`Front::turned`]. Of a front that is
    /// [`Front::walking`].
    Walk {
        /// Stands for it.
        ticket: Ticket,
        /// The whole message, with its end.
        line: Vec<u8>,
    },
    /// The server's answer to a request that was [`Front::walked`]: it is recorded, and goes to the client.
    Answered {
        /// Stands for the request.
        ticket: Ticket,
        /// The whole message, with its end.
        line: Vec<u8>,
    },
    /// A request that was handed out comes to another end; the client was told where it has to be.
    Over {
        /// Stands for it.
        ticket: Ticket,
        /// How.
        over: Over,
    },
    /// Something for the log, of a bounded length.
    Log(String),
}

/// How far the server is.
#[derive(Debug)]
enum Phase {
    /// It may not be started.
    Closed,
    /// Nobody has needed it yet.
    Idle,
    /// It is being started.
    Starting,
    /// It runs, and is compared; so far it has been unlike what was accepted, where there is something.
    Comparing { reading: Reading, unlike: Option<Unlike> },
    /// It is the one that was accepted.
    Open { reading: Reading },
    /// It has ended.
    Gone,
}

/// What is known of the client.
#[derive(Debug, Default)]
struct Client {
    /// Its capabilities, once it has said hello.
    capabilities: Option<Value>,
    /// What it calls itself.
    name: Option<String>,
    /// The capabilities with lists that it was told of.
    announced: Vec<&'static str>,
    /// It has said that it may be spoken to.
    is_ready: bool,
    /// It is ourselves, speaking for many: see [`Front::for_many`].
    is_ours: bool,
}

impl Client {
    fn said_hello(&self) -> bool {
        self.capabilities.is_some()
    }
}

impl Front {
    /// For a server that was accepted. `prefix` begins the ids of our own requests, and must not be guessable by the
    /// client.
    pub fn accepted(surface: Surface, profile: Profile, prefix: String) -> Self {
        Self::new(Catalog::of(surface), Phase::Idle, profile, prefix)
    }

    /// For a server of which nothing may be used: the client finds one entry that says so.
    pub fn closed(notice: Notice, profile: Profile, prefix: String) -> Self {
        let name = notice.server.clone();
        Self::new(Catalog::closed(notice), Phase::Closed, profile, prefix).called(name)
    }

    fn new(catalog: Catalog, phase: Phase, profile: Profile, prefix: String) -> Self {
        Self {
            name: None,
            profile,
            prefix,
            begun: 0,
            catalog,
            phase,
            client: Client::default(),
            waiting: Queue::default(),
            in_flight: BTreeSet::new(),
            withdrawn: VecDeque::new(),
            modern: BTreeMap::new(),
            listening: Listening::default(),
            asked_of_client: BTreeSet::new(),
            passes_through: false,
            walks: false,
            on_the_road: BTreeMap::new(),
            asked: BTreeMap::new(),
            tickets: 0,
            is_timed: false,
            out: VecDeque::new(),
        }
    }

    /// The name under which a person knows the server, and under which `fumehood review` finds it.
    #[must_use]
    pub fn called(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The client is ourselves, speaking for many callers: it has said hello, and can do what the profile promises.
    #[must_use]
    pub fn for_many(mut self) -> Self {
        let abilities = self.profile.abilities().map(|ability| (ability.as_str().to_owned(), json!({})));
        let capabilities = Some(Value::Object(abilities.collect()));
        self.client = Client { capabilities, is_ready: true, is_ours: true, ..Client::default() };
        self
    }

    /// Whatever the server asks of its client passes as it is, the client's model included; it is told so in
    /// `initialize`. For a client that speaks for many.
    #[must_use]
    pub fn passing_through(mut self) -> Self {
        self.client.capabilities = Some(pass_through_capabilities());
        self.passes_through = true;
        self
    }

    /// The client's list of tools is this one, less what is held: by the names in the accepted one. A tool that is missing
    /// is not listed.
    pub fn show(&mut self, tools: BTreeMap<String, Value>) {
        self.catalog.show(tools);
    }

    /// The next thing to be done.
    pub fn next_order(&mut self) -> Option<Order> {
        self.out.pop_front()
    }

    /// Why nothing can be used, where that is another reason than before; a client that reads its lists sees it. Of no
    /// account where the server may be used: see [`Front::close`].
    pub fn notice(&mut self, notice: Notice) {
        if self.is_closed() && self.catalog.withdraw(notice) {
            self.tell_lists_changed();
        }
    }

    /// Nothing of the server may be used any more. Whoever waits for an answer is told why.
    pub fn close(&mut self, notice: Notice) {
        let said = notice.refusal();
        self.phase = Phase::Closed;
        if self.catalog.withdraw(notice) {
            self.tell_lists_changed();
        }
        self.answer_all(&said);
    }

    /// A person has accepted it, elsewhere. The server is to be started; one that ran before has ended.
    pub fn accept(&mut self, surface: Surface, profile: Profile) {
        self.answer_all("FH-SERVER-ENDED: the server was accepted anew, and is started again");
        self.catalog = Catalog::of(surface);
        self.profile = profile;
        self.phase = Phase::Idle;
        self.tell_lists_changed();
    }

    /// The server is started, though nobody needs it yet; or once more, after it has ended. What is held stays held.
    pub fn starting(&mut self) {
        if matches!(self.phase, Phase::Idle | Phase::Gone) {
            self.phase = Phase::Starting;
        }
    }

    /// The server runs and can be spoken to.
    pub fn up(&mut self) {
        if matches!(self.phase, Phase::Idle) {
            self.starting();
        }
        if !matches!(self.phase, Phase::Starting) {
            return;
        }
        self.begun = self.begun.saturating_add(1);
        self.withdrawn.clear();
        let ids = format!("{}{}-", self.prefix, self.begun);
        let mut introspection = Introspection::new(&self.profile, &ids);
        if self.passes_through {
            introspection = introspection.able(pass_through_capabilities());
        }
        let lines = introspection.begin();
        self.phase = Phase::Comparing { reading: Reading::of(introspection), unlike: None };
        self.tell_server(&lines);
        self.time();
    }

    /// The server has ended, or could not be started. Whoever waits for an answer gets one.
    pub fn gone(&mut self, why: &str) {
        if !self.is_closed() {
            self.phase = Phase::Gone;
        }
        self.answer_all(&format!("FH-SERVER-ENDED: {why}"));
        // The client of one that is closed stays, and is told of another one.
        if !self.is_closed() {
            self.end_listening();
        }
    }

    /// What was accepted; none where nothing may be used.
    pub fn surface(&self) -> Option<&Surface> {
        self.catalog.surface()
    }

    /// What the client calls itself, shortened. Nobody has verified it.
    pub fn client_name(&self) -> Option<&str> {
        self.client.name.as_deref()
    }

    /// Whether a call waits for the server to be started, or compared.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether nothing may be used.
    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// Whether the running server is the one that was accepted, and calls pass.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    /// Whether something is held. It is until a person has accepted it: see [`Front::accept`].
    pub fn is_holding(&self) -> bool {
        self.catalog.is_holding()
    }

    /// Nothing will come of what is under way.
    fn answer_all(&mut self, said: &str) {
        for call in self.waiting.take() {
            self.refuse_call(&call.id, &call.subject, said);
        }
        for id in std::mem::take(&mut self.in_flight) {
            self.refuse_call(&id, &Subject::Session, said);
            self.over(&id, Over::Unanswered);
        }
        for id in std::mem::take(&mut self.asked_of_client) {
            let params = json!({ "requestId": id.value(), "reason": "the server has ended" });
            let cancelled =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            self.answer(message::line(&cancelled));
        }
    }

    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let its_own = self.catalog.surface().and_then(|surface| surface.server_info().get("name"));
            excerpt(its_own.and_then(Value::as_str).unwrap_or("this server"), 80)
        })
    }

    /// A command that a person is to type holds nothing that a server has chosen.
    fn remedy(&self) -> String {
        self.name
            .as_ref()
            .map_or_else(|| "fumehood review".to_owned(), |name| format!("fumehood review {name}"))
    }

    fn answer(&mut self, line: Vec<u8>) {
        self.out.push_back(Order::ToClient(line));
    }

    /// Answers a request that was taken up, in the words of its revision.
    fn answer_to(&mut self, id: &Id, line: Vec<u8>) {
        let line = self.in_its_era(id, line);
        self.answer(line);
    }

    fn log(&mut self, line: impl Into<String>) {
        self.out.push_back(Order::Log(line.into()));
    }

    fn tell_server(&mut self, messages: &[Value]) {
        self.out.extend(messages.iter().map(|one| Order::ToServer(message::line(one))));
    }

    fn tell_lists_changed(&mut self) {
        let announced = self.client.announced.clone();
        self.tell_session(announced);
        self.tell_listeners(&LISTED);
    }

    fn tell_changed(&mut self, capabilities: impl IntoIterator<Item = &'static str>) {
        let capabilities: Vec<&'static str> = capabilities.into_iter().collect();
        self.tell_listeners(&capabilities);
        self.tell_session(capabilities);
    }

    fn tell_session(&mut self, capabilities: impl IntoIterator<Item = &'static str>) {
        if self.client.is_ready && !self.client.is_ours {
            self.out.extend(Catalog::tell_changed(capabilities).into_iter().map(Order::ToClient));
        }
    }
}

/// MCP 2025-11-25, client capabilities.
fn pass_through_capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "roots": {}, "sampling": {} })
}
