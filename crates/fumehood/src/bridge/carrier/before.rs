//! Carrying to a server of the first revision, whose answers all come by one stream.

use std::{collections::VecDeque, rc::Rc, time::Duration};

use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{BridgeError, Carrier, ConnectionError, Events, ExchangeError, Kind, Message, Old, message};
use crate::bridge::{connection::Reply, events::Event, old};

/// How long such a server may take to say where messages go.
const SAYING_WHERE: Duration = Duration::from_secs(15);

/// The stream, read so far.
struct Stream {
    reply: Reply,
    events: Events,
    found: VecDeque<Event>,
}

impl Carrier {
    /// Opens the stream of a server of the first revision; none where it is no such server.
    pub(super) async fn open_old(self: &Rc<Self>) -> Result<Option<Rc<Old>>, String> {
        let target = self.peer.target();
        let paths = target.stream_paths.iter().copied().chain([target.path.as_str()]);
        for path in paths {
            let Ok(reply) = self.peer.open(path).await else { continue };
            let mut stream = Stream { reply, events: Events::default(), found: VecDeque::new() };
            let first = tokio::time::timeout(SAYING_WHERE, stream.next()).await;
            let Ok(Some(Event { kind: Some(kind), data })) = first else { continue };
            if kind != "endpoint" {
                continue;
            }
            let said = String::from_utf8_lossy(&data);
            let endpoint = old::endpoint(said.trim(), path, target).map_err(|error| error.to_string())?;
            let old = Rc::new(Old::new(endpoint));
            self.old.set(Rc::clone(&old)).ok();
            let carrier = Rc::clone(self);
            tokio::task::spawn_local(async move { carrier.hear_stream(stream).await });
            return Ok(Some(old));
        }
        Ok(None)
    }

    /// Posts a request whose answer comes by the stream.
    pub(super) async fn request_aside(&self, old: &Old, id: &Value, line: Vec<u8>) {
        let answered = old.wait(id);
        let failure = match self.peer.post_aside(&old.endpoint, line).await {
            Ok(()) => match answered.await {
                Ok(()) => return,
                Err(_closed) => {
                    let why = "the stream of the remote server broke off before the answer";
                    message::unanswered(id, why, true)
                }
            },
            Err(error) => {
                old.forget(id);
                match &error {
                    ExchangeError::Connection(on_the_way) => {
                        let is_unsent = matches!(on_the_way, ConnectionError::Connect { .. });
                        message::unanswered(id, &error.to_string(), !is_unsent)
                    }
                    _ => message::failure(id, &error.to_string()),
                }
            }
        };
        if !self.given_up.borrow_mut().remove(&id.to_string()) {
            self.pass(failure).await;
        }
    }

    /// Passes on all that comes, until nothing comes any more: what was agreed on ends with the stream.
    async fn hear_stream(&self, mut stream: Stream) {
        let Some(old) = self.old.get() else { return };
        while let Some(event) = stream.next().await {
            if event.data.is_empty() || event.kind.is_some_and(|kind| kind != "message") {
                continue;
            }
            match Message::read(&event.data) {
                Some(message) => {
                    let answered = match &message.kind {
                        Kind::Response { id, .. } => Some(id.clone()),
                        _ => None,
                    };
                    self.pass(message.line).await;
                    if let Some(id) = answered {
                        old.answered(&id);
                    }
                }
                None => (self.notes)("the remote server sent an event that is no message"),
            }
        }
        old.close();
        self.break_off(BridgeError::StreamLost);
    }
}

impl Stream {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.found.pop_front() {
                return Some(event);
            }
            let data = self.reply.response.frame().await?.ok()?.into_data().unwrap_or_default();
            self.found.extend(self.events.push(&data).ok()?);
        }
    }
}
