//! What a server answers, made safe to read.
//!
//! Every text of a result is looked at, also in what is not known here; nothing that is not text is changed, so unknown
//! members and types of content arrive as the server wrote them.

mod size;
mod text;

use model::guard;
use serde_json::{Map, Value, json};

use size::Room;
pub use text::visible;

/// The key in a result's `_meta` that says that what is in it comes from a server, and is no word of the operator's.
pub const UNTRUSTED: &str = "dev.fumehood/untrusted";

/// The key in a result's `_meta` that says that something was left out for its size.
pub const SHORTENED: &str = "dev.fumehood/shortened";

/// What `_meta` of ours begins with; a server's own keys of this kind are left out.
const OURS: &str = "dev.fumehood/";

/// How much of a result is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of text, over all of a result, and once more for its structured content.
    pub text: usize,
    /// Most bytes of pictures, sound and other binary content as written in base64, over all of a result.
    pub binary: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { text: 1 << 20, binary: 8 << 20 }
    }
}

/// A result of a tool, prompt, resource or completion as it is passed on: within the bounds, without hidden characters
/// in its texts, without icons, and marked as a stranger's.
pub fn guard(result: Value, bounds: &Bounds) -> Value {
    let Value::Object(mut result) = result else { return result };
    let mut room = Room::new(bounds);
    if let Some(Value::Array(blocks)) = result.get_mut("content") {
        for block in blocks {
            room.block(block);
        }
    }
    if let Some(Value::Array(contents)) = result.get_mut("contents") {
        for resource in contents {
            room.resource(resource);
        }
    }
    if let Some(Value::Array(messages)) = result.get_mut("messages") {
        for content in messages.iter_mut().filter_map(|message| message.get_mut("content")) {
            match content {
                Value::Array(blocks) => blocks.iter_mut().for_each(|block| room.block(block)),
                block => room.block(block),
            }
        }
    }
    let is_shortened = room.structured(&mut result) || room.is_short();
    for (key, value) in &mut result {
        // State of the server's own that comes back to it has to come back as it was.
        if key != "requestState" && key != "nextCursor" {
            show(value);
        }
    }
    mark(&mut result, is_shortened);
    Value::Object(result)
}

/// A server's error, as it is passed on: within the bounds, and without hidden characters in its texts.
pub fn error(mut error: Value, bounds: &Bounds) -> Value {
    let length = error.to_string().len();
    if length > bounds.text
        && !guard::off("result-size")
        && let Value::Object(members) = &mut error
    {
        members.retain(|key, _| key == "code");
        let text = format!("[Fumehood left out an error of {length} bytes: one may have {}.]", bounds.text);
        members.insert("message".to_owned(), text.into());
    }
    show(&mut error);
    error
}

/// The same without hidden characters in any of its texts.
#[must_use]
pub fn shown(mut value: Value) -> Value {
    show(&mut value);
    value
}

fn show(value: &mut Value) {
    if guard::off("result-hidden-characters") {
        return;
    }
    match value {
        Value::String(text) => {
            if let Some(shown) = text::shown(text) {
                *text = shown;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(show),
        Value::Object(members) => {
            if members.keys().any(|key| text::shown(key).is_some()) {
                let old = std::mem::take(members);
                members.extend(old.into_iter().map(|(key, value)| (visible(&key), value)));
            }
            members.values_mut().for_each(show);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mark(result: &mut Map<String, Value>, is_shortened: bool) {
    if guard::off("result-mark") {
        return;
    }
    if !matches!(result.get("_meta"), Some(Value::Object(_))) {
        result.insert("_meta".to_owned(), json!({}));
    }
    if let Some(Value::Object(meta)) = result.get_mut("_meta") {
        meta.retain(|key, _| !key.starts_with(OURS));
        meta.insert(UNTRUSTED.to_owned(), Value::Bool(true));
        if is_shortened {
            meta.insert(SHORTENED.to_owned(), Value::Bool(true));
        }
    }
}

#[cfg(test)]
mod tests;
