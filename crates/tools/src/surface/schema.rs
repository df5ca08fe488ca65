//! Which schemas of a tool are taken: an object's, of a known draft, complete in themselves.

use jsonschema::{Draft, PatternOptions};
use serde_json::{Map, Value};

/// Most bytes that one compiled `pattern` may take.
const MAX_PATTERN: usize = 1 << 20;

/// What is wrong with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is none, or not of an object.
    Invalid,
    /// It refers to another document.
    Remote,
}

/// Checks one schema: its root is of `"type": "object"`, it is valid under JSON Schema 2020-12 or the draft that it
/// names, each reference leads to a place within it, and its patterns can be compiled.
pub(super) fn check(schema: &Value) -> Result<(), Fault> {
    let object = schema.as_object().ok_or(Fault::Invalid)?;
    if has_remote(object) {
        return Err(Fault::Remote);
    }
    if object.get("type").is_none_or(|kind| kind != "object") {
        return Err(Fault::Invalid);
    }
    let draft = match object.get("$schema") {
        None => Draft::Draft202012,
        Some(named) => named.as_str().map(Draft::from_schema_uri).and_then(known).ok_or(Fault::Invalid)?,
    };
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(
            PatternOptions::fancy_regex().size_limit(MAX_PATTERN).dfa_size_limit(MAX_PATTERN),
        )
        .should_validate_formats(false);
    options.build(schema).map(|_| ()).map_err(|_| Fault::Invalid)
}

fn known(draft: Draft) -> Option<Draft> {
    use Draft::{Draft4, Draft6, Draft7, Draft201909, Draft202012};
    [Draft4, Draft6, Draft7, Draft201909, Draft202012].contains(&draft).then_some(draft)
}

/// Whether any reference keyword, wherever it stands, leads out of the document. Data that looks like a reference
/// (in `const` or `examples`) counts too: a client may follow it.
fn has_remote(object: &Map<String, Value>) -> bool {
    object.iter().any(|(key, value)| match value {
        Value::String(target) => {
            matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef")
                && !(target.is_empty() || target.starts_with('#'))
        }
        Value::Object(members) => has_remote(members),
        Value::Array(items) => items.iter().any(within_item),
        _ => false,
    })
}

fn within_item(item: &Value) -> bool {
    match item {
        Value::Object(members) => has_remote(members),
        Value::Array(items) => items.iter().any(within_item),
        _ => false,
    }
}
