//! One use of a tool, and what keeps a turn from being carried out.

use model::json::JsonError;
use serde_json::{Map, Value};

/// Longest name of a use, in bytes.
const LONGEST_ID: usize = 256;

/// One use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Use {
    /// The model's name for it, by which its result is known.
    pub(super) id: String,
    /// The tool, as the model wrote it.
    pub(super) name: String,
    /// The arguments.
    pub(super) input: Map<String, Value>,
}

/// A request that cannot be carried out as a whole, so that nothing of it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{reason}", .place, if .place.is_empty() { "" } else { ": " })]
pub(super) struct TurnError {
    /// Keys and indexes from the root, such as `messages[2].content[0].id`; empty for the whole.
    pub(super) place: String,
    /// What is wrong there.
    pub(super) reason: String,
    /// What to send instead.
    hint: String,
}

impl TurnError {
    pub(super) fn new(place: impl Into<String>, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into(), hint: hint.into() }
    }

    /// What to do about it.
    pub(super) fn hint(&self) -> &str {
        &self.hint
    }
}

impl From<JsonError> for TurnError {
    fn from(error: JsonError) -> Self {
        Self::new("", error.to_string(), error.hint())
    }
}

pub(super) fn id(value: Option<&Value>, place: &str) -> Result<String, TurnError> {
    let is_one = |id: &&str| {
        !id.is_empty()
            && id.len() <= LONGEST_ID
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    match value.and_then(Value::as_str).filter(is_one) {
        Some(id) => Ok(id.to_owned()),
        None => Err(TurnError::new(
            place,
            "this is no id",
            "send the model's own: up to 256 letters, digits, `_` and `-`",
        )),
    }
}

pub(super) fn name(value: Option<&Value>, place: &str) -> Result<String, TurnError> {
    match value.and_then(Value::as_str) {
        Some(name) if !name.is_empty() => Ok(name.to_owned()),
        _ => Err(TurnError::new(place, "this is no name", "send the model's own")),
    }
}

pub(super) fn join(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") }
}
