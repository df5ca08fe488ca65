//! Messages between the task of a cell and its server.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Answer;

/// The revision whose requests say themselves who asks.
pub(super) const MODERN: &str = "2026-07-28";
/// Members of `_meta` that are the protocol's own begin so (MCP 2026-07-28, basic protocol, `_meta`).
const OWN: &str = "io.modelcontextprotocol/";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const TOKEN: &str = "progressToken";

/// The ids of one cell's calls: a beginning that no server can know of before, and the number of the call.
#[derive(Debug)]
pub(super) struct Ids {
    prefix: String,
    /// How every line of a call begins.
    line: Vec<u8>,
}

impl Ids {
    pub(super) fn new(random: &str) -> Self {
        let prefix = format!("c{random}-");
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{prefix}").into_bytes();
        Self { prefix, line }
    }

    pub(super) fn of(&self, number: u64) -> String {
        format!("{}{number}", self.prefix)
    }

    pub(super) fn number(&self, id: &str) -> Option<u64> {
        let digits = id.strip_prefix(&self.prefix)?;
        digits.parse().ok().filter(|number: &u64| digits == number.to_string())
    }

    /// Of a line that [`Ids::request`] made.
    pub(super) fn number_of_line(&self, line: &[u8]) -> Option<u64> {
        let rest = line.strip_prefix(self.line.as_slice())?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()
    }

    /// One line, with its end.
    pub(super) fn request(&self, id: &str, method: &str, params: &Value) -> Vec<u8> {
        debug_assert!(id.starts_with(&self.prefix), "of these ids");
        let request = Request { jsonrpc: "2.0", id, method, params };
        // A value with keys that are texts can always be written.
        let mut line = serde_json::to_vec(&request).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

#[derive(Serialize)]
struct Request<'a> {
    jsonrpc: &'static str,
    id: &'a str,
    method: &'a str,
    params: &'a Value,
}

/// What a message of the server is that its front has let pass.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
}

/// What a request or notification is about.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Body {
    #[serde(default)]
    pub(super) params: Value,
}

/// Whether there is a result in a line.
pub(super) fn is_result(line: &[u8]) -> bool {
    matches!(answer_in(line), Ok(Answer::Result(_)))
}

#[derive(Debug, Deserialize)]
struct Outcome {
    // `null` is a result to some.
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<Value>,
}

/// The answer in a line; or why there is none.
pub(super) fn answer_in(line: &[u8]) -> Result<Answer, String> {
    let Outcome { result, error } = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    match (result, error) {
        (_, Some(error)) => Ok(Answer::Error(error)),
        (Some(result), None) => Ok(Answer::Result(result)),
        (None, None) => Err("it has neither a result nor an error".to_owned()),
    }
}

/// A member of the `data` of an error: whoever carries messages to a server that listens had no answer of it. `sent` in it
/// says whether the server may have read the request.
pub const UNANSWERED: &str = "dev.fumehood/unanswered";

/// Why there was no answer, and whether the server may have read what it was asked, where an error says that.
pub(super) fn unanswered(error: &Value) -> Option<(&str, bool)> {
    let sent = error.get("data")?.get(UNANSWERED)?.get("sent")?.as_bool()?;
    Some((error.get("message").and_then(Value::as_str).unwrap_or("it gave no answer"), sent))
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// How a request says who asks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form<'a> {
    /// Not at all: the session does.
    Session,
    /// In `_meta`, with what the caller has put there, and what the server may count on.
    Modern { meta: &'a Value, able: &'a Value, is_pass_through: bool },
}

/// Puts `_meta` into parameters: what a caller has put there, less what is the protocol's own to say, which we say.
pub(super) fn with_meta(params: Value, token: Option<&str>, form: Form<'_>) -> Value {
    let mut params = match params {
        Value::Object(params) => params,
        _ => Map::new(),
    };
    let mut meta = match params.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.retain(|key, _| !key.starts_with(OWN) && key != TOKEN);
    if let Form::Modern { meta: asked, able, is_pass_through } = form {
        let asked = asked.as_object();
        for (key, value) in asked.into_iter().flatten() {
            if !matches!(key.as_str(), VERSION | CLIENT | CAPABILITIES | TOKEN) {
                meta.insert(key.clone(), value.clone());
            }
        }
        let callers = asked.and_then(|asked| asked.get(CAPABILITIES));
        meta.insert(VERSION.into(), MODERN.into());
        meta.insert(CLIENT.into(), json!({ "name": "fumehood", "version": "1" }));
        meta.insert(CAPABILITIES.into(), both(able, callers, is_pass_through));
    }
    if let Some(token) = token {
        meta.insert(TOKEN.into(), token.into());
    }
    if !meta.is_empty() {
        params.insert("_meta".into(), Value::Object(meta));
    }
    Value::Object(params)
}

/// What both the profile and the caller can do; whatever the caller can where it passes as it is.
fn both(able: &Value, callers: Option<&Value>, is_pass_through: bool) -> Value {
    let callers = callers.and_then(Value::as_object);
    if is_pass_through {
        return Value::Object(callers.cloned().unwrap_or_default());
    }
    let able = able.as_object().into_iter().flatten();
    let both = able.filter(|(name, _)| callers.is_some_and(|callers| callers.contains_key(*name)));
    Value::Object(both.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Whether an answer to `server/discover` says that the server knows 2026-07-28.
pub(super) fn is_modern(discovered: &Value) -> bool {
    let versions = discovered.get("supportedVersions").and_then(Value::as_array);
    versions.is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

/// The answer to a question of the server: a result, or what has the one member `error`.
pub(super) fn answer(id: &Value, said: Value) -> Vec<u8> {
    let message = match said {
        Value::Object(mut members) if members.len() == 1 && members.contains_key("error") => {
            json!({ "jsonrpc": "2.0", "id": id, "error": members.remove("error") })
        }
        result => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
    };
    message.to_string().into_bytes()
}

/// What a question is answered with that nobody is asked.
pub(super) fn unasked(method: &str) -> Value {
    match method {
        // Nobody has said no: nobody was asked.
        "elicitation/create" => json!({ "action": "cancel" }),
        "roots/list" => json!({ "roots": [] }),
        // MCP 2025-11-25, sampling, error handling.
        _ => json!({ "error": { "code": -1, "message": "nobody can be asked" } }),
    }
}

#[cfg(test)]
mod tests;
