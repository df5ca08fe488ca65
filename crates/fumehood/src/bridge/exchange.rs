//! One request of the protocol and what its answer means (MCP 2025-11-25 and 2026-07-28, Streamable HTTP).

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, StatusCode,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};

use serde_json::Value;

use super::{
    connection::{ConnectionError, Connections, Reply},
    message,
    modern::Headers,
    target::Target,
};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How much of the body of a refused request is told.
const SHOWN: usize = 300;

/// The server, and what it has said about the session.
pub(super) struct Peer {
    connections: Rc<Connections>,
    session: RefCell<Option<HeaderValue>>,
    version: RefCell<Option<HeaderValue>>,
    /// Where messages go.
    path: RefCell<String>,
    /// Whether something has answered there.
    is_found: Cell<bool>,
}

/// How a message is sent.
#[derive(Debug)]
pub(super) enum Manner {
    /// It begins a session.
    First,
    /// It belongs to the session.
    Within,
    /// It stands for itself, and says in these headers what it is.
    Alone(Headers),
}

/// What an answer is.
pub(super) enum Answer {
    /// It was taken, and nothing follows.
    Accepted,
    /// This.
    Whole(Bytes),
    /// What comes on this stream of events.
    Stream(Reply),
}

/// A request that came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeError {
    /// On the way.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The server has forgotten the session, and with it all that was agreed on.
    #[error("the remote server has ended the session")]
    SessionLost,
    /// It leads elsewhere.
    #[error("the remote server answered {status} and leads to `{to}`, and no redirect is followed")]
    Redirect { status: StatusCode, to: String },
    /// It refused.
    #[error("the remote server answered {status}{shown}")]
    Refused {
        status: StatusCode,
        /// The beginning of the body as part of a sentence.
        shown: String,
        body: Bytes,
    },
    /// It answered in another way than the protocol has.
    #[error("the remote server answered with `{0}`, which is neither JSON nor a stream of events")]
    Kind(String),
}

impl Peer {
    pub(super) fn new(connections: Rc<Connections>) -> Self {
        let path = RefCell::new(connections.target.path.clone());
        let (session, version, is_found) = (RefCell::default(), RefCell::default(), Cell::new(false));
        Self { connections, session, version, path, is_found }
    }

    /// The server.
    pub(super) fn target(&self) -> &Target {
        &self.connections.target
    }

    /// What was agreed on at the beginning of the session, as later requests have to say it.
    pub(super) fn agreed(&self, version: &str) {
        *self.version.borrow_mut() = HeaderValue::from_str(version).ok();
    }

    /// Sends a message. The answer to the first one names the session.
    pub(super) async fn post(&self, message: Vec<u8>, manner: &Manner) -> Result<Answer, ExchangeError> {
        if matches!(manner, Manner::First) {
            *self.session.borrow_mut() = None;
            *self.version.borrow_mut() = None;
        }
        let message = Bytes::from(message);
        let mut others = self.other_paths();
        let mut path = self.path.borrow().clone();
        loop {
            let answer = self.post_to(&path, message.clone(), manner).await;
            // Whoever says what is wrong with the message is the one that is meant.
            let is_elsewhere = matches!(&answer, Err(ExchangeError::Refused { status, body, .. })
                if is_nobody(*status) && message::refusal(&Value::Null, body).is_none());
            match others.next() {
                Some(other) if is_elsewhere => path = other.to_owned(),
                _ => {
                    if !is_elsewhere && answer.is_ok() {
                        self.is_found.set(true);
                        *self.path.borrow_mut() = path;
                    }
                    return answer;
                }
            }
        }
    }

    async fn post_to(&self, path: &str, message: Bytes, manner: &Manner) -> Result<Answer, ExchangeError> {
        let mut request = self.request(Method::POST, path, message);
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match manner {
            Manner::Alone(own) => own.iter().for_each(|(name, value)| {
                headers.insert(name, value.clone());
            }),
            Manner::First | Manner::Within => self.say_session(headers),
        }
        let reply = self.connections.send(request).await?;
        let status = reply.response.status();
        if matches!(manner, Manner::First) && status.is_success() {
            *self.session.borrow_mut() = reply.response.headers().get(SESSION).cloned();
        }
        if status == StatusCode::NOT_FOUND
            && matches!(manner, Manner::Within)
            && self.session.borrow().is_some()
        {
            return Err(ExchangeError::SessionLost);
        }
        self.answer(reply).await
    }

