//! Requests that stand for themselves (MCP 2026-07-28).

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use access::Verb;
use axum::response::Response;
use http::StatusCode;
use model::visible::excerpt;
use serde_json::{Map, Value, json};
use tools::surface::Kind;

use super::{
    Caller, Client, Face, answers, client_name,
    concluding::{cacheable, complete, unknown},
    discovery::{self, CAPABILITIES, CLIENT_INFO, LEGACY, MODERN, SUPPORTED, VERSION},
    envelope::{Request, Said},
    lists, nothing_here, questions, routing_headers,
    rpc::{self, Fault, HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION},
    state::{Round, StateError, digest_of},
    subject::Subject,
    verb_of, watching,
};
use crate::{call::Scope, guard, view::View};

mod call;
mod rounds;

use call::{Asked, Call};

/// How long a client may take a list for fresh, in ms: it can have itself told of changes.
const TTL: u64 = 10_000;
/// Parameters of a second round, which are no part of what is asked for.
const OF_ROUNDS: [&str; 2] = ["inputResponses", "requestState"];

/// Answers one request, whose header says `version`.
pub(super) async fn request(
    face: Arc<Face>,
    caller: Arc<Caller>,
    version: Option<&str>,
    request: Request,
) -> Response {
    let Request { id, said } = request;
    match answer(face, caller, version, &id, said).await {
        Ok(response) => response,
        Err(fault) => fault.response(Some(&id)),
    }
}

async fn answer(
    face: Arc<Face>,
    caller: Arc<Caller>,
    version: Option<&str>,
    id: &Value,
    said: Said,
) -> Result<Response, Fault> {
    let capabilities = preamble(&said, version)?;
    routing_headers::check(&caller.headers, &said)?;
    if let Some(verb) = verb_of(&said.method) {
        return walk(face, caller, id, verb, said, capabilities).await;
    }
    let view = face.gateway.view(&caller.principal, &caller.scope);
    if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.method() == said.method) {
        let outcome = list(kind, &view, &said.params)?;
        return Ok(rpc::response(id, &Ok(finished(outcome, &view))));
    }
    match said.method.as_str() {
        "server/discover" if view.is_empty() && caller.scope != Scope::All => Ok(nothing_here(Some(id))),
        "server/discover" => Ok(rpc::response(id, &Ok(finished(discovery::discover(&view), &view)))),
        "subscriptions/listen" => watching::listen(&face, &caller, &view, id, &said).await,
        method => Err(no_method(method)),
    }
}

/// What each request has to say of itself. Gives what the client can do.
fn preamble(said: &Said, header: Option<&str>) -> Result<Value, Fault> {
    let missing = |key: &str| Fault::bad(INVALID_PARAMS, format!("`_meta` has no `{key}`"));
    let version = said.meta.get(VERSION).and_then(Value::as_str).ok_or_else(|| missing(VERSION))?;
    match header {
        Some(header) if header == version => {}
        _ if guard::off("mcp-header-agreement") => {}
        Some(header) => {
            let (header, version) = (excerpt(header, 60), excerpt(version, 60));
            let why =
                format!("header mismatch: `mcp-protocol-version` says `{header}`, the body `{version}`");
            return Err(Fault::bad(HEADER_MISMATCH, why));
        }
        None => {
            return Err(Fault::bad(HEADER_MISMATCH, "header mismatch: `mcp-protocol-version` is missing"));
        }
    }
    if version != MODERN {
        // A version with sessions is spoken here, but not in this way.
        let supported = if LEGACY.contains(&version) { &SUPPORTED[..1] } else { &SUPPORTED[..] };
        let data = json!({ "supported": supported, "requested": excerpt(version, 60) });
        return Err(Fault::bad(UNSUPPORTED_VERSION, "Unsupported protocol version").data(data));
    }
    let capabilities = said.meta.get(CAPABILITIES).filter(|capabilities| capabilities.is_object());
    capabilities.cloned().ok_or_else(|| missing(CAPABILITIES))
}

fn list(kind: Kind, view: &View, params: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    if !discovery::capabilities(view).contains_key(kind.capability()) {
        return Err(no_method(kind.method()));
    }
    let mut result = lists::page(kind, view.list(kind), params.get("cursor"))?;
    cacheable(&mut result, TTL);
    Ok(result)
}

fn no_method(method: &str) -> Fault {
    let why = format!("Method not found: {}", excerpt(method, 100));
    Fault::new(METHOD_NOT_FOUND, why).status(StatusCode::NOT_FOUND)
}

fn finished(mut result: Map<String, Value>, view: &View) -> Map<String, Value> {
    complete(&mut result, &view.server_info());
    result
}

