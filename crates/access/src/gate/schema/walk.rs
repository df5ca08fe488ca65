//! Every schema within a schema, and which of them apply to the same value.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::gate::error::GateError;

/// To what a keyword's schemas apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keyword {
    /// To the value itself: `allOf`, `not`, …
    InPlace,
    /// To what is behind its own name or number: `properties`, `prefixItems`.
    Behind,
    /// To any member, or its name.
    Members,
    /// To any item.
    Items,
    /// To nothing, unless they are referred to: `$defs`.
    Definitions,
}

/// Keywords whose value is a schema, several in an array, or several in an object. A keyword may be more than one of them,
/// depending on the draft.
const KEYWORDS: [(&str, Keyword, Holds); 23] = [
    ("allOf", Keyword::InPlace, Holds::Several),
    ("anyOf", Keyword::InPlace, Holds::Several),
    ("oneOf", Keyword::InPlace, Holds::Several),
    ("not", Keyword::InPlace, Holds::One),
    ("if", Keyword::InPlace, Holds::One),
    ("then", Keyword::InPlace, Holds::One),
    ("else", Keyword::InPlace, Holds::One),
    ("dependentSchemas", Keyword::InPlace, Holds::Named),
    ("dependencies", Keyword::InPlace, Holds::Named),
    ("properties", Keyword::Behind, Holds::Named),
    ("patternProperties", Keyword::Members, Holds::Named),
    ("additionalProperties", Keyword::Members, Holds::One),
    ("unevaluatedProperties", Keyword::Members, Holds::One),
    ("propertyNames", Keyword::Members, Holds::One),
    ("prefixItems", Keyword::Behind, Holds::Several),
    ("items", Keyword::Behind, Holds::Several),
    ("items", Keyword::Items, Holds::One),
    ("additionalItems", Keyword::Items, Holds::One),
    ("unevaluatedItems", Keyword::Items, Holds::One),
    ("contains", Keyword::Items, Holds::One),
    ("contentSchema", Keyword::Definitions, Holds::One),
    ("$defs", Keyword::Definitions, Holds::Named),
    ("definitions", Keyword::Definitions, Holds::Named),
];

/// Keywords that refer to a schema elsewhere. Without schemas that have an id of their own, the dynamic ones mean what
/// `$ref` does.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    One,
    Several,
    Named,
}

/// One step from a value into it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Key(String),
    Index(usize),
    AnyKey,
    AnyIndex,
}

/// One schema within a schema.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// Where it is (RFC 6901).
    pub(crate) pointer: String,
    /// What it says.
    pub(crate) schema: &'a Map<String, Value>,
    /// The pointers of those that apply to the same value.
    pub(super) applied_with: Vec<String>,
    /// The pointers of those that apply to what is in the value.
    pub(super) inside: Vec<(Step, String)>,
}

/// Every schema that is an object, the root first. Whatever is referred to is one, wherever it stands.
pub(crate) fn places(root: &Value, most: usize) -> Result<Vec<Place<'_>>, GateError> {
    let mut places: Vec<Place<'_>> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut left = vec![(String::new(), root)];
    while let Some((pointer, value)) = left.pop() {
        let Value::Object(schema) = value else { continue };
        if !seen.insert(pointer.clone()) {
            continue;
        }
        if places.len() == most {
            return Err(GateError::Unbounded("has too many schemas in it"));
        }
        let is_anchor = |id: &Value| id.as_str().is_none_or(|id| id.starts_with('#'));
        if !pointer.is_empty() && !["$id", "id"].iter().all(|id| schema.get(*id).is_none_or(is_anchor)) {
            return Err(GateError::Unbounded("has a schema with an id of its own in it"));
        }
        let (mut in_place, mut inside) = (Vec::new(), Vec::new());
        for (name, keyword, holds) in KEYWORDS {
            for (step, value) in schema.get(name).map(|value| held(holds, value)).unwrap_or_default() {
                let pointer = match &step {
                    None => format!("{pointer}/{name}"),
                    Some(Step::Index(index)) => format!("{pointer}/{name}/{index}"),
                    Some(Step::Key(key)) => format!("{pointer}/{name}/{}", escaped(key)),
                    Some(Step::AnyKey | Step::AnyIndex) => continue,
                };
                match (keyword, step) {
                    (Keyword::InPlace, _) => in_place.push(pointer.clone()),
                    (Keyword::Behind, Some(step)) => inside.push((step, pointer.clone())),
                    (Keyword::Members, _) => inside.push((Step::AnyKey, pointer.clone())),
                    (Keyword::Items, _) => inside.push((Step::AnyIndex, pointer.clone())),
                    (Keyword::Behind, None) | (Keyword::Definitions, _) => {}
                }
                left.push((pointer, value));
            }
        }
        for name in REFERENCES {
            let Some(Value::String(reference)) = schema.get(name) else { continue };
            let (pointer, target) = resolve(root, reference)
                .ok_or_else(|| GateError::Reference(model::visible::excerpt(reference, 120)))?;
            in_place.push(pointer.clone());
            left.push((pointer, target));
        }
        places.push(Place { pointer, schema, applied_with: in_place, inside });
    }
    Ok(places)
}

