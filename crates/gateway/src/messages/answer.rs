//! What came of a use, as the model reads it.

use access::refusal::Refusal;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use model::visible::excerpt;
use serde_json::{Map, Value, json};

use crate::call::End;

/// Largest picture or document that is passed on, in bytes of base64: the bound of the Messages API for one picture.
const LARGEST_BINARY: usize = 5 << 20;

/// Longest text of a server's own error, in characters.
const LONGEST_ERROR: usize = 4_000;

/// The content of one result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    blocks: Vec<Value>,
    is_error: bool,
}

impl Answer {
    /// Of what the road concluded about a use of the tool `name`.
    pub(super) fn of(end: End, name: &str) -> Self {
        match end {
            End::Done(result) => Self::done(&result),
            End::Refused(refusal) => Self::refused(&refusal, name),
            End::Failed(error) => {
                let message = error.get("message").and_then(Value::as_str).unwrap_or("it says nothing of it");
                Self::error(&format!("The server failed: {}", excerpt(message, LONGEST_ERROR)))
            }
        }
    }

    /// The answer to a name that was not offered: the same whether there is such a tool or not.
    pub(super) fn unknown(name: &str) -> Self {
        let name = excerpt(name, 128);
        Self::error(&format!("Unknown tool: `{name}`. Only the tools that were offered can be used."))
    }

    fn refused(refusal: &Refusal, name: &str) -> Self {
        if refusal.hidden {
            return Self::unknown(name);
        }
        let remedy = refusal.remedy.as_deref().map(|remedy| format!("\n{remedy}")).unwrap_or_default();
        Self::error(&format!("Not done ({}): {}{remedy}", refusal.code, refusal.reason))
    }

    fn error(text: &str) -> Self {
        Self { blocks: vec![json!({"type": "text", "text": text})], is_error: true }
    }

    fn done(result: &Value) -> Self {
        if result.get("resultType").is_some_and(|kind| kind != "complete") {
            return Self::error("Not done: the tool asks for something that only a person can give it.");
        }
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        let content = result.get("content").and_then(Value::as_array).into_iter().flatten();
        let mut blocks: Vec<Value> = content.filter_map(block).collect();
        if blocks.is_empty()
            && let Some(structured) = result.get("structuredContent")
        {
            blocks.extend(text(&structured.to_string()));
        }
        if blocks.is_empty() && is_error {
            return Self::error("The tool failed and says nothing of why.");
        }
        Self { blocks, is_error }
    }

    /// Whether it is an error.
    pub(super) fn is_error(&self) -> bool {
        self.is_error
    }

    /// The block that answers the use `id`. It has no content where the tool had none: the API takes no empty text.
    pub(super) fn block(self, id: &str) -> Value {
        let mut block = Map::from_iter([
            ("type".to_owned(), json!("tool_result")),
            ("tool_use_id".to_owned(), json!(id)),
        ]);
        if !self.blocks.is_empty() {
            block.insert("content".to_owned(), self.blocks.into());
        }
        if self.is_error {
            block.insert("is_error".to_owned(), Value::Bool(true));
        }
        Value::Object(block)
    }

    /// All of it as one text, for whoever takes nothing else.
    pub(super) fn text(&self) -> String {
        let texts = self.blocks.iter().map(|block| {
            if let Some(text) = block.get("text").and_then(Value::as_str) {
                return text.to_owned();
            }
            let member = |name: &str| block.get("source")?.get(name)?.as_str();
            left_out(member("media_type").unwrap_or("unknown"), member("data").map_or(0, str::len))
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

/// The one message that answers every use of a turn, in its order.
pub(super) fn message(answers: Vec<(String, Answer)>) -> Value {
    let blocks = answers.into_iter().map(|(id, answer)| answer.block(&id));
    json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
}

/// A block of MCP as one of the Messages API, or none for an empty text.
fn block(block: &Value) -> Option<Value> {
    let member = |key: &str| block.get(key).and_then(Value::as_str);
    match member("type") {
        Some("text") => text(member("text").unwrap_or_default()),
        Some("image" | "audio") => binary(member("data").unwrap_or_default(), member("mimeType")),
        Some("resource") => {
            let resource = block.get("resource")?;
            let member = |key: &str| resource.get(key).and_then(Value::as_str);
            match (member("text"), member("blob")) {
                (Some(content), _) => text(&format!("{}\n{content}", member("uri").unwrap_or_default())),
                (None, Some(blob)) => binary(blob, member("mimeType")),
                (None, None) => text(&block.to_string()),
            }
        }
        _ => text(&block.to_string()),
    }
}

/// A text, which the API takes only where something stands in it.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Binary content, where the API takes it. Its type is what its first bytes say: a wrong one makes the whole request fail.
fn binary(data: &str, named: Option<&str>) -> Option<Value> {
    let bytes = if data.len() <= LARGEST_BINARY { STANDARD.decode(data).ok() } else { None };
    let is_of = |beginning: &[u8]| bytes.as_ref().is_some_and(|bytes| bytes.starts_with(beginning));
    let (kind, media_type) = if is_of(b"\x89PNG\r\n\x1a\n") {
        ("image", "image/png")
    } else if is_of(b"\xff\xd8\xff") {
        ("image", "image/jpeg")
    } else if is_of(b"GIF87a") || is_of(b"GIF89a") {
        ("image", "image/gif")
    } else if is_of(b"RIFF") && bytes.as_ref().and_then(|bytes| bytes.get(8..12)) == Some(b"WEBP") {
        ("image", "image/webp")
    } else if is_of(b"%PDF-") {
        ("document", "application/pdf")
    } else {
        return text(&left_out(named.unwrap_or("unknown"), data.len()));
    };
    Some(json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}))
}

fn left_out(kind: &str, length: usize) -> String {
    format!(
        "[{length} bytes of base64 of the type {} are left out: they cannot be shown here]",
        excerpt(kind, 80)
    )
}

#[cfg(test)]
mod tests;
