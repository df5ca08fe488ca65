//! Whose a parameter is: its value from whoever is acting.

use std::collections::BTreeSet;

use model::config::BindSource;
use serde_json::Value;

use super::schema;
use crate::principal::Principal;

/// What the caller's identity has for a parameter; nothing where it has not.
pub(super) fn value(source: &BindSource, who: &Principal) -> Option<Value> {
    match source {
        BindSource::Subject => Some(who.subject().into()),
        BindSource::Issuer => Some(who.issuer().into()),
        BindSource::Tenant => who.tenant().map(Value::from),
        BindSource::Claim(path) => who.claim(path).filter(|value| !value.is_null()).cloned(),
    }
}

/// The value as the schema of the parameter has it: a whole number for its digits and digits for a whole number, where the
/// schema has the other one only. Nothing else is made of anything else.
pub(super) fn fitted(value: Value, wanted: &BTreeSet<String>) -> Value {
    let wants = |name: &str| wanted.contains(name);
    match &value {
        Value::String(text) if !wants("string") && (wants("integer") || wants("number")) => {
            // One spelling only: `007` and `+7` stay what they are, and are refused.
            text.parse::<i64>().ok().filter(|number| number.to_string() == *text).map_or(value, Value::from)
        }
        Value::Number(number)
            if wants("string") && !wants("integer") && !wants("number") && !number.is_f64() =>
        {
            Value::from(number.to_string())
        }
        _ => value,
    }
}

/// The types that the schema of a parameter has; none where it does not say.
pub(super) fn wanted(root: &Value, parameter: &str) -> BTreeSet<String> {
    let mut at = root.get("properties").and_then(|properties| properties.get(parameter));
    // As many steps as a schema may have in a row.
    for _ in 0..schema::MAX_CHAIN {
        let Some(Value::Object(schema)) = at else { break };
        match schema.get("type") {
            Some(Value::String(one)) => return BTreeSet::from([one.clone()]),
            Some(Value::Array(some)) => {
                return some.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect();
            }
            _ => {}
        }
        at = schema.get("$ref").and_then(Value::as_str).and_then(|text| schema::local(root, text));
    }
    BTreeSet::new()
}
