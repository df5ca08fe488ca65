//! MCP over HTTP, in both of its eras: requests that stand for themselves (2026-07-28), and sessions (2025-11-25 and
//! before). Which one it is, each request says.
//!
//! A face has no say in what is done: it asks the gateway for what a caller sees, and sends the caller's requests down the
//! one road. Who asks is the [`Principal`] among the extensions of each request, never a session's.

use std::sync::Arc;

use access::{Verb, principal::Principal};
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::any,
};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use model::{name::ServerName, visible::excerpt};
use serde_json::{Map, Value};
use store::audit::CallId;
use tokio::sync::watch;

use self::{
    envelope::{Message, Said},
    held::Held,
    rpc::{Fault, HEADER_MISMATCH, INVALID_REQUEST, UNSUPPORTED_VERSION},
    sessions::Sessions,
    state::Seal,
    subject::Subject,
};
use crate::{
    call::{self, Received, Scope},
    http::{DEFAULT_BODY, Rim, accepts, read_json, single},
    identify::Door,
    service::Gateway,
};

mod answers;
mod concluding;
mod discovery;
pub mod envelope;
mod exchange;
mod held;
mod legacy;
mod lists;
mod modern;
mod questions;
mod routing_headers;
mod rpc;
mod sessions;
pub mod state;
mod stream;
mod subject;
mod watching;

pub use discovery::{LEGACY, MODERN, SUPPORTED};
pub use lists::PAGE;

/// A face for MCP.
#[derive(Debug)]
struct Face {
    gateway: Gateway,
    sessions: Sessions,
    seal: Seal,
    held: Held,
    /// The service is about to end.
    stopping: watch::Receiver<bool>,
}

/// Who asks, and how an answer may come.
#[derive(Debug)]
struct Caller {
    principal: Arc<Principal>,
    /// [`Principal::key`].
    key: String,
    scope: Scope,
    headers: HeaderMap,
    /// Whoever let it in.
    door: Option<Door>,
    /// The client takes answers in pieces.
    streams: bool,
}

/// `/mcp` for all servers, `/servers/NAME/mcp` for one. Requests have to come with an `Arc<Principal>` among their
/// extensions: whoever puts this somewhere sees to that. Streams that would last end when `stopping` becomes true, or when
/// nobody is left to say so.
///
/// # Errors
///
/// Where the system gives no random bytes.
pub fn router(
    gateway: Gateway,
    max_sessions: usize,
    stopping: watch::Receiver<bool>,
) -> Result<Router, getrandom::Error> {
    let face = Face {
        gateway,
        sessions: Sessions::new(max_sessions),
        seal: Seal::new()?,
        held: Held::default(),
        stopping,
    };
    let router = Router::new().route("/mcp", any(all)).route("/servers/{name}/mcp", any(one));
    Ok(router.with_state(Arc::new(face)))
}

async fn all(State(face): State<Arc<Face>>, request: Request<Body>) -> Response {
    serve(face, Scope::All, request).await
}

async fn one(State(face): State<Arc<Face>>, Path(name): Path<String>, request: Request<Body>) -> Response {
    match ServerName::new(&name) {
        Ok(name) => serve(face, Scope::Server(name), request).await,
        Err(_) => nothing_here(None),
    }
}

