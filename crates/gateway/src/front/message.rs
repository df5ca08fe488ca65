//! JSON-RPC messages, as far as deciding about one needs.

use std::collections::BTreeSet;
use std::fmt;

use model::stdio::LONGEST_ID;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};
use tools::visible::excerpt;

use crate::guard;

/// The id of a request: a string or an integer, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(String);

impl Id {
    /// None for what cannot be an id (MCP 2025-11-25, basic protocol: a string or an integer, never null), and for one
    /// longer than [`LONGEST_ID`], which would be kept as long as its request is.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let text = match value {
            Value::Number(number) if !number.is_f64() => number.to_string(),
            Value::String(text) if text.len() <= LONGEST_ID || guard::off("front-bounds") => {
                value.to_string()
            }
            _ => return None,
        };
        Some(Self(text))
    }

    /// As JSON.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or(Value::Null)
    }

    /// Of a short text.
    pub(super) fn of_text(text: &str) -> Self {
        Self(Value::from(text).to_string())
    }

    /// A text as it is, anything else as JSON.
    pub(super) fn text(&self) -> String {
        match self.value() {
            Value::String(text) => text,
            _ => self.0.clone(),
        }
    }

    /// Whether it is a text that begins so.
    pub(super) fn starts_with(&self, prefix: &str) -> bool {
        self.value().as_str().is_some_and(|id| id.starts_with(prefix))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&excerpt(&self.0, 100))
    }
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Request { id: Id, method: String },
    Notification { method: String },
    Answer { id: Id },
}

/// A line that is not one message, or not the same one to every reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    /// Its id, where there is no doubt about it.
    pub(super) id: Option<Id>,
    /// Whether it has a result or an error and no method: such a line is never answered.
    pub(super) is_answer: bool,
    /// Of JSON-RPC 2.0.
    pub(super) code: i64,
    pub(super) why: String,
}

impl Shape {
    /// Reads the outermost members of a line, each of which has to be there once and under its own name: two readers of
    /// a line must not take it for two things.
    pub(super) fn of(line: &[u8]) -> Result<Self, Malformed> {
        let fault = |code, why: &str| Malformed { id: None, is_answer: false, code, why: why.to_owned() };
        let Ok(text) = std::str::from_utf8(line) else { return Err(fault(PARSE_ERROR, "it is not UTF-8")) };
        let text = text.trim_end_matches(['\r', '\n']);
        let has = |end: u8| text.as_bytes().contains(&end);
        if (has(b'\r') || has(b'\n')) && !guard::off("front-line-breaks") {
            return Err(fault(PARSE_ERROR, "a message is one line"));
        }
        if text.trim_start().starts_with('[') {
            return Err(fault(
                INVALID_REQUEST,
                "one message a line: batches went out of the protocol in 2025-06-18",
            ));
        }
        let head: Head = serde_json::from_str(text).map_err(|error| {
            let code = if error.is_data() { INVALID_REQUEST } else { PARSE_ERROR };
            fault(code, &excerpt(&error.to_string(), 200))
        })?;
        head.shape()
    }
}

/// The outermost members of an object.
#[derive(Debug, Default)]
struct Head {
    version: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    has_result: bool,
    has_error: bool,
    /// What is wrong with the members, and whether it is about the id.
    fault: Option<(String, bool)>,
}

/// Members of a message (JSON-RPC 2.0, sections 4 and 5).
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// As many members may a message have.
const MOST_MEMBERS: usize = 64;

