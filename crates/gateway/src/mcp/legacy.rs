//! Sessions (MCP 2025-11-25, 2025-06-18 and 2025-03-26).

use std::{sync::Arc, time::Instant};

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use model::visible::excerpt;
use serde_json::{Map, Value, json};
use tools::surface::Kind;

use super::{
    Caller, Client, Face, answers, client_name,
    discovery::{self, CAPABILITIES, CLIENT_INFO, MODERN, VERSION},
    envelope::{Request, Said},
    lists, not_allowed, nothing_here, questions,
    rpc::{self, Fault, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND},
    sessions::{OpenError, Opening, Session},
    subject::Subject,
    verb_of, watching,
};
use crate::{call::Scope, guard, http::single, pool::Level, view::View};

mod call;

use call::Call;

/// Names a session (MCP 2025-11-25, transports, session management).
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Most bytes of what a client says of itself, and of what it can do: each is kept as long as its session.
const LONGEST: usize = 32 << 10;

/// Answers one request.
pub(super) async fn request(face: Arc<Face>, caller: Arc<Caller>, request: Request) -> Response {
    let Request { id, said } = request;
    if said.method == "initialize" {
        return initialize(&face, &caller, &id, &said.params);
    }
    let session = match session_of(&face, &caller) {
        Ok(session) => session,
        Err(fault) => return fault.response(Some(&id)),
    };
    match answer(face, caller, session, &id, said).await {
        Ok(response) => response,
        Err(fault) => fault.response(Some(&id)),
    }
}

/// Takes a notification.
pub(super) fn notification(face: &Face, caller: &Caller, said: &Said) -> Response {
    let session = match session_of(face, caller) {
        Ok(session) => session,
        Err(fault) => return fault.response(None),
    };
    if let ("notifications/cancelled", Some(id)) = (said.method.as_str(), said.params.get("requestId")) {
        session.cancel(id);
    }
    StatusCode::ACCEPTED.into_response()
}

/// Takes an answer to a question.
pub(super) async fn answer_to(face: &Face, caller: &Caller, id: &Value, outcome: Value) -> Response {
    match session_of(face, caller) {
        Ok(session) => {
            let outcome = match answers::screened(face, caller, None, &outcome).await {
                Ok(()) => outcome,
                // Whoever asked is told that there is no answer, and why.
                Err(fault) => json!({ "error": { "code": INTERNAL_ERROR, "message": fault.message } }),
            };
            session.answered(id, outcome);
            StatusCode::ACCEPTED.into_response()
        }
        Err(fault) => fault.response(None),
    }
}

/// Opens the stream of a session.
pub(super) fn listen(face: &Arc<Face>, caller: Caller) -> Response {
    let version = single(&caller.headers, &super::routing_headers::VERSION).ok().flatten();
    if version == Some(MODERN) || !caller.headers.contains_key(SESSION) {
        return not_allowed("POST");
    }
    if !caller.streams {
        return Fault::new(INVALID_REQUEST, "the stream is `text/event-stream`")
            .status(StatusCode::NOT_ACCEPTABLE)
            .response(None);
    }
    match session_of(face, &caller) {
        Ok(session) => watching::of_session(face, &Arc::new(caller), &session),
        Err(fault) => fault.response(None),
    }
}

/// Ends a session.
pub(super) fn delete(face: &Face, caller: &Caller) -> Response {
    let version = single(&caller.headers, &super::routing_headers::VERSION).ok().flatten();
    if version == Some(MODERN) || !caller.headers.contains_key(SESSION) {
        return not_allowed("POST");
    }
    match session_of(face, caller) {
        Ok(session) => {
            face.sessions.end(&session);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(fault) => fault.response(None),
    }
}

/// The session of a request. One of another caller is one that does not exist.
fn session_of(face: &Face, caller: &Caller) -> Result<Arc<Session>, Fault> {
    let id = single(&caller.headers, &SESSION).map_err(|why| Fault::bad(INVALID_REQUEST, why))?;
    let id = id.ok_or_else(|| {
        let why = format!(
            "there is no session: begin with `initialize`, or speak {MODERN} with the version in header and `_meta`"
        );
        Fault::bad(INVALID_REQUEST, why)
    })?;
    let session = face.sessions.of(id, &caller.key, &caller.scope, Instant::now());
    session.ok_or_else(|| Fault::new(INVALID_REQUEST, "Session not found").status(StatusCode::NOT_FOUND))
}

fn initialize(face: &Face, caller: &Caller, id: &Value, params: &Map<String, Value>) -> Response {
    let view = face.gateway.view(&caller.principal, &caller.scope);
    if view.is_empty() && caller.scope != Scope::All {
        return nothing_here(Some(id));
    }
    let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Fault::new(INVALID_PARAMS, "`protocolVersion` is missing, or no text").response(Some(id));
    };
    let version = discovery::agreed(wanted);
    let kept = |name: &str| {
        let said = params.get(name).filter(|said| said.is_object()).cloned();
        let said = said.unwrap_or_else(|| json!({}));
        let is_short = said.to_string().len() <= LONGEST || guard::off("mcp-session-size");
        let why = || Fault::new(INVALID_PARAMS, format!("`{name}` has more than {LONGEST} bytes"));
        if is_short { Ok(said) } else { Err(why()) }
    };
    let (capabilities, client_info) = match (kept("capabilities"), kept("clientInfo")) {
        (Ok(capabilities), Ok(client_info)) => (capabilities, client_info),
        (Err(fault), _) | (_, Err(fault)) => return fault.response(Some(id)),
    };
    let opening =
        Opening { principal: caller.key.clone(), scope: caller.scope.clone(), capabilities, client_info };
    let session = match face.sessions.open(opening, Instant::now()) {
        Ok(session) => session,
        Err(error @ OpenError::Full) => {
            let fault = Fault::new(rpc::REFUSED, format!("FH-SESSIONS: {error}"));
            let fault = fault.data(json!({ "code": "FH-SESSIONS" })).status(StatusCode::SERVICE_UNAVAILABLE);
            let mut response = fault.response(Some(id));
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
            return response;
        }
        Err(error) => {
            return Fault::new(INTERNAL_ERROR, error.to_string())
                .status(StatusCode::INTERNAL_SERVER_ERROR)
                .response(Some(id));
        }
    };
    let result = discovery::initialize(&view, version);
    let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let mut response = rpc::body(StatusCode::OK, &message);
    if let Ok(name) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(SESSION, name);
    }
    response
}

