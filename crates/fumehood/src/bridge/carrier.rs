//! Who carries messages both ways, and looks after streams that break off.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
    io,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use hyper::StatusCode;
use serde_json::Value;
use tokio::{
    sync::{Notify, Semaphore, mpsc},
    task::AbortHandle,
};

use super::{
    BridgeError,
    connection::ConnectionError,
    events::Events,
    exchange::{Answer, ExchangeError, Manner, Peer},
    message::{self, Kind, Message},
    modern::Mirrored,
    old::Old,
};

mod before;
mod streams;

/// Requests under way at once; more wait.
const MAX_REQUESTS: u32 = 256;
/// How long a message that wants no answer may take to be accepted.
const ACCEPTING: Duration = Duration::from_mins(1);
/// How long answers are waited for once nobody asks any more.
const SETTLING: Duration = Duration::from_secs(5);
/// How long the end of the session may take.
const LEAVING: Duration = Duration::from_secs(2);

/// Takes lines about what cannot be told to the client.
pub(crate) type Notes = Box<dyn Fn(&str)>;

/// Client and server, and what is between them.
pub(super) struct Carrier {
    peer: Peer,
    out: mpsc::Sender<Vec<u8>>,
    notes: Notes,
    under_way: Arc<Semaphore>,
    /// Ids of requests that the client gave up, as JSON.
    given_up: RefCell<BTreeSet<String>>,
    /// Requests that stand for themselves, by their ids as JSON.
    alone: RefCell<BTreeMap<String, AbortHandle>>,
    mirrored: Mirrored,
    /// The stream of a server of the first revision, where it is one.
    old: OnceCell<Rc<Old>>,
    broken: RefCell<Option<BridgeError>>,
    breaking: Notify,
}

/// A request under way.
struct Asked {
    id: Value,
    manner: Manner,
    /// Its answer lists tools.
    lists_tools: bool,
}

impl Carrier {
    pub(super) fn new(peer: Peer, out: mpsc::Sender<Vec<u8>>, notes: Notes) -> Rc<Self> {
        Rc::new(Self {
            peer,
            out,
            notes,
            under_way: Arc::new(Semaphore::new(MAX_REQUESTS as usize)),
            given_up: RefCell::default(),
            alone: RefCell::default(),
            mirrored: Mirrored::default(),
            old: OnceCell::new(),
            broken: RefCell::default(),
            breaking: Notify::new(),
        })
    }

