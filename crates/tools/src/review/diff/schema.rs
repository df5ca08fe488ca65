//! What a change in a JSON Schema does to what is allowed.

use serde_json::Value;

use super::raw::Raw;
use crate::review::place::{Place, Step};

/// What stands at the end of a way into a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A property, an argument or the schema under such a name.
    Parameter,
    /// Text about one.
    Words,
    /// A keyword.
    Keyword,
}

/// Keywords whose members are names and not keywords.
const NAMING: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// What a place within a schema is.
pub(super) fn end(place: &Place) -> End {
    let mut is_name = false;
    let mut end = End::Keyword;
    for step in place.steps.iter().skip(1) {
        let Step::Key(key) = step else { continue };
        (is_name, end) = if is_name {
            (false, End::Parameter)
        } else if NAMING.contains(&key.as_str()) {
            (true, End::Keyword)
        } else if ["description", "title", "$comment"].contains(&key.as_str()) {
            (false, End::Words)
        } else {
            (false, End::Keyword)
        };
    }
    // An argument of a prompt has no name on its way.
    match (end, place.steps.first(), place.steps.len()) {
        (End::Keyword, Some(Step::Key(first)), 2) if first == "arguments" => End::Parameter,
        _ => end,
    }
}

/// Whether the order of an array's elements means nothing.
pub(super) fn is_set(place: &Place, items: &[Value]) -> bool {
    let keyword = place.key().is_some_and(|key| ["enum", "required", "type", "audience"].contains(&key));
    keyword && items.iter().all(|item| !item.is_object() && !item.is_array())
}

/// Whether a change in a schema surely allows less than before. Only on the straight way through properties and items:
/// elsewhere (`not`, `if`, `oneOf`, definitions) less can be more.
pub(super) fn is_narrower(raw: &Raw) -> bool {
    let mut is_name = false;
    for step in raw.place.steps.iter().skip(1).take(raw.place.steps.len().saturating_sub(2)) {
        let Step::Key(key) = step else { return false };
        match key.as_str() {
            _ if is_name => is_name = false,
            "properties" => is_name = true,
            "items" => {}
            _ => return false,
        }
    }
    if end(&raw.place) == End::Parameter {
        return raw.after.is_none();
    }
    let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
    match raw.place.key().unwrap_or_default() {
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            match number(&raw.after) {
                Some(after) => number(&raw.before).map_or(raw.before.is_none(), |before| after <= before),
                None => false,
            }
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            match number(&raw.after) {
                Some(after) => number(&raw.before).map_or(raw.before.is_none(), |before| after >= before),
                None => false,
            }
        }
        "additionalProperties" => raw.after == Some(Value::Bool(false)),
        "uniqueItems" => raw.after == Some(Value::Bool(true)),
        "enum" | "type" => is_part(raw.after.as_ref(), raw.before.as_ref()),
        // What need not be given any more can still be left out.
        "required" => raw.after.is_none() || is_part(raw.after.as_ref(), raw.before.as_ref()),
        _ => false,
    }
}

/// Whether a change is one of order alone, among values whose order means nothing.
pub(super) fn is_reordered(raw: &Raw) -> bool {
    let sets =
        raw.before.as_ref().and_then(Value::as_array).zip(raw.after.as_ref().and_then(Value::as_array));
    sets.is_some_and(|(old, new)| {
        old.len() == new.len() && is_set(&raw.place, old) && old.iter().all(|item| new.contains(item))
    })
}

/// Whether one set of values, or one value, is within another. With nothing before, anything was allowed.
fn is_part(part: Option<&Value>, whole: Option<&Value>) -> bool {
    let Some(part) = part else { return false };
    let Some(whole) = whole else { return true };
    let whole = as_set(whole);
    as_set(part).iter().all(|item| whole.contains(item))
}

fn as_set(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |items| items.iter().collect())
}
