//! Clients: each a thread with one connection, which asks, looks at the answer, and asks again.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;

use super::{
    asking::{Face, Told, Wanted, close, open},
    history::{Answer, Call},
    service::{PEOPLE, Person, SERVERS},
    wire::{Connection, Lost},
};

/// So many calls of a session, then it is ended and another one begun.
const OF_A_SESSION: u64 = 40;

/// What all clients have in view.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    paused: AtomicBool,
    over: AtomicBool,
    waiting: AtomicUsize,
}

/// All clients at work.
pub(crate) struct Clients {
    gate: Arc<Gate>,
    threads: Vec<JoinHandle<Vec<Call>>>,
}

/// One client.
pub(crate) struct Client {
    address: SocketAddr,
    face: Face,
    pub(crate) who: &'static Person,
    bearer: String,
    random: Random,
    connection: Option<Connection>,
    /// Its session, and how many calls it had.
    session: Option<(String, u64)>,
    pub(crate) calls: Vec<Call>,
}

/// Numbers that look random and are the same in each run (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

impl Clients {
    /// So many, each of which asks once in about so long.
    pub(crate) fn begin(address: SocketAddr, count: u64, pace: Duration) -> Self {
        let gate = Arc::new(Gate::default());
        let threads = (0..count).map(|number| {
            let gate = Arc::clone(&gate);
            thread::spawn(move || Client::new(address, number).work(&gate, pace))
        });
        Self { threads: threads.collect(), gate }
    }

    /// Has them end what they ask, and ask nothing more till they may go on.
    pub(crate) fn pause(&self) {
        self.gate.paused.store(true, Ordering::SeqCst);
        while self.gate.waiting.load(Ordering::SeqCst) < self.running() {
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn go_on(&self) {
        self.gate.paused.store(false, Ordering::SeqCst);
    }

    /// How many have not ended: all of them, unless the service has, or one was given a wrong answer.
    pub(crate) fn running(&self) -> usize {
        self.threads.iter().filter(|thread| !thread.is_finished()).count()
    }

    /// What all of them were told.
    pub(crate) fn end(self) -> Vec<Call> {
        self.gate.over.store(true, Ordering::SeqCst);
        self.threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr, number: u64) -> Self {
        let index = usize::try_from(number).unwrap();
        let who = &PEOPLE[index % PEOPLE.len()];
        let face = Face::ALL[index / PEOPLE.len() % Face::ALL.len()];
        Self {
            address,
            face,
            who,
            bearer: format!("Bearer {}", who.key),
            random: Random(number),
            connection: None,
            session: None,
            calls: Vec::new(),
        }
    }

    /// Lets go of its connection: one over which nothing is asked for some seconds is closed by the service.
    pub(crate) fn hang_up(&mut self) {
        self.connection = None;
    }

    pub(crate) fn random(&self) -> Random {
        self.random.clone()
    }

    fn work(mut self, gate: &Gate, pace: Duration) -> Vec<Call> {
        let most = u64::try_from(pace.as_millis()).unwrap() * 2;
        while !gate.over.load(Ordering::SeqCst) {
            if gate.paused.load(Ordering::SeqCst) {
                gate.waiting.fetch_add(1, Ordering::SeqCst);
                while gate.paused.load(Ordering::SeqCst) && !gate.over.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(10));
                }
                gate.waiting.fetch_sub(1, Ordering::SeqCst);
                self.hang_up();
                continue;
            }
            let goes_on = if self.random.below(30) == 0 { self.list() } else { self.ask() };
            if !goes_on {
                break;
            }
            thread::sleep(Duration::from_millis(self.random.below(most)));
        }
        self.calls
    }

    /// Asks for one of the things that there are. Whether the client can go on.
    fn ask(&mut self) -> bool {
        let server = SERVERS[usize::try_from(self.random.below(5)).unwrap()];
        let tool = match (server, self.random.below(100)) {
            ("slow", 0..60) | (_, 0..10) => "wait",
            (_, 0..55) => "next",
            _ => "append",
        };
        // What it may never do it only tries.
        let tool = if self.who.name == "carol" && self.random.below(4) > 0 { "next" } else { tool };
        let ms = match (server, self.random.below(40)) {
            // Longer than it may take.
            ("counter", 0) => 3_500,
            ("slow", 0..6) => 2_000 + self.random.below(2_000),
            (_, many) => 5 * many,
        };
        self.call(server, tool, ms)
    }

