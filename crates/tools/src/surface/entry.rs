//! One entry of a list: its name, its bounds, and whether it can be offered.

use serde_json::Value;

use super::schema::{self, Fault};
use super::{Kind, MAX_DEPTH, MAX_ENTRY, MAX_NAME, MAX_TEXT, MAX_URI, Reason};

/// Why an entry cannot be offered, if so. `size` is that of its canonical form in bytes.
pub(super) fn objection(kind: Kind, entry: &Value, size: usize) -> Option<Reason> {
    if !entry.get(kind.key()).and_then(Value::as_str).is_some_and(|name| is_usable(kind, name)) {
        return Some(Reason::Name);
    }
    if !texts_within(entry, MAX_TEXT) {
        return Some(Reason::Text);
    }
    if size > MAX_ENTRY {
        return Some(Reason::Size);
    }
    // A schema's depth is counted from its root, one level below the entry's.
    if !depth_within(entry, MAX_DEPTH + 1) {
        return Some(Reason::Depth);
    }
    if kind == Kind::Tool { schemas(entry) } else { None }
}

fn schemas(tool: &Value) -> Option<Reason> {
    let of = |fault, invalid| match fault {
        Fault::Invalid => invalid,
        Fault::Remote => Reason::RemoteReference,
    };
    let input = tool.get("inputSchema").ok_or(Fault::Invalid).and_then(schema::check);
    if let Err(fault) = input {
        return Some(of(fault, Reason::InputSchema));
    }
    let output = tool.get("outputSchema").map_or(Ok(()), schema::check);
    output.err().map(|fault| of(fault, Reason::OutputSchema))
}

fn is_usable(kind: Kind, name: &str) -> bool {
    let most = match kind {
        Kind::Tool | Kind::Prompt => MAX_NAME,
        Kind::Resource | Kind::ResourceTemplate => MAX_URI,
    };
    !name.is_empty() && name.chars().nth(most).is_none() && !name.chars().any(char::is_control)
}

/// Whether no text in a value, keys among them, is longer than so many bytes.
pub(super) fn texts_within(value: &Value, most: usize) -> bool {
    match value {
        Value::String(text) => text.len() <= most,
        Value::Array(items) => items.iter().all(|item| texts_within(item, most)),
        Value::Object(members) => {
            members.iter().all(|(key, value)| key.len() <= most && texts_within(value, most))
        }
        _ => true,
    }
}

/// Whether arrays and objects are nested within one another at most so deep.
pub(super) fn depth_within(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most > 0 && items.iter().all(|item| depth_within(item, most - 1)),
        Value::Object(members) => most > 0 && members.values().all(|value| depth_within(value, most - 1)),
        _ => true,
    }
}
