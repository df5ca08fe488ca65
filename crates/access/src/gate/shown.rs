//! A tool as its callers see it: bound parameters are not there.

use std::collections::BTreeMap;

use model::visible::excerpt;
use serde_json::{Map, Value};

use super::error::GateError;
use super::schema;

/// The tool without what is bound, with defaults said, and without icons unless it passes through.
pub(super) fn tool(
    tool: &Value,
    input: &Value,
    bound: &[&str],
    defaults: &BTreeMap<String, Value>,
    pass_through: bool,
) -> Result<Value, GateError> {
    let properties = input.get("properties").and_then(Value::as_object);
    let has = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
    for name in bound {
        if !has(name) {
            return Err(GateError::NotBindable { name: excerpt(name, 60), known: known(properties) });
        }
        entangled(name, input)?;
    }
    if let Some(name) = defaults.keys().find(|name| !has(name)) {
        return Err(GateError::NoParameter { name: excerpt(name, 60), known: known(properties) });
    }
    let mut shown = tool.clone();
    if let Some(tool) = shown.as_object_mut() {
        if !pass_through {
            tool.remove("icons");
        }
        if let Some(Value::Object(input)) = tool.get_mut("inputSchema") {
            for name in bound {
                take(name, input);
            }
            for (name, value) in defaults {
                offer(name, value, input);
            }
        }
    }
    Ok(shown)
}

/// Refuses a parameter that the schema speaks of in more places than the root, where leaving it out could say something else.
fn entangled(name: &str, input: &Value) -> Result<(), GateError> {
    let places = schema::places(input, usize::MAX)?;
    let same = schema::applied_to_root(&places);
    let fault =
        |place: String| Err(GateError::Entangled { name: excerpt(name, 60), place: excerpt(&place, 120) });
    for place in &places {
        if place.pointer.is_empty() || !same.contains(place.pointer.as_str()) {
            continue;
        }
        for keyword in ["properties", "required", "dependentRequired", "dependentSchemas", "dependencies"] {
            if speaks_of(name, place.schema.get(keyword)) {
                return fault(format!("{}/{keyword}", place.pointer));
            }
        }
        for keyword in ["minProperties", "maxProperties", "propertyNames"] {
            if place.schema.contains_key(keyword) {
                return fault(format!("{}/{keyword}", place.pointer));
            }
        }
    }
    Ok(())
}

fn speaks_of(name: &str, value: Option<&Value>) -> bool {
    match value {
        Some(Value::Array(names)) => names.iter().any(|one| one.as_str() == Some(name)),
        Some(Value::Object(members)) => {
            members.contains_key(name)
                || members.values().any(|value| value.is_array() && speaks_of(name, Some(value)))
        }
        _ => false,
    }
}

/// Takes a parameter out of the root.
fn take(name: &str, input: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties.remove(name);
    }
    without(name, input, "required");
    // What follows from a parameter that is always there holds always.
    let mut always = Vec::new();
    for keyword in ["dependentRequired", "dependencies"] {
        let Some(Value::Object(dependent)) = input.get_mut(keyword) else { continue };
        if let Some(Value::Array(names)) = dependent.get(name) {
            always.extend(names.iter().filter_map(|one| one.as_str().map(str::to_owned)));
            dependent.remove(name);
        }
        for names in dependent.values_mut() {
            if let Value::Array(names) = names {
                names.retain(|one| one.as_str() != Some(name));
            }
        }
        if dependent.is_empty() {
            input.remove(keyword);
        }
    }
    let mut schemas = Vec::new();
    for keyword in ["dependentSchemas", "dependencies"] {
        let Some(Value::Object(dependent)) = input.get_mut(keyword) else { continue };
        schemas.extend(dependent.remove(name));
        if dependent.is_empty() {
            input.remove(keyword);
        }
    }
    if !always.is_empty()
        && let Value::Array(required) = input.entry("required").or_insert_with(|| Value::Array(Vec::new()))
    {
        for one in always {
            if one != name && !required.iter().any(|known| known.as_str() == Some(&one)) {
                required.push(one.into());
            }
        }
    }
    if !schemas.is_empty()
        && let Value::Array(all) = input.entry("allOf").or_insert_with(|| Value::Array(Vec::new()))
    {
        all.append(&mut schemas);
    }
    for keyword in ["minProperties", "maxProperties"] {
        if let Some(least) = input.get(keyword).and_then(Value::as_u64) {
            input.insert(keyword.to_owned(), least.saturating_sub(1).into());
        }
    }
}

/// Says the operator's value, and that it need not be given.
fn offer(name: &str, value: &Value, input: &mut Map<String, Value>) {
    if let Some(Value::Object(parameter)) = input.get_mut("properties").and_then(|all| all.get_mut(name)) {
        parameter.insert("default".to_owned(), value.clone());
    }
    without(name, input, "required");
}

fn without(name: &str, input: &mut Map<String, Value>, keyword: &str) {
    let Some(Value::Array(names)) = input.get_mut(keyword) else { return };
    names.retain(|one| one.as_str() != Some(name));
    if names.is_empty() {
        input.remove(keyword);
    }
}

fn known(properties: Option<&Map<String, Value>>) -> String {
    let names: Vec<_> = properties
        .into_iter()
        .flatten()
        .take(12)
        .map(|(name, _)| format!("`{}`", excerpt(name, 60)))
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