    /// Takes a message of the client's. Returns when the next may follow: requests go on by themselves, but for the first,
    /// whose answer names the session.
    pub(super) async fn take(self: &Rc<Self>, message: Message) {
        let Message { kind, line } = message;
        match kind {
            Kind::Request { id, method, .. } if method == "initialize" => {
                self.request(Asked { id, manner: Manner::First, lists_tools: false }, line).await;
            }
            Kind::Request { id, method, params } => {
                let manner = self.mirrored.headers(&method, &params).map_or(Manner::Within, Manner::Alone);
                drop(params);
                self.go_on(Asked { id, manner, lists_tools: method == "tools/list" }, line).await;
            }
            Kind::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId")
                {
                    // Who asks without a session takes a question back by not listening to the answer.
                    if let Some(alone) = self.alone.borrow_mut().remove(&id.to_string()) {
                        alone.abort();
                        return;
                    }
                    self.given_up.borrow_mut().insert(id.to_string());
                }
                self.hand_over(line).await;
                if method == "notifications/initialized" && self.old.get().is_none() {
                    let carrier = Rc::clone(self);
                    tokio::task::spawn_local(async move { carrier.listen().await });
                }
            }
            Kind::Response { .. } => self.hand_over(line).await,
        }
    }

    /// Sends a request, and waits for nothing but a turn.
    async fn go_on(self: &Rc<Self>, asked: Asked, line: Vec<u8>) {
        // Never closed.
        let Ok(turn) = Arc::clone(&self.under_way).acquire_owned().await else { return };
        let carrier = Rc::clone(self);
        let alone = matches!(asked.manner, Manner::Alone(_)).then(|| asked.id.to_string());
        let key = alone.clone();
        let task = tokio::task::spawn_local(async move {
            carrier.request(asked, line).await;
            if let Some(key) = key {
                carrier.alone.borrow_mut().remove(&key);
            }
            drop(turn);
        });
        if let Some(key) = alone {
            self.alone.borrow_mut().insert(key, task.abort_handle());
        }
    }

    /// Waits a while for the answers to all that was asked.
    pub(super) async fn settle(&self) {
        let all = self.under_way.acquire_many(MAX_REQUESTS);
        drop(tokio::time::timeout(SETTLING, all).await);
    }

    /// Ends the session, unless it has ended already.
    pub(super) async fn leave(&self, session: bool) {
        if session {
            tokio::time::timeout(LEAVING, self.peer.leave()).await.ok();
        }
    }

    /// Why nothing can be carried any more, where that is so.
    pub(super) fn fault(&self) -> Option<BridgeError> {
        self.broken.take()
    }

    /// Waits until nothing can be carried any more; why.
    pub(super) async fn broken(&self) -> BridgeError {
        loop {
            if let Some(error) = self.fault() {
                return error;
            }
            self.breaking.notified().await;
        }
    }

    /// Sends what wants no answer.
    async fn hand_over(&self, line: Vec<u8>) {
        let posted = async {
            match self.old.get() {
                Some(old) => self.peer.post_aside(&old.endpoint, line).await,
                // Nothing was asked for; whatever was said all the same is of no use.
                None => self.peer.post(line, &Manner::Within).await.map(drop),
            }
        };
        match tokio::time::timeout(ACCEPTING, posted).await {
            Ok(Ok(())) => {}
            Ok(Err(ExchangeError::SessionLost)) => self.break_off(BridgeError::SessionLost),
            Ok(Err(error)) => (self.notes)(&format!("a message was not taken: {error}")),
            Err(_elapsed) => (self.notes)("a message was not taken within a minute"),
        }
    }

    /// Sends a request and passes on what it leads to, an answer in every case unless the client gave it up.
    async fn request(self: &Rc<Self>, asked: Asked, line: Vec<u8>) {
        let id = &asked.id;
        if matches!(asked.manner, Manner::Within)
            && let Some(old) = self.old.get()
        {
            return self.request_aside(old, id, line).await;
        }
        let is_first = matches!(asked.manner, Manner::First);
        // It is said once more to a server of the first revision.
        let again = is_first.then(|| line.clone());
        // Nobody was there to read it.
        let mut is_unsent = false;
        // It was answered, if not by a message.
        let mut is_refused = false;
        let answered = match self.peer.post(line, &asked.manner).await {
            Ok(Answer::Whole(body)) => self.pass_all(&body, &asked).await,
            Ok(Answer::Stream(reply)) => self.follow(reply, &asked).await,
            Ok(Answer::Accepted) => Err("the remote server took the request and gave no answer".to_owned()),
            Err(ExchangeError::SessionLost) => {
                self.pass(message::unanswered(id, &ExchangeError::SessionLost.to_string(), false)).await;
                self.break_off(BridgeError::SessionLost);
                return;
            }
            Err(error) => {
                if let ExchangeError::Refused { body, status, .. } = &error {
                    if let Some(answer) = message::refusal(id, body) {
                        self.pass(answer).await;
                        return;
                    }
                    if let Some(line) = again.filter(|_| may_be_old(*status)) {
                        match self.open_old().await {
                            Ok(Some(old)) => return self.request_aside(&old, id, line).await,
                            Ok(None) => {}
                            Err(why) => {
                                self.pass(message::failure(id, &why)).await;
                                return;
                            }
                        }
                    }
                }
                is_unsent = matches!(error, ExchangeError::Connection(ConnectionError::Connect { .. }));
                is_refused = !matches!(error, ExchangeError::Connection(_));
                Err(error.to_string())
            }
        };
        let given_up = self.given_up.borrow_mut().remove(&id.to_string());
        if let Err(text) = answered
            && !given_up
        {
            let told = if is_refused {
                message::failure(id, &text)
            } else {
                message::unanswered(id, &text, !is_unsent)
            };
            self.pass(told).await;
        }
    }

    /// Passes on what came as a whole.
    async fn pass_all(&self, body: &[u8], asked: &Asked) -> Result<(), String> {
        let all = Message::read_all(body).ok_or("the remote server answered with no message")?;
        let mut answered = false;
        for message in all {
            answered |= self.hear(message, Some(asked)).await;
        }
        if answered { Ok(()) } else { Err("the remote server answered something else".to_owned()) }
    }

    /// Passes a message of the server's on; whether it answers this request.
    async fn hear(&self, message: Message, asked: Option<&Asked>) -> bool {
        let asked = asked.filter(|asked| message.answers(&asked.id));
        if let Some(asked) = asked
            && let Kind::Response { result: Some(result), .. } = &message.kind
        {
            if let (Manner::First, Some(version)) =
                (&asked.manner, result.get("protocolVersion").and_then(Value::as_str))
            {
                self.peer.agreed(version);
            }
            if asked.lists_tools {
                self.mirrored.learn(result);
            }
        }
        self.pass(message.line).await;
        asked.is_some()
    }

    async fn pass(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        if self.out.send(line).await.is_err() {
            let source = io::ErrorKind::BrokenPipe.into();
            self.break_off(BridgeError::Io { step: "writing to stdout", source });
        }
    }

    fn break_off(&self, error: BridgeError) {
        self.broken.borrow_mut().get_or_insert(error);
        self.breaking.notify_one();
    }
}

/// What a server that knows only the first revision says to a message that is posted to it (MCP 2025-11-25, Streamable
/// HTTP, backwards compatibility).
fn may_be_old(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
}
