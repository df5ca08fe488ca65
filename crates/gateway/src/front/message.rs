//! What a line is, as far as deciding about it needs.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

/// The id of a request: a string or a number, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(String);

impl Id {
    /// None for what cannot be an id (MCP 2025-11-25, basic protocol: a string or an integer, never null).
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(_) | Value::Number(_) => Some(Self(value.to_string())),
            _ => None,
        }
    }

    /// As JSON.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or(Value::Null)
    }
}

/// What a line of a server is. Members are read once: two of the same name are an error, since somebody else might
/// take the other one.
#[derive(Debug, PartialEq)]
pub(super) struct Head {
    /// The id, of a request or of an answer.
    pub(super) id: Option<Value>,
    /// The method, of a request or a notification.
    pub(super) method: Option<String>,
    /// Whether it has a result or an error.
    pub(super) is_answer: bool,
}

impl Head {
    /// Reads the outermost members of an object.
    pub(super) fn read(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
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
        let mut head = Head { id: None, method: None, is_answer: false };
        let mut seen: Vec<String> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("the member `{key}` is there twice")));
            }
            match key.as_str() {
                "id" => head.id = Some(map.next_value()?),
                "method" => head.method = Some(map.next_value()?),
                "result" | "error" => {
                    head.is_answer = true;
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            seen.push(key);
        }
        Ok(head)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_members_are_read_and_none_twice() {
        let head = Head::read(br#"{"jsonrpc":"2.0","id":7,"result":{"id":1,"id":2}}"#).unwrap();
        assert_eq!(head, Head { id: Some(json!(7)), method: None, is_answer: true });
        for twice in [r#"{"id":1,"result":{},"id":2}"#, r#"{"result":{},"\u0069d":1,"id":2}"#, "[]", "7"] {
            assert!(Head::read(twice.as_bytes()).is_err(), "{twice}");
        }
    }

    #[test]
    fn an_id_is_answered_as_it_was_asked() {
        for id in [json!("a\"b"), json!(7), json!(-1)] {
            assert_eq!(Id::of(&id).unwrap().value(), id);
        }
        assert!(Id::of(&Value::Null).is_none() && Id::of(&json!([])).is_none());
        assert_ne!(Id::of(&json!("1")), Id::of(&json!(1)));
    }
}
