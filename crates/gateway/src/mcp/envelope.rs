//! One JSON-RPC message as it came in a body, read once.

use model::{json, stdio::LONGEST_ID, visible::excerpt};
use serde_json::{Map, Value};

use super::rpc::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use crate::guard;

/// What a body is.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// Something that has to be answered.
    Request(Request),
    /// Something that is not answered.
    Notification(Said),
    /// The answer to a question of ours.
    Answer {
        /// The question's id.
        id: Value,
        /// The result, or an object with the one member `error`.
        outcome: Value,
    },
}

/// A request.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// A short text or an integer.
    pub id: Value,
    /// What it says.
    pub said: Said,
}

/// A method with its parameters.
#[derive(Debug, PartialEq)]
pub struct Said {
    /// Such as `tools/call`.
    pub method: String,
    /// `params` without `_meta`.
    pub params: Map<String, Value>,
    /// `params._meta`.
    pub meta: Map<String, Value>,
    /// Whether there was a `_meta`.
    pub has_meta: bool,
}

/// A body that is not one message, or not the same one to every reader.
#[derive(Debug, PartialEq)]
pub struct Malformed {
    /// Its id, where there is no doubt about it.
    pub id: Option<Value>,
    /// Of JSON-RPC 2.0.
    pub code: i64,
    /// What is wrong.
    pub why: String,
}

/// Members of a message (JSON-RPC 2.0, sections 4 and 5).
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// Members of parameters that decide.
const PARAMS: [&str; 14] = [
    "_meta",
    "argument",
    "arguments",
    "capabilities",
    "cursor",
    "inputResponses",
    "level",
    "name",
    "notifications",
    "protocolVersion",
    "ref",
    "requestId",
    "requestState",
    "uri",
];

/// Reads a body.
///
/// # Errors
///
/// [`Malformed`], where it is no JSON, says a thing twice, is a batch, has a member that some readers take for another
/// one, or is no message of JSON-RPC 2.0 with an id that is a short text or an integer.
pub fn read(body: &[u8]) -> Result<Message, Malformed> {
    let fault =
        |id: Option<&Value>, code, why: &str| Malformed { id: id.cloned(), code, why: why.to_owned() };
    let value = json::parse(body).map_err(|error| {
        let code = match error {
            json::JsonError::Duplicate { .. } => INVALID_REQUEST,
            _ => PARSE_ERROR,
        };
        fault(None, code, &format!("{error}; {}", error.hint()))
    })?;
    let mut message = match value {
        Value::Object(message) => message,
        Value::Array(_) => {
            let why = "one message a request: batches went out of the protocol in 2025-06-18";
            return Err(fault(None, INVALID_REQUEST, why));
        }
        _ => return Err(fault(None, INVALID_REQUEST, "a message is an object")),
    };
    if let Some(why) = look_alike(&message, &MEMBERS) {
        return Err(fault(None, INVALID_REQUEST, &why));
    }
    let id = message.remove("id");
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return Err(fault(None, INVALID_REQUEST, "an `id` is a short text or an integer"));
    }
    let invalid = |why: &str| fault(id.as_ref(), INVALID_REQUEST, why);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid("`jsonrpc` is not \"2.0\""));
    }
    let (result, error) = (message.remove("result"), message.remove("error"));
    match message.remove("method") {
        Some(_) if result.is_some() || error.is_some() => Err(invalid("it is both a question and an answer")),
        Some(Value::String(method)) => {
            let said = said(method, message.remove("params"))
                .map_err(|why| fault(id.as_ref(), INVALID_PARAMS, &why))?;
            Ok(match id {
                Some(id) => Message::Request(Request { id, said }),
                None => Message::Notification(said),
            })
        }
        Some(_) => Err(invalid("`method` is no text")),
        None => answer(id, result, error).map_err(|why| fault(None, INVALID_REQUEST, why)),
    }
}

fn answer(id: Option<Value>, result: Option<Value>, error: Option<Value>) -> Result<Message, &'static str> {
    let outcome = match (result, error) {
        (Some(_), Some(_)) => return Err("it has both a result and an error"),
        (None, None) => return Err("it has no `method` and is no answer"),
        (Some(result), None) => result,
        (None, Some(error)) => Value::Object(Map::from_iter([("error".to_owned(), error)])),
    };
    let id = id.ok_or("it is an answer without an `id`")?;
    Ok(Message::Answer { id, outcome })
}

fn said(method: String, params: Option<Value>) -> Result<Said, String> {
    let mut params = match params {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err("`params` are no object".to_owned()),
    };
    if let Some(why) = look_alike(&params, &PARAMS) {
        return Err(why);
    }
    let (meta, has_meta) = match params.remove("_meta") {
        None => (Map::new(), false),
        Some(Value::Object(meta)) => (meta, true),
        Some(_) => return Err("`_meta` is no object".to_owned()),
    };
    Ok(Said { method, params, meta, has_meta })
}

/// Short, because it is kept as long as its request is.
fn is_id(id: &Value) -> bool {
    match id {
        Value::Number(number) => !number.is_f64(),
        Value::String(text) => text.len() <= LONGEST_ID,
        _ => false,
    }
}

/// A member that readers who do not tell capitals from small letters take for one of `names` (Go's `encoding/json` is the
/// best known).
pub(super) fn look_alike(members: &Map<String, Value>, names: &[&str]) -> Option<String> {
    if guard::off("mcp-look-alikes") {
        return None;
    }
    members.keys().filter(|key| !names.contains(&key.as_str())).find_map(|key| {
        let folded = fold(key);
        let known = names.iter().find(|name| fold(name) == folded)?;
        Some(format!("the member `{}` looks like `{known}`", excerpt(key, 60)))
    })
}

/// Both ways: U+017F is an `s` to them, and U+212A a `k`.
pub(super) fn fold(key: &str) -> String {
    key.chars().take(32).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
