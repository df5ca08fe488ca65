//! The Messages API: tools for a request, results for what a model asked for.
//!
//! An application asks here which tools it may offer to a model, and hands over what the model asked for; it puts the one
//! message that comes back behind the model's. Every use walks the road by itself, under the name of this application's
//! caller; what a model writes is never taken as permission.

mod answer;
mod offer;
mod openai;
mod turn;
mod uses;

use std::sync::Arc;

use access::{Verb, principal::Principal};
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
    routing::{get, post},
};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use model::{name::ServerName, visible::excerpt};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use store::audit::CallId;

use crate::{
    call::{Face, Received, Scope},
    http::{BodyError, DEFAULT_BODY, Rim, read_json},
    service::Gateway,
};
use answer::Answer;
use offer::Format;
use turn::{Dialect, Turn};
use uses::{TurnError, Use};

/// Code of a request that cannot be carried out as it is written; nothing of it was done.
pub const MALFORMED: &str = "FH-REQUEST-MALFORMED";

/// Header of an answer: the names of its calls in the record, in the order of the uses.
pub const CALLS: &str = "fumehood-calls";

/// Uses of one turn that are under way at once; the rest wait.
const AT_ONCE: usize = 8;

/// Longest name that a client gives itself, in characters.
const LONGEST_CLIENT: usize = 120;

/// `GET /v1/tools` and `POST /v1/tool-calls`. Whoever puts it up has every request identified before: the handlers take the
/// `Arc<Principal>` of its extensions, and the bound of its body from the [`Rim`] there.
pub fn router(gateway: Gateway) -> Router {
    Router::new().route("/v1/tools", get(tools)).route("/v1/tool-calls", post(tool_calls)).with_state(gateway)
}

async fn tools(State(gateway): State<Gateway>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let Some(who) = principal(&parts) else { return unidentified() };
    match chosen(parts.uri.query().unwrap_or_default()) {
        Ok((format, server)) => {
            let view = gateway.view(&who, &Scope::All);
            let tools = offer::tools(view.tools(), format, server.as_ref());
            answered(StatusCode::OK, &tools)
        }
        Err(error) => malformed(&error),
    }
}

async fn tool_calls(State(gateway): State<Gateway>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(who) = principal(&parts) else { return unidentified() };
    let most = parts.extensions.get::<Arc<Rim>>().map_or(DEFAULT_BODY, |rim| rim.max_body);
    let body = match read_json(&parts.headers, body, most).await {
        Ok(body) => body,
        Err(error) => return unread(&error),
    };
    match turn::read(&body) {
        Ok(turn) => carried_out(&gateway, &who, &parts.headers, turn).await,
        Err(error) => malformed(&error),
    }
}

/// Every use of a turn, side by side. Where this is dropped the application went away, and what is under way is taken back.
async fn carried_out(gateway: &Gateway, who: &Arc<Principal>, headers: &HeaderMap, turn: Turn) -> Response {
    let Turn { dialect, uses, offered } = turn;
    let done = stream::iter(uses).map(|it| {
        let is_offered = offered.as_ref().is_none_or(|offered| offered.contains(&it.name));
        let received = received(&it, who, headers);
        async move {
            if !is_offered {
                let concluded = gateway.not_offered(received).await;
                return (concluded.call, it.id, Answer::unknown(&it.name));
            }
            let concluded = gateway.walk(received).await;
            (concluded.call, it.id, Answer::of(concluded.end, &it.name))
        }
    });
    let done: Vec<(CallId, String, Answer)> = done.buffered(AT_ONCE).collect().await;
    let calls = done.iter().map(|(call, ..)| call.as_str()).collect::<Vec<_>>().join(",");
    let answers: Vec<_> = done.into_iter().map(|(_, id, answer)| (id, answer)).collect();
    let body = match dialect {
        Dialect::Messages => answer::message(answers),
        Dialect::OpenAi => openai::messages(&answers),
    };
    let mut response = answered(StatusCode::OK, &body);
    if let Ok(calls) = HeaderValue::from_str(&calls) {
        response.headers_mut().insert(CALLS, calls);
    }
    response
}

fn received(it: &Use, who: &Arc<Principal>, headers: &HeaderMap) -> Received {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let trace = text("traceparent").map(|value| ("traceparent".to_owned(), json!(value)));
    Received {
        call: CallId::new(),
        face: Face::Messages,
        principal: Arc::clone(who),
        scope: Scope::All,
        verb: Verb::CallTool,
        name: it.name.clone(),
        params: Map::from_iter([("arguments".to_owned(), Value::Object(it.input.clone()))]),
        meta: Map::from_iter(trace),
        client: text("user-agent").map(|name| excerpt(name, LONGEST_CLIENT)),
        progress: None,
        questions: None,
        modern: false,
    }
}

/// What `GET /v1/tools` was asked for. A word that is not known is a mistake: the answer would be another one than wanted.
fn chosen(query: &str) -> Result<(Format, Option<ServerName>), TurnError> {
    let (mut format, mut server) = (None, None);
    for (name, value) in query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    {
        let value = percent_decode_str(value).decode_utf8_lossy();
        let place = || format!("the parameter `{}`", excerpt(name, 40));
        let is_first = match name {
            "format" => {
                let known = Format::ALL.iter().find(|(word, _)| *word == value);
                let Some((_, known)) = known else {
                    let reason = format!("`{}` is no format", excerpt(&value, 40));
                    return Err(TurnError::new(place(), reason, "there are `messages`, `openai` and `mcp`"));
                };
                format.replace(*known).is_none()
            }
            "server" => {
                let named = ServerName::new(value.as_ref());
                let named = named.map_err(|_| {
                    TurnError::new(
                        place(),
                        "this is no name of a server",
                        "it is the name in the configuration",
                    )
                })?;
                server.replace(named).is_none()
            }
            _ => {
                return Err(TurnError::new(
                    place(),
                    "there is none of this name",
                    "there are `format` and `server`",
                ));
            }
        };
        if !is_first {
            return Err(TurnError::new(place(), "it is there twice", "write it once"));
        }
    }
    Ok((format.unwrap_or(Format::Messages), server))
}

fn principal(parts: &Parts) -> Option<Arc<Principal>> {
    parts.extensions.get::<Arc<Principal>>().cloned()
}

/// Whoever put the router up without identifying callers gets nothing done.
fn unidentified() -> Response {
    tracing::error!("a request without a caller");
    answered(StatusCode::INTERNAL_SERVER_ERROR, &json!({"error": {"code": "FH-IDENTITY-NONE"}}))
}

fn malformed(error: &TurnError) -> Response {
    let place = (!error.place.is_empty()).then_some(&error.place);
    let error =
        json!({"code": MALFORMED, "message": error.to_string(), "place": place, "hint": error.hint()});
    answered(StatusCode::BAD_REQUEST, &json!({"error": error}))
}

fn unread(error: &BodyError) -> Response {
    answered(error.status(), &json!({"error": {"code": MALFORMED, "message": error.to_string()}}))
}

/// An answer for this caller alone.
fn answered(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}