/// Walks the road: from its beginning, or on from where a person was asked something.
async fn walk(
    face: Arc<Face>,
    caller: Arc<Caller>,
    id: &Value,
    verb: Verb,
    said: Said,
    capabilities: Value,
) -> Result<Response, Fault> {
    let Said { method, mut params, meta, .. } = said;
    if verb == Verb::Complete {
        let view = face.gateway.view(&caller.principal, &caller.scope);
        if !discovery::capabilities(&view).contains_key("completions") {
            return Err(no_method(&method));
        }
    }
    let subject = Subject::of(verb, &params, &face.gateway, &caller.principal, &caller.scope)?;
    if let Some(tool) = &subject.tool {
        routing_headers::check_params(&caller.headers, tool, params.get("arguments"))?;
    }
    let digest = digest(&caller, &method, &params);
    let client = client(meta, &capabilities, subject.is_pass_through());
    let responses = responses(&params)?;
    if let Some(responses) = params.get("inputResponses") {
        answers::screened(&face, &caller, None, responses).await?;
    }
    let server_info = subject.server_info(&caller.scope);
    let asked = Asked { face, caller, subject, capabilities, digest, server_info };
    let call = match params.remove("requestState") {
        None => {
            // Answers to what nobody has asked: the server has to ask first.
            if !asked.subject.is_pass_through() && !guard::off("mcp-unasked-responses") {
                params.remove("inputResponses");
            }
            Call::begin(asked, params, client)
        }
        Some(state) => {
            let state =
                state.as_str().ok_or_else(|| Fault::new(INVALID_PARAMS, "`requestState` is no text"))?;
            let round = asked.face.seal.open(state, &asked.caller.key, &asked.digest, SystemTime::now());
            match round.map_err(not_taken)? {
                Round::Held { call } => {
                    let waiting = asked.face.held.take(&call, &asked.caller.key, Instant::now());
                    let waiting = waiting.ok_or_else(|| not_taken(StateError::Expired))?;
                    // What was allowed then may not be so any more: dropping it takes the call back.
                    let is_still = asked.subject.is_still(
                        &asked.face.gateway,
                        &asked.caller.principal,
                        &asked.caller.scope,
                    );
                    if !is_still && !guard::off("mcp-held-seen") {
                        return Err(unknown(verb, &asked.subject.name, true));
                    }
                    Call::goes_on(asked, call, waiting, &responses)
                }
                Round::Again { server, state, asked: keys } => {
                    if asked.subject.server() != Some(&server) && !guard::off("mcp-state-server") {
                        return Err(not_taken(StateError::Foreign));
                    }
                    let passes = asked.subject.is_pass_through();
                    let given = responses.into_iter().filter(|(key, _)| passes || keys.contains(key));
                    set(&mut params, "inputResponses", Some(Value::Object(given.collect())));
                    set(&mut params, "requestState", state.map(Value::from));
                    Call::begin(asked, params, client)
                }
            }
        }
    };
    Ok(call.respond(id.clone()).await)
}

fn set(params: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    params.remove(name);
    if let Some(value) = value {
        params.insert(name.to_owned(), value);
    }
}

fn client(mut meta: Map<String, Value>, capabilities: &Value, pass_through: bool) -> Client {
    let name = client_name(meta.get(CLIENT_INFO));
    meta.insert(CAPABILITIES.to_owned(), questions::told(capabilities, pass_through));
    Client { meta, name, modern: true }
}

/// Stands for what is asked for, and of which servers; the same in all rounds.
fn digest(caller: &Caller, method: &str, params: &Map<String, Value>) -> String {
    let scope = match &caller.scope {
        Scope::All => "",
        Scope::Server(name) => name.as_str(),
    };
    let asked = params.iter().filter(|(name, _)| !OF_ROUNDS.contains(&name.as_str()));
    let asked: Map<String, Value> = asked.map(|(name, value)| (name.clone(), value.clone())).collect();
    // Numbers read from JSON are finite.
    let canonical = model::json::canonical(&Value::Object(asked)).unwrap_or_default();
    digest_of(&[scope.as_bytes(), method.as_bytes(), &canonical])
}

/// The client's answers.
fn responses(params: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    match params.get("inputResponses") {
        None => Ok(Map::new()),
        Some(Value::Object(responses)) if responses.values().all(Value::is_object) => Ok(responses.clone()),
        Some(_) => {
            Err(Fault::new(INVALID_PARAMS, "`inputResponses` are answers by the keys of their questions"))
        }
    }
}

fn not_taken(error: StateError) -> Fault {
    Fault::new(INVALID_PARAMS, error.to_string())
}
