//! Who carries messages both ways, and looks after streams that break off.

use std::{cell::RefCell, collections::BTreeSet, io, rc::Rc, time::Duration};

use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, mpsc};

use super::{
    BridgeError,
    connection::{ConnectionError, Reply},
    events::Events,
    exchange::{Answer, ExchangeError, Peer},
    message::{self, Kind, Message},
};

/// Requests under way at once; more wait.
const MAX_REQUESTS: u32 = 256;
/// How long a message that wants no answer may take to be accepted.
const ACCEPTING: Duration = Duration::from_mins(1);
/// How long answers are waited for once nobody asks any more.
const SETTLING: Duration = Duration::from_secs(5);
/// How long the end of the session may take.
const LEAVING: Duration = Duration::from_secs(2);
/// How long a stream may stay open after its answer before its connection is closed.
const FINISHING: Duration = Duration::from_secs(1);
/// How often in a row a stream is opened again that brings nothing new.
const MAX_TRIES: u32 = 6;
/// How long is waited before that where the stream did not say so, and at most.
const RETRY: Duration = Duration::from_secs(1);
const MAX_RETRY: Duration = Duration::from_mins(1);

/// Client and server, and what is between them.
pub(super) struct Carrier {
    peer: Peer,
    out: mpsc::Sender<Vec<u8>>,
    under_way: Semaphore,
    /// Ids of requests that the client gave up, as JSON.
    given_up: RefCell<BTreeSet<String>>,
    broken: RefCell<Option<BridgeError>>,
    breaking: Notify,
}

/// How the reading of a stream ended.
enum End {
    /// What it was opened for has come.
    Answered,
    /// Whatever the reason: it may be taken up again.
    Broken,
    /// It said too much at once.
    TooLarge,
}

impl Carrier {
    pub(super) fn new(peer: Peer, out: mpsc::Sender<Vec<u8>>) -> Rc<Self> {
        Rc::new(Self {
            peer,
            out,
            under_way: Semaphore::new(MAX_REQUESTS as usize),
            given_up: RefCell::default(),
            broken: RefCell::default(),
            breaking: Notify::new(),
        })
    }

    /// Takes a message of the client's. Returns when the next may follow: requests go on by themselves, but for the first,
    /// whose answer names the session.
    pub(super) async fn take(self: &Rc<Self>, message: Message) {
        let Message { kind, line } = message;
        match kind {
            Kind::Request { id, method } if method == "initialize" => self.request(id, line, true).await,
            Kind::Request { id, .. } => {
                let carrier = Rc::clone(self);
                // Never closed.
                let Ok(permit) = self.under_way.acquire().await else { return };
                permit.forget();
                tokio::task::spawn_local(async move {
                    carrier.request(id, line, false).await;
                    carrier.under_way.add_permits(1);
                });
            }
            Kind::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId")
                {
                    self.given_up.borrow_mut().insert(id.to_string());
                }
                self.hand_over(line).await;
                if method == "notifications/initialized" {
                    let carrier = Rc::clone(self);
                    tokio::task::spawn_local(async move { carrier.listen().await });
                }
            }
            Kind::Response { .. } => self.hand_over(line).await,
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
        let posted = tokio::time::timeout(ACCEPTING, self.peer.post(line, false)).await;
        match posted {
            // Nothing was asked for; whatever was said all the same is of no use.
            Ok(Ok(Answer::Accepted | Answer::Whole(_) | Answer::Stream(_))) => {}
            Ok(Err(ExchangeError::SessionLost)) => self.break_off(BridgeError::SessionLost),
            Ok(Err(error)) => crate::terminal::say(&format!("a message was not taken: {error}")),
            Err(_elapsed) => crate::terminal::say("a message was not taken within a minute"),
        }
    }

    /// Sends a request and passes on what it leads to, an answer in every case unless the client gave it up.
    async fn request(&self, id: Value, line: Vec<u8>, first: bool) {
        let answered = match self.peer.post(line, first).await {
            Ok(Answer::Whole(body)) => self.pass_all(&body, &id, first).await,
            Ok(Answer::Stream(reply)) => self.follow(reply, &id, first).await,
            Ok(Answer::Accepted) => Err("the remote server took the request and gave no answer".to_owned()),
            Err(error) => {
                if let ExchangeError::Refused { body, .. } = &error
                    && let Some(answer) = message::refusal(&id, body)
                {
                    self.pass(answer).await;
                    return;
                }
                let text = error.to_string();
                if matches!(error, ExchangeError::SessionLost) {
                    self.pass(message::failure(&id, &text)).await;
                    self.break_off(BridgeError::SessionLost);
                    return;
                }
                Err(text)
            }
        };
        let given_up = self.given_up.borrow_mut().remove(&id.to_string());
        if let Err(text) = answered
            && !given_up
        {
            self.pass(message::failure(&id, &text)).await;
        }
    }