    /// Where else it may be, as long as nothing has answered.
    fn other_paths(&self) -> impl Iterator<Item = &'static str> {
        let others = if self.is_found.get() { &[] } else { self.connections.target.other_paths };
        others.iter().copied()
    }

    /// Opens a stream of events at `path`; of anything else that is there, what it is.
    pub(super) async fn open(&self, path: &str) -> Result<Reply, ExchangeError> {
        let mut request = self.request(Method::GET, path, Bytes::new());
        request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        let reply = self.connections.send(request).await?;
        match self.answer(reply).await? {
            Answer::Stream(reply) => Ok(reply),
            Answer::Accepted | Answer::Whole(_) => Err(ExchangeError::Kind("something else".to_owned())),
        }
    }

    /// Posts a message whose answer comes by a stream that is open.
    pub(super) async fn post_aside(&self, path: &str, message: Vec<u8>) -> Result<(), ExchangeError> {
        let mut request = self.request(Method::POST, path, message.into());
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let reply = self.connections.send(request).await?;
        let status = reply.response.status();
        if status.is_redirection() {
            let to = text(reply.response.headers(), &header::LOCATION);
            return Err(ExchangeError::Redirect { status, to });
        }
        let body = reply.whole().await?;
        if status.is_success() {
            return Ok(());
        }
        Err(ExchangeError::Refused { status, shown: shown(&body), body })
    }

    /// Opens a stream of what the server sends by itself, or of what followed on an event; `None` where it offers none.
    pub(super) async fn listen(&self, after: Option<&str>) -> Result<Option<Reply>, ExchangeError> {
        let path = self.path.borrow().clone();
        let mut request = self.request(Method::GET, &path, Bytes::new());
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.say_session(headers);
        if let Some(after) = after {
            match HeaderValue::from_str(after) {
                Ok(after) => drop(headers.insert(LAST_EVENT, after)),
                Err(_) => return Ok(None),
            }
        }
        let reply = self.connections.send(request).await?;
        match reply.response.status() {
            // Whoever has no such stream says so by the one or the other.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND | StatusCode::NOT_IMPLEMENTED => {
                reply.whole().await?;
                Ok(None)
            }
            _ => match self.answer(reply).await? {
                Answer::Stream(reply) => Ok(Some(reply)),
                Answer::Accepted | Answer::Whole(_) => Ok(None),
            },
        }
    }

    /// Ends the session, where there is one; what comes of it is the server's own affair.
    pub(super) async fn leave(&self) {
        if self.session.borrow().is_none() {
            return;
        }
        let path = self.path.borrow().clone();
        let mut request = self.request(Method::DELETE, &path, Bytes::new());
        self.say_session(request.headers_mut());
        if let Ok(reply) = self.connections.send(request).await {
            reply.whole().await.ok();
        }
    }

    async fn answer(&self, reply: Reply) -> Result<Answer, ExchangeError> {
        let status = reply.response.status();
        let headers = reply.response.headers();
        if status.is_redirection() {
            let to = text(headers, &header::LOCATION);
            return Err(ExchangeError::Redirect { status, to });
        }
        let kind = text(headers, &header::CONTENT_TYPE);
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if !status.is_success() {
            let body = reply.whole().await?;
            return Err(ExchangeError::Refused { status, shown: shown(&body), body });
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            reply.whole().await?;
            return Ok(Answer::Accepted);
        }
        match kind.as_str() {
            "text/event-stream" => Ok(Answer::Stream(reply)),
            "application/json" => Ok(Answer::Whole(reply.whole().await?)),
            _ => {
                let body = reply.whole().await?;
                if body.is_empty() { Ok(Answer::Accepted) } else { Err(ExchangeError::Kind(kind)) }
            }
        }
    }

    fn request(&self, method: Method, path: &str, body: Bytes) -> Request<Full<Bytes>> {
        let target = &self.connections.target;
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = method;
        // It was a part of a URL before.
        *request.uri_mut() = path.parse().unwrap_or_default();
        let headers = request.headers_mut();
        if let Ok(host) = HeaderValue::from_str(&target.authority) {
            headers.insert(header::HOST, host);
        }
        headers.insert(header::USER_AGENT, HeaderValue::from_static("fumehood"));
        for (name, value) in &target.headers {
            headers.append(name, value.clone());
        }
        request
    }

    fn say_session(&self, headers: &mut HeaderMap) {
        for (name, value) in [(SESSION, &self.session), (VERSION, &self.version)] {
            if let Some(value) = &*value.borrow() {
                headers.insert(name, value.clone());
            }
        }
    }
}

/// Whether nothing that takes messages is there.
fn is_nobody(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
}

fn text(headers: &HeaderMap, name: &HeaderName) -> String {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

/// The beginning of a body on one line.
fn shown(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body)
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(SHOWN)
        .collect();
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
