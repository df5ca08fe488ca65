//! JSON-RPC messages, as far as whoever carries them has to look into them.

use gateway::pool::UNANSWERED;
use serde_json::{Map, Value, json};

/// A message, and the bytes it came as, on one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// What it is.
    pub(crate) kind: Kind,
    /// Without line ends.
    pub(crate) line: Vec<u8>,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// It wants an answer.
    Request { id: Value, method: String, params: Value },
    /// It wants none.
    Notification { method: String, params: Value },
    /// It is one.
    Response { id: Value, result: Option<Value> },
}

/// The code of errors that are ours: the range JSON-RPC leaves to whoever implements a server.
const FAILED: i64 = -32_000;

impl Message {
    /// Reads one message; `None` where it is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        Some(Self { kind: Kind::of(value)?, line: one_line(bytes) })
    }

    /// Reads the body of an answer: one message, or several in a list as older servers send them. `None` where something
    /// in it is no message.
    pub(crate) fn read_all(bytes: &[u8]) -> Option<Vec<Self>> {
        match serde_json::from_slice(bytes).ok()? {
            Value::Array(all) => all
                .into_iter()
                .map(|value| {
                    let line = serde_json::to_vec(&value).ok()?;
                    Some(Self { kind: Kind::of(value)?, line })
                })
                .collect(),
            value => Some(vec![Self { kind: Kind::of(value)?, line: one_line(bytes) }]),
        }
    }

    /// Whether it answers this request.
    pub(crate) fn answers(&self, asked: &Value) -> bool {
        matches!(&self.kind, Kind::Response { id, .. } if id == asked)
    }
}

impl Kind {
    fn of(value: Value) -> Option<Self> {
        let Value::Object(mut value) = value else { return None };
        let id = value.remove("id");
        match (value.remove("method"), id) {
            (Some(Value::String(method)), Some(id @ (Value::String(_) | Value::Number(_)))) => {
                let params = value.remove("params").unwrap_or_default();
                Some(Self::Request { id, method, params })
            }
            (Some(Value::String(method)), None) => {
                Some(Self::Notification { method, params: value.remove("params").unwrap_or_default() })
            }
            (None, id) if is_response(&value) => {
                Some(Self::Response { id: id.unwrap_or_default(), result: value.remove("result") })
            }
            _ => None,
        }
    }
}

fn is_response(value: &Map<String, Value>) -> bool {
    value.contains_key("result") != value.contains_key("error")
}

/// An answer that we give in place of the server.
pub(crate) fn failure(id: &Value, message: &str) -> Vec<u8> {
    answer(id, &json!({ "code": FAILED, "message": message }))
}

/// The same for a request to which no answer came, and none will: what the server has done of it is not known where it was
/// `sent`. A pool tells its caller so in its own words.
pub(crate) fn unanswered(id: &Value, message: &str, sent: bool) -> Vec<u8> {
    answer(id, &json!({ "code": FAILED, "message": message, "data": { UNANSWERED: { "sent": sent } } }))
}

/// The error in the body of a refused request, as the answer to that.
pub(crate) fn refusal(id: &Value, body: &[u8]) -> Option<Vec<u8>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = body.get("error").filter(|error| {
        error.get("code").is_some_and(Value::is_i64) && error.get("message").is_some_and(Value::is_string)
    })?;
    Some(answer(id, error))
}

fn answer(id: &Value, error: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
}

/// The same JSON without line ends: those within strings are escaped in it.
fn one_line(json: &[u8]) -> Vec<u8> {
    json.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<Kind> {
        Message::read(text.as_bytes()).map(|message| message.kind)
    }

    #[test]
    fn messages_are_told_apart() {
        assert!(matches!(kind(r#"{"id":"a","method":"m"}"#), Some(Kind::Request { .. })));
        assert!(matches!(kind(r#"{"method":"m","params":{"x":1}}"#), Some(Kind::Notification { .. })));
        assert!(matches!(kind(r#"{"id":1,"result":{}}"#), Some(Kind::Response { result: Some(_), .. })));
        assert!(matches!(kind(r#"{"id":null,"error":{}}"#), Some(Kind::Response { result: None, .. })));
        for none in [
            "",
            "{",
            "[]",
            "1",
            "{}",
            r#"{"id":1}"#,
            r#"{"id":{},"method":"m"}"#,
            r#"{"id":1,"result":1,"error":1}"#,
        ] {
            assert_eq!(kind(none), None, "{none}");
        }
    }

    #[test]
    fn a_message_is_passed_on_as_it_was_but_on_one_line() {
        let text =
            "{ \"id\": 12345678901234567890123,\r\n \"result\": { \"text\": \"a\\nb  c\", \"n\": 1.0 } }\n";
        let message = Message::read(text.as_bytes()).unwrap();
        let line = String::from_utf8(message.line).unwrap();
        assert_eq!(line, r#"{ "id": 12345678901234567890123, "result": { "text": "a\nb  c", "n": 1.0 } }"#);
        let all = Message::read_all(br#"[{"id":1,"result":1},{"method":"m"}]"#).unwrap();
        assert_eq!(all.len(), 2);
        assert!(all[0].answers(&json!(1)) && !all[1].answers(&json!(1)));
        assert_eq!(Message::read_all(br#"[{"id":1,"result":1},2]"#), None);
    }

    #[test]
    fn an_error_of_the_server_is_given_under_the_requests_own_id() {
        let body = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no","data":[1]}}"#;
        let answer: Value = serde_json::from_slice(&refusal(&json!("q"), body).unwrap()).unwrap();
        assert_eq!(
            answer,
            json!({"jsonrpc":"2.0","id":"q","error":{"code":-32001,"message":"no","data":[1]}})
        );
        for none in ["", "<html>", "{}", r#"{"error":"x"}"#, r#"{"error":{"code":"x","message":"y"}}"#] {
            assert_eq!(refusal(&json!(1), none.as_bytes()), None, "{none}");
        }
    }
}