async fn answer(
    face: Arc<Face>,
    caller: Arc<Caller>,
    session: Arc<Session>,
    id: &Value,
    said: Said,
) -> Result<Response, Fault> {
    if let Some(verb) = verb_of(&said.method) {
        let Said { params, meta, .. } = said;
        let subject = Subject::of(verb, &params, &face.gateway, &caller.principal, &caller.scope)?;
        let begun = session.begin(id).map_err(|why| Fault::bad(INVALID_REQUEST, why))?;
        let client = client(&session, meta, subject.is_pass_through());
        let call = Call::begin(face, caller, session, begun, subject, params, client);
        return Ok(call.respond(id.clone()).await);
    }
    let view = face.gateway.view(&caller.principal, &caller.scope);
    if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.method() == said.method) {
        if !discovery::capabilities(&view).contains_key(kind.capability()) {
            return Err(no_method(&said.method));
        }
        let page = lists::page(kind, view.list(kind), said.params.get("cursor"))?;
        return Ok(rpc::response(id, &Ok(page)));
    }
    let result = small(&face, &caller, &session, &view, &said).await?;
    Ok(rpc::response(id, &Ok(result)))
}

/// Requests that are answered here.
async fn small(
    face: &Face,
    caller: &Caller,
    session: &Session,
    view: &View,
    said: &Said,
) -> Result<Map<String, Value>, Fault> {
    let uri = || said.params.get("uri").and_then(Value::as_str);
    let capabilities = discovery::capabilities(view);
    let follows =
        capabilities.get("resources").and_then(|can| can.get("subscribe")) == Some(&Value::Bool(true));
    match said.method.as_str() {
        "ping" => {}
        "logging/setLevel" if capabilities.contains_key("logging") => {
            let level = said.params.get("level").and_then(Value::as_str);
            let level: Option<Level> = level.and_then(|level| level.parse().ok());
            let level =
                level.ok_or_else(|| Fault::new(INVALID_PARAMS, "`level` is not a level of RFC 5424"))?;
            let holders =
                view.offers().iter().filter_map(|offer| face.gateway.holder(&caller.principal, offer.name()));
            session.set_level(level, holders.map(|key| face.gateway.pool().read_logs(&key, level)).collect());
        }
        "resources/subscribe" if follows => {
            let uri = uri().ok_or_else(|| Fault::new(INVALID_PARAMS, "`uri` is missing, or no text"))?;
            if !session.may_follow(uri) {
                return Err(Fault::new(rpc::REFUSED, "FH-SESSIONS: one session follows no more addresses")
                    .data(json!({ "code": "FH-SESSIONS" })));
            }
            let subscription = watching::may_follow(face, caller, uri, false).await?;
            session.follow(uri.to_owned(), subscription);
        }
        "resources/unsubscribe" if follows => {
            let uri = uri().ok_or_else(|| Fault::new(INVALID_PARAMS, "`uri` is missing, or no text"))?;
            session.leave(uri);
        }
        method => return Err(no_method(method)),
    }
    Ok(Map::new())
}

fn no_method(method: &str) -> Fault {
    Fault::new(METHOD_NOT_FOUND, format!("Method not found: {}", excerpt(method, 100)))
}

/// What a client of the newer era would say with each request.
fn client(session: &Session, mut meta: Map<String, Value>, pass_through: bool) -> Client {
    meta.insert(VERSION.to_owned(), MODERN.into());
    meta.insert(CLIENT_INFO.to_owned(), session.client_info.clone());
    meta.insert(CAPABILITIES.to_owned(), questions::told(&session.capabilities, pass_through));
    Client { meta, name: client_name(Some(&session.client_info)), modern: false }
}
