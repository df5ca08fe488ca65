//! What is left out of a result that is too large, and said in its place.

use model::guard;
use serde_json::{Map, Value, json};

use super::Bounds;

/// How much may still be passed on of one result.
pub(super) struct Room {
    bounds: Bounds,
    text: usize,
    binary: usize,
    is_short: bool,
}

impl Room {
    pub(super) fn new(bounds: &Bounds) -> Self {
        Self { bounds: *bounds, text: bounds.text, binary: bounds.binary, is_short: false }
    }

    /// Whether something was left out.
    pub(super) fn is_short(&self) -> bool {
        self.is_short
    }

    /// One block of content, of whatever type.
    pub(super) fn block(&mut self, block: &mut Value) {
        let Value::Object(members) = block else {
            self.whole(block);
            return;
        };
        if !guard::off("result-icons") {
            members.remove("icons");
        }
        match members.get("type").and_then(Value::as_str) {
            Some("text") => self.text_member(members, "text"),
            Some("resource") => match members.get_mut("resource") {
                Some(resource) => self.resource(resource),
                None => self.whole(block),
            },
            _ if members.contains_key("data") => {
                let length = text_of(members, "data").len();
                if !self.takes_binary(length) {
                    *block = json!({"type": "text", "text": self.note("binary content", length, self.bounds.binary)});
                }
            }
            _ => self.whole(block),
        }
    }

    /// The contents of a resource: a text, or binary content in base64.
    pub(super) fn resource(&mut self, resource: &mut Value) {
        let Value::Object(members) = resource else {
            self.whole(resource);
            return;
        };
        if members.contains_key("blob") {
            let length = text_of(members, "blob").len();
            if !self.takes_binary(length) {
                let note = self.note("binary content", length, self.bounds.binary);
                members.remove("blob");
                members.insert("mimeType".to_owned(), json!("text/plain"));
                members.insert("text".to_owned(), json!(note));
            }
        }
        self.text_member(members, "text");
    }

    /// The structured content of a tool's result: whole or not at all, since half of it means something else. Without
    /// it the result is an error, so that no client takes it for one that lacks what its schema promises.
    pub(super) fn structured(&mut self, result: &mut Map<String, Value>) -> bool {
        let length = result.get("structuredContent").map_or(0, length_of);
        if length <= self.bounds.text || guard::off("result-size") {
            return false;
        }
        result.remove("structuredContent");
        result.insert("isError".to_owned(), Value::Bool(true));
        let note = json!({"type": "text", "text": self.note("structured content", length, self.bounds.text)});
        match result.get_mut("content") {
            Some(Value::Array(blocks)) => blocks.push(note),
            _ => {
                result.insert("content".to_owned(), json!([note]));
            }
        }
        true
    }

    /// A text, of which the beginning is passed on as far as there is room.
    fn text_member(&mut self, members: &mut Map<String, Value>, key: &str) {
        let Some(Value::String(text)) = members.get_mut(key) else { return };
        if text.len() <= self.text || guard::off("result-size") {
            self.text = self.text.saturating_sub(text.len());
            return;
        }
        let end = (0..=self.text).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let note = self.note("text", text.len() - end, self.bounds.text);
        let Value::String(text) = members.entry(key).or_insert(Value::Null) else { return };
        text.truncate(end);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&note);
        self.text = 0;
    }

    /// What has no part that could be shortened.
    fn whole(&mut self, block: &mut Value) {
        let length = length_of(block);
        if length <= self.text || guard::off("result-size") {
            self.text = self.text.saturating_sub(length);
        } else {
            *block = json!({"type": "text", "text": self.note("content", length, self.bounds.text)});
        }
    }

    fn takes_binary(&mut self, length: usize) -> bool {
        let fits = length <= self.binary || guard::off("result-size");
        if fits {
            self.binary = self.binary.saturating_sub(length);
        }
        fits
    }

    fn note(&mut self, what: &str, length: usize, most: usize) -> String {
        self.is_short = true;
        format!(
            "[Fumehood left out {length} bytes of {what}: a result may have {most}. Ask for less at a time.]"
        )
    }
}

fn text_of<'a>(members: &'a Map<String, Value>, key: &str) -> &'a str {
    members.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn length_of(value: &Value) -> usize {
    value.to_string().len()
}