async fn serve(face: Arc<Face>, scope: Scope, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let Some(principal) = parts.extensions.get::<Arc<Principal>>().cloned() else {
        tracing::error!("a request came to the MCP face without anybody who asks");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let most = parts.extensions.get::<Arc<Rim>>().map_or(DEFAULT_BODY, |rim| rim.max_body);
    let key = principal.key();
    let streams = accepts(&parts.headers, "text/event-stream");
    let door = parts.extensions.get::<Door>().cloned();
    let caller = Caller { principal, key, scope, headers: parts.headers, door, streams };
    match parts.method {
        Method::POST => post(face, caller, body, most).await,
        Method::GET => legacy::listen(&face, caller),
        Method::DELETE => legacy::delete(&face, &caller),
        _ => not_allowed("GET, POST, DELETE"),
    }
}

async fn post(face: Arc<Face>, caller: Caller, body: Body, most: usize) -> Response {
    if !accepts(&caller.headers, "application/json") {
        let why =
            "an answer may be `application/json`, or `text/event-stream` where that is accepted as well";
        return Fault::new(INVALID_REQUEST, why).status(StatusCode::NOT_ACCEPTABLE).response(None);
    }
    let body = match read_json(&caller.headers, body, most).await {
        Ok(body) => body,
        Err(error) => {
            return Fault::new(INVALID_REQUEST, error.to_string()).status(error.status()).response(None);
        }
    };
    let message = match envelope::read(&body) {
        Ok(message) => message,
        Err(malformed) => {
            return Fault::bad(malformed.code, malformed.why).response(malformed.id.as_ref());
        }
    };
    drop(body);
    let version = match single(&caller.headers, &routing_headers::VERSION) {
        Ok(version) => version.map(str::to_owned),
        Err(why) => return Fault::bad(HEADER_MISMATCH, why).response(id_of(&message)),
    };
    let caller = Arc::new(caller);
    match message {
        Message::Request(request) if is_modern(version.as_deref(), &request.said) => {
            modern::request(face, caller, version.as_deref(), request).await
        }
        Message::Notification(said) if is_modern(version.as_deref(), &said) => {
            StatusCode::ACCEPTED.into_response()
        }
        Message::Answer { .. } if version.as_deref() == Some(MODERN) => {
            Fault::bad(INVALID_REQUEST, "a client sends no answers").response(None)
        }
        Message::Request(request) => match legacy_version(version.as_deref()) {
            Ok(()) => legacy::request(face, caller, request).await,
            Err(fault) => fault.response(Some(&request.id)),
        },
        Message::Notification(said) => legacy::notification(&face, &caller, &said),
        Message::Answer { id, outcome } => legacy::answer_to(&face, &caller, &id, outcome).await,
    }
}

/// A request says so by the version in its body or in its header; `server/discover` is of the new era alone.
fn is_modern(version: Option<&str>, said: &Said) -> bool {
    said.meta.contains_key(discovery::VERSION) || version == Some(MODERN) || said.method == "server/discover"
}

/// Without a header it is 2025-03-26 (MCP 2025-11-25, transports, protocol version header).
fn legacy_version(version: Option<&str>) -> Result<(), Fault> {
    match version {
        Some(version) if !LEGACY.contains(&version) => {
            let data = serde_json::json!({ "supported": SUPPORTED, "requested": excerpt(version, 60) });
            Err(Fault::bad(UNSUPPORTED_VERSION, "Unsupported protocol version").data(data))
        }
        _ => Ok(()),
    }
}

fn id_of(message: &Message) -> Option<&Value> {
    match message {
        Message::Request(request) => Some(&request.id),
        Message::Notification(_) | Message::Answer { .. } => None,
    }
}

/// There is no such server, or none of which this caller sees anything: both are the same.
fn nothing_here(id: Option<&Value>) -> Response {
    Fault::new(INVALID_REQUEST, "there is nothing here that you may use")
        .status(StatusCode::NOT_FOUND)
        .response(id)
}

fn not_allowed(methods: &'static str) -> Response {
    let allow = [(header::ALLOW, HeaderValue::from_static(methods))];
    (StatusCode::METHOD_NOT_ALLOWED, allow).into_response()
}

/// The verb of a method that walks the road, and where the name stands in its parameters.
fn verb_of(method: &str) -> Option<Verb> {
    Some(match method {
        "tools/call" => Verb::CallTool,
        "prompts/get" => Verb::GetPrompt,
        "resources/read" => Verb::ReadResource,
        "completion/complete" => Verb::Complete,
        _ => return None,
    })
}

impl Caller {
    /// Whether it would be let in still, after a reload.
    fn is_known(&self) -> bool {
        self.door.as_ref().is_none_or(|door| door.identifier().knows(&self.principal))
    }

    /// A request of this caller, as it sets out.
    fn received(&self, subject: &Subject, params: Map<String, Value>, client: Client) -> Received {
        Received {
            call: CallId::new(),
            face: call::Face::Mcp,
            principal: Arc::clone(&self.principal),
            scope: self.scope.clone(),
            verb: subject.verb,
            name: subject.name.clone(),
            params,
            meta: client.meta,
            client: client.name,
            progress: None,
            questions: None,
            modern: client.modern,
        }
    }
}

/// What is known of the program that asks, from its own words.
#[derive(Debug, Clone)]
struct Client {
    /// `_meta` of the request.
    meta: Map<String, Value>,
    /// Name and version.
    name: Option<String>,
    modern: bool,
}

/// Name and version of an `Implementation` (MCP, `clientInfo`).
fn client_name(info: Option<&Value>) -> Option<String> {
    let text = |key| info?.get(key)?.as_str().map(|text| excerpt(text, 60));
    let name = text("name")?;
    Some(text("version").map_or_else(|| name.clone(), |version| format!("{name}/{version}")))
}