/// The schemas that a keyword has, each with its own step.
fn held(holds: Holds, value: &Value) -> Vec<(Option<Step>, &Value)> {
    match (holds, value) {
        (Holds::One, Value::Object(_) | Value::Bool(_)) => vec![(None, value)],
        (Holds::Several, Value::Array(several)) => {
            several.iter().enumerate().map(|(index, one)| (Some(Step::Index(index)), one)).collect()
        }
        (Holds::Named, Value::Object(named)) => {
            named.iter().map(|(key, one)| (Some(Step::Key(key.clone())), one)).collect()
        }
        _ => Vec::new(),
    }
}

/// The pointers of the schemas that apply to what the root applies to, the root's own among them.
pub(crate) fn applied_to_root<'a>(places: &'a [Place<'_>]) -> BTreeSet<&'a str> {
    let by_pointer: BTreeMap<&str, &Place<'_>> =
        places.iter().map(|place| (place.pointer.as_str(), place)).collect();
    let mut same = BTreeSet::new();
    let mut left = vec![""];
    while let Some(pointer) = left.pop() {
        if same.insert(pointer)
            && let Some(place) = by_pointer.get(pointer)
        {
            left.extend(place.applied_with.iter().map(String::as_str));
        }
    }
    same
}

/// The most schemas that apply to one value, each reached from the one before.
pub(crate) fn longest_chain(places: &[Place<'_>], most: usize) -> Result<usize, GateError> {
    let numbers: super::ByPointer<'_> =
        places.iter().enumerate().map(|(number, place)| (place.pointer.as_str(), number)).collect();
    let mut lengths = vec![None; places.len()];
    let mut longest = 1;
    for number in 0..places.len() {
        longest = longest.max(length(number, places, &numbers, &mut lengths, most)?);
    }
    Ok(longest)
}

/// Also ends where schemas refer to one another in a circle: that is longer than anything.
fn length(
    number: usize,
    places: &[Place<'_>],
    numbers: &super::ByPointer<'_>,
    lengths: &mut [Option<usize>],
    left: usize,
) -> Result<usize, GateError> {
    if let Some(Some(known)) = lengths.get(number) {
        return Ok(*known);
    }
    let Some(left) = left.checked_sub(1) else {
        return Err(GateError::Unbounded("has too many schemas for one value, one reached from the other"));
    };
    let mut longest = 0;
    for pointer in places.get(number).map(|place| place.applied_with.as_slice()).unwrap_or_default() {
        // A boolean schema is no place, and applies nothing further.
        if let Some(next) = numbers.get(pointer.as_str()) {
            longest = longest.max(length(*next, places, numbers, lengths, left)?);
        }
    }
    if let Some(known) = lengths.get_mut(number) {
        *known = Some(longest + 1);
    }
    Ok(longest + 1)
}

/// What is referred to within the schema, if it is.
pub(crate) fn local<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    resolve(root, reference).map(|(_, schema)| schema)
}

fn resolve<'a>(root: &'a Value, reference: &str) -> Option<(String, &'a Value)> {
    let own = ["$id", "id"].iter().find_map(|id| root.get(*id)?.as_str());
    let own = own.map(|own| own.trim_end_matches('#')).filter(|own| !own.is_empty());
    let fragment = match reference.strip_prefix('#') {
        Some(fragment) => fragment,
        None => match reference.strip_prefix(own?)? {
            "" => "",
            rest => rest.strip_prefix('#')?,
        },
    };
    let fragment = percent_decode_str(fragment).decode_utf8().ok()?.into_owned();
    if fragment.is_empty() || fragment.starts_with('/') {
        let target = root.pointer(&fragment)?;
        return Some((normal(&fragment), target))
            .filter(|(_, target)| target.is_object() || target.is_boolean());
    }
    anchored(root, &fragment, String::new(), 0)
}

/// The schema with this anchor. Anchors in data (`const`, `examples`) are found as well, which makes a schema of data that nobody
/// asks for.
fn anchored<'a>(value: &'a Value, name: &str, pointer: String, depth: usize) -> Option<(String, &'a Value)> {
    if depth > model::json::MAX_DEPTH {
        return None;
    }
    match value {
        Value::Object(members) => {
            let is_it = |key: &str, prefix: &str| {
                members.get(key).and_then(Value::as_str).and_then(|text| text.strip_prefix(prefix))
                    == Some(name)
            };
            if is_it("$anchor", "") || is_it("$dynamicAnchor", "") || is_it("$id", "#") || is_it("id", "#") {
                return Some((pointer, value));
            }
            members.iter().find_map(|(key, inner)| {
                anchored(inner, name, format!("{pointer}/{}", escaped(key)), depth + 1)
            })
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, inner)| anchored(inner, name, format!("{pointer}/{index}"), depth + 1)),
        _ => None,
    }
}

/// The one spelling of a pointer.
fn normal(pointer: &str) -> String {
    pointer.split('/').skip(1).fold(String::new(), |text, step| {
        format!("{text}/{}", escaped(&step.replace("~1", "/").replace("~0", "~")))
    })
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