    /// Calls a tool. Whether the client can go on.
    pub(crate) fn call(&mut self, server: &'static str, tool: &'static str, ms: u64) -> bool {
        let nonce = format!("{:016x}{:016x}", self.random.next(), self.random.next());
        let answer = match self.connected() {
            Ok(()) => self.answer(&nonce, server, tool, ms),
            Err(answer) => answer,
        };
        let goes_on = !matches!(answer, Answer::Wrong(_) | Answer::Closed(_));
        let (who, face) = (self.who.name, self.face.as_str());
        self.calls.push(Call { nonce, who, server, tool, face, answer });
        goes_on
    }

    fn answer(&mut self, nonce: &str, server: &str, tool: &str, ms: u64) -> Answer {
        let Some(connection) = &mut self.connection else { return Answer::Wrong("no connection".to_owned()) };
        let session = self.session.as_ref().map(|(name, _)| name.as_str()).unwrap_or_default();
        let wanted = Wanted { server, tool, nonce, ms };
        let reply = match self.face.call(connection, &self.bearer, session, &wanted) {
            Ok(reply) => reply,
            Err(lost) => return no_answer(lost),
        };
        match self.face.told(&reply, nonce) {
            Told::Ended(answer) => answer,
            Told::Text(text) => self
                .done(&text, nonce, server)
                .unwrap_or_else(|| Answer::Wrong(format!("of another: {}", reply.shown()))),
            Told::Wrong => Answer::Wrong(reply.shown()),
        }
    }

    /// Reads what the tool says; nothing where it is not this caller's own, or from where others were.
    fn done(&self, text: &str, nonce: &str, server: &str) -> Option<Answer> {
        let told: Value = serde_json::from_str(text).ok()?;
        let is_own = told["nonce"] == nonce && told["user"] == self.who.name && told["server"] == server;
        let is_alone = server != "mine" || told["users"] == serde_json::json!([self.who.name]);
        let (number, boot) = (told["number"].as_u64()?, told["boot"].as_str()?.to_owned());
        (is_own && is_alone).then_some(Answer::Done { number, boot })
    }

    /// Looks at what there is for this caller. Whether the client can go on.
    fn list(&mut self) -> bool {
        if let Err(answer) = self.connected() {
            return self.broken(answer);
        }
        let Some(connection) = &mut self.connection else { return false };
        let session = self.session.as_ref().map(|(name, _)| name.as_str()).unwrap_or_default();
        match self.face.names(connection, &self.bearer, session) {
            Ok(Some(names)) if is_of(self.who, &names) => true,
            Ok(names) => self.broken(Answer::Wrong(format!("these tools: {names:?}"))),
            Err(lost) => self.broken(no_answer(lost)),
        }
    }

    /// Something other than a call went wrong, which is no less wrong.
    fn broken(&mut self, answer: Answer) -> bool {
        let nonce = format!("no call {:016x}", self.random.next());
        let (who, face) = (self.who.name, self.face.as_str());
        self.calls.push(Call { nonce, who, server: "", tool: "", face, answer });
        false
    }

    /// A connection, and a session where one is needed.
    fn connected(&mut self) -> Result<(), Answer> {
        if self.connection.is_none() {
            let opened = Connection::open(self.address);
            self.connection = Some(opened.map_err(|error| Answer::Closed(error.to_string()))?);
        }
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if self.face != Face::Legacy {
            return Ok(());
        }
        if let Some((name, calls)) = &mut self.session {
            *calls += 1;
            if *calls <= OF_A_SESSION {
                return Ok(());
            }
            if !close(connection, &self.bearer, name).map_err(no_answer)? {
                return Err(Answer::Wrong("its session is not there".to_owned()));
            }
        }
        let name = open(connection, &self.bearer).map_err(no_answer)?;
        self.session = Some((name.ok_or_else(|| Answer::Wrong("no session".to_owned()))?, 0));
        Ok(())
    }
}

fn no_answer(lost: Lost) -> Answer {
    if lost.had_begun {
        Answer::Wrong(format!("half an answer: {}", lost.why))
    } else {
        Answer::Closed(lost.why)
    }
}

/// Whether this caller may see just these: what the roles say, whichever of them are in force.
fn is_of(who: &Person, names: &[String]) -> bool {
    let all = |tools: &'static [&str]| {
        SERVERS.iter().flat_map(|server| tools.iter().map(move |tool| format!("{server}__{tool}")))
    };
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let some: Vec<String> =
        if who.name == "carol" { all(&["next"]).collect() } else { all(&TOOLS).collect() };
    let is_less = |name: &str| who.name == "bob" && (name.starts_with("ledger__") || name == "web__append");
    some.iter().all(|name| names.contains(name.as_str()) || is_less(name))
        && names.iter().all(|name| some.iter().any(|own| own == name))
}

const TOOLS: [&str; 3] = ["append", "next", "wait"];
