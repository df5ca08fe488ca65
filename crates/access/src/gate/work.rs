//! Counting how much work a check is, from inside of it: a keyword of our own stands in every schema.
//!
//! A schema of a few lines can be made such that holding a few values against it takes years; the author of a server writes the
//! schema and can have the values written as well.

use std::cell::Cell;

use jsonschema::{Keyword, ValidationError, error::ValidationErrorKind};
use serde_json::{Map, Value};

/// Sorts before every other keyword, so that it is looked at first.
pub(super) const KEYWORD: &str = "\u{0}work";

/// Bytes of a text that are as much work as a schema.
const TEXT: usize = 256;
/// Members of a schema's own lists that are as much work as a schema.
const LIST: usize = 16;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// What one schema costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    own: u64,
}

impl Work {
    /// By the sizes of what it lists: a schema with a thousand patterns is more than one with one.
    pub(super) fn of(schema: &Map<String, Value>) -> Self {
        let listed = schema.values().map(|value| match value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        });
        Self { own: 1 + count(listed.sum::<usize>() / LIST) }
    }

    fn take(self, value: &Value) -> bool {
        let size = match value {
            Value::String(text) => text.len() / TEXT,
            Value::Array(items) => items.len() / LIST,
            Value::Object(members) => members.len() / LIST,
            _ => 0,
        };
        let cost = self.own.saturating_mul(1 + count(size));
        LEFT.with(|left| {
            let rest = left.get().checked_sub(cost);
            left.set(rest.unwrap_or(0));
            rest.is_some()
        })
    }
}

impl<'i> Keyword<'i> for Work {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.take(value) { Ok(()) } else { Err(ValidationError::custom("too much work")) }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        self.take(value)
    }
}

/// Does a check, and tells whether all of it was done. Where it was not, what came out means nothing.
pub(super) fn within<T>(most: u64, check: impl FnOnce() -> T) -> (T, bool) {
    LEFT.with(|left| left.set(most));
    let result = check();
    let all = LEFT.with(|left| left.replace(0)) > 0;
    (result, all)
}

/// Whether a fault is one of the counting itself.
pub(super) fn is_of_work(fault: &ValidationError<'_>) -> bool {
    matches!(fault.kind(), ValidationErrorKind::Custom { keyword, .. } if keyword == KEYWORD)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