    /// Passes on what came as a whole.
    async fn pass_all(&self, body: &[u8], id: &Value, first: bool) -> Result<(), String> {
        let all = Message::read_all(body).ok_or("the remote server answered with no message")?;
        let mut answered = false;
        for message in all {
            answered |= self.hear(message, Some(id), first).await;
        }
        if answered { Ok(()) } else { Err("the remote server answered something else".to_owned()) }
    }

    /// Passes on what comes on a stream until the answer has come, and takes the stream up again where it breaks off.
    async fn follow(&self, reply: Reply, id: &Value, first: bool) -> Result<(), String> {
        let mut events = Events::default();
        let mut reply = Some(reply);
        let mut tries = 0;
        loop {
            if let Some(mut reply) = reply.take() {
                let before = events.last_id.clone();
                match self.hear_all(&mut reply, &mut events, Some(id), first).await {
                    End::Answered => {
                        finish(reply);
                        return Ok(());
                    }
                    End::TooLarge => return Err("the remote server sent more than 64 MiB at once".to_owned()),
                    End::Broken if before != events.last_id => tries = 0,
                    End::Broken => {}
                }
                events = events.resumed();
            }
            let Some(place) = events.last_id.clone() else {
                return Err("the connection to the remote server broke off before the answer".to_owned());
            };
            if tries == MAX_TRIES || self.given_up.borrow().contains(&id.to_string()) {
                return Err("the remote server did not take up the broken connection again".to_owned());
            }
            pause(&events, tries).await;
            tries += 1;
            match self.peer.listen(Some(&place)).await {
                Ok(Some(again)) => reply = Some(again),
                Ok(None) => return Err("the remote server cannot take up a broken connection".to_owned()),
                Err(ExchangeError::Connection(ConnectionError::Certificates(why))) => return Err(why),
                Err(_) => {}
            }
        }
    }

    /// Passes on what the server sends by itself, as long as it offers that.
    async fn listen(&self) {
        let mut events = Events::default();
        let mut tries = 0;
        while tries < MAX_TRIES {
            match self.peer.listen(events.last_id.as_deref()).await {
                Ok(Some(mut reply)) => {
                    let before = events.last_id.clone();
                    match self.hear_all(&mut reply, &mut events, None, false).await {
                        End::TooLarge => {
                            crate::terminal::say("the remote server sent more than 64 MiB at once");
                            return;
                        }
                        End::Answered | End::Broken if before != events.last_id => tries = 0,
                        End::Answered | End::Broken => {}
                    }
                    events = events.resumed();
                }
                Ok(None) => return,
                // It will say the same again.
                Err(ExchangeError::Refused { status, .. }) if status.is_client_error() => return,
                Err(_) => {}
            }
            pause(&events, tries).await;
            tries += 1;
        }
    }

    async fn hear_all(&self, reply: &mut Reply, events: &mut Events, id: Option<&Value>, first: bool) -> End {
        while let Some(Ok(frame)) = reply.response.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            let Ok(found) = events.push(&data) else { return End::TooLarge };
            for event in found {
                if event.data.is_empty() || event.kind.is_some_and(|kind| kind != "message") {
                    continue;
                }
                match Message::read(&event.data) {
                    Some(message) => {
                        if self.hear(message, id, first).await {
                            return End::Answered;
                        }
                    }
                    None => crate::terminal::say("the remote server sent an event that is no message"),
                }
            }
        }
        End::Broken
    }

    /// Passes a message of the server's on; whether it answers the request with this id.
    async fn hear(&self, message: Message, id: Option<&Value>, first: bool) -> bool {
        let answers = id.is_some_and(|id| message.answers(id));
        if first
            && answers
            && let Kind::Response { result: Some(result), .. } = &message.kind
            && let Some(version) = result.get("protocolVersion").and_then(Value::as_str)
        {
            self.peer.agreed(version);
        }
        self.pass(message.line).await;
        answers
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

/// Waits a moment for the end of a stream whose answer has come: its connection is of use for the next request.
fn finish(reply: Reply) {
    tokio::task::spawn_local(async move { tokio::time::timeout(FINISHING, reply.whole()).await.ok() });
}

/// Waits as long as the stream said, or longer each time.
async fn pause(events: &Events, tries: u32) {
    let wait = match events.retry {
        Some(ms) => Duration::from_millis(ms),
        None => RETRY.saturating_mul(1 << tries.min(6)),
    };
    tokio::time::sleep(wait.min(MAX_RETRY)).await;
}