impl Head {
    fn shape(self) -> Result<Shape, Malformed> {
        let is_answer = (self.has_result || self.has_error) && self.method.is_none();
        let about_id = self.fault.as_ref().is_some_and(|(_, about_id)| *about_id);
        let id = self.id.as_ref().filter(|_| !about_id).and_then(Id::of);
        let why = match (&self.fault, &self.version, &self.id, &self.method) {
            (Some((why, _)), ..) => why.as_str(),
            (_, version, ..) if version.as_ref().is_none_or(|version| version != "2.0") => {
                "`jsonrpc` is not \"2.0\""
            }
            (_, _, Some(_), _) if id.is_none() => "an `id` is a short text or an integer",
            (_, _, _, Some(method)) if !method.is_string() => "`method` is no text",
            (_, _, _, Some(_)) if self.has_result || self.has_error => "it is both a question and an answer",
            (_, _, _, None) if self.has_result && self.has_error => "it has both a result and an error",
            (_, _, _, None) if !is_answer => "it has no `method` and is no answer",
            (_, _, None, None) => "it is an answer without an `id`",
            _ => "",
        };
        if !why.is_empty() {
            return Err(Malformed { id, is_answer, code: INVALID_REQUEST, why: why.to_owned() });
        }
        match (id, self.method) {
            (Some(id), Some(Value::String(method))) => Ok(Shape::Request { id, method }),
            (None, Some(Value::String(method))) => Ok(Shape::Notification { method }),
            (Some(id), _) => Ok(Shape::Answer { id }),
            (None, _) => Err(Malformed {
                id: None,
                is_answer,
                code: INVALID_REQUEST,
                why: "it is no message".to_owned(),
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeadVisitor)
    }
}

struct HeadVisitor;

impl<'de> Visitor<'de> for HeadVisitor {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head, A::Error> {
        let mut head = Head::default();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let fault = if seen.contains(&key) && !guard::off("front-duplicate-keys") {
                Some((format!("the member `{}` is there twice", excerpt(&key, 60)), key == "id"))
            } else if let Some(known) = look_alike(&key, &MEMBERS) {
                Some((format!("the member `{}` looks like `{known}`", excerpt(&key, 60)), known == "id"))
            } else if seen.len() >= MOST_MEMBERS {
                Some((format!("it has more than {MOST_MEMBERS} members"), false))
            } else {
                None
            };
            match key.as_str() {
                "jsonrpc" => head.version = Some(map.next_value()?),
                "id" => head.id = Some(map.next_value()?),
                "method" => head.method = Some(map.next_value()?),
                _ => {
                    head.has_result |= key == "result";
                    head.has_error |= key == "error";
                    map.next_value::<IgnoredAny>()?;
                }
            }
            if let Some((why, about_id)) = fault {
                let (why, before) = head.fault.take().unwrap_or((why, false));
                head.fault = Some((why, before || about_id));
            } else {
                seen.insert(key);
            }
        }
        Ok(head)
    }
}

/// The name that a key is taken for by readers who do not tell capitals from small letters (Go's `encoding/json` is the
/// best known), where it is not that very name. `names` are in small letters.
pub(super) fn look_alike<'a>(key: &str, names: &[&'a str]) -> Option<&'a str> {
    if names.contains(&key) || guard::off("front-look-alikes") {
        return None;
    }
    // Both ways: U+017F is an `s` to them, and U+212A a `k`.
    let folded: String =
        key.chars().take(32).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    names.iter().copied().find(|name| *name == folded)
}

/// A member that decides. No other one may be taken for it.
pub(super) fn member<'a>(of: Option<&'a Value>, name: &str) -> Result<Option<&'a Value>, String> {
    let members = of.and_then(Value::as_object).ok_or("`params` are missing, or no object")?;
    match members.keys().find(|key| look_alike(key, &[name]).is_some()) {
        Some(other) => Err(format!("the member `{}` looks like `{name}`", excerpt(other, 60))),
        None => Ok(members.get(name)),
    }
}

/// JSON-RPC 2.0, section 5.1.
pub(super) const PARSE_ERROR: i64 = -32700;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC 2.0, section 5.1.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INTERNAL_ERROR: i64 = -32603;

/// A line that answers a request.
pub(super) fn result(id: &Id, result: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id.value(), "result": result }))
}

/// A line that refuses a request; `Null` where its id could not be read.
pub(super) fn error(id: Option<&Id>, code: i64, message: &str) -> Vec<u8> {
    let id = id.map_or(Value::Null, Id::value);
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

/// A notification without parameters.
pub(super) fn notification(method: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method }))
}

/// A message as one line.
pub(super) fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// A line as it came, with its end.
pub(super) fn with_end(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    line
}

#[cfg(test)]
mod tests;
