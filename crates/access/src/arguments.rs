//! What a caller gives, as long as nobody has looked at what it means: its shape and its size.

use serde_json::{Map, Value};

use crate::guard;
use crate::refusal::{Code, Refusal};

/// Bytes of arguments, written as RFC 8785 has it, where a tool's rule says nothing.
pub const MAX_BYTES: u64 = 256 << 10;
/// Levels of arrays and objects in one another; the arguments themselves are the first.
pub const MAX_DEPTH: usize = 64;
/// Values of all kinds, the arguments themselves among them.
pub const MAX_VALUES: usize = 10_000;

/// Arguments within their bounds.
#[derive(Debug)]
pub(crate) struct Bounded {
    pub(crate) members: Map<String, Value>,
    pub(crate) size: Size,
}

/// How large they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Values of all kinds.
    pub(crate) values: usize,
    /// Levels of arrays and objects.
    pub(crate) depth: usize,
    /// Bytes, as RFC 8785 has them.
    pub(crate) bytes: usize,
}

/// Checks shape and size. `null`, which is what absent arguments are read as, is an object without members.
pub(crate) fn bounded(arguments: Value, max_bytes: u64) -> Result<Bounded, Refusal> {
    let mut members = match arguments {
        Value::Object(members) => members,
        Value::Null => Map::new(),
        _ => {
            return Err(Refusal::new(Code::ARGUMENTS_MALFORMED, "the arguments have to be a JSON object")
                .remedy("give an object with one member for each parameter"));
        }
    };
    let too_large = |what: String, remedy: &str| {
        Err(Refusal::new(Code::ARGUMENTS_SIZE, what).rule("arguments").remedy(remedy))
    };
    if guard::off("bounds") {
        return Ok(Bounded { members, size: Size { values: 1, depth: 1, bytes: 0 } });
    }
    let mut count = Count { values: 1, depth: 1 };
    members.values().for_each(|value| count.add(value, 1));
    if count.depth > MAX_DEPTH {
        return too_large(
            format!("the arguments have more than {MAX_DEPTH} levels"),
            "give flatter arguments",
        );
    }
    if count.values > MAX_VALUES {
        return too_large(
            format!("the arguments have more than {MAX_VALUES} values"),
            "do it in several calls",
        );
    }
    let whole = Value::Object(std::mem::take(&mut members));
    let bytes = model::json::canonical(&whole)
        .map_err(|error| Refusal::new(Code::ARGUMENTS_MALFORMED, error.to_string()).remedy(error.hint()))?
        .len();
    if u64::try_from(bytes).unwrap_or(u64::MAX) > max_bytes {
        return too_large(
            format!("the arguments have {bytes} bytes, and this tool takes {max_bytes}"),
            "give less at once",
        );
    }
    if let Value::Object(whole) = whole {
        members = whole;
    }
    Ok(Bounded { members, size: Size { values: count.values, depth: count.depth, bytes } })
}

struct Count {
    values: usize,
    depth: usize,
}

impl Count {
    /// Goes no deeper and no further than what is refused anyway.
    fn add(&mut self, value: &Value, depth: usize) {
        self.values += 1;
        if self.values > MAX_VALUES || self.depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Array(items) => {
                self.depth = self.depth.max(depth + 1);
                for item in items {
                    self.add(item, depth + 1);
                }
            }
            Value::Object(members) => {
                self.depth = self.depth.max(depth + 1);
                for member in members.values() {
                    self.add(member, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
