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

/// Whether two names are one to some reader: to those who do not tell capitals from small letters (Go's `encoding/json` is
/// the best known), or `userId` from `user_id`.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    // Both ways: U+017F is an `s` to them, and U+212A a `k`.
    let folded = |name: &str| {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect::<String>()
    };
    folded(one) == folded(other)
}

#[cfg(test)]
mod tests {
    use super::is_alike;

    #[test]
    fn a_name_is_alike_however_it_is_spelled() {
        for other in ["user_id", "USER_ID", "User-Id", "userId", "u\u{17f}er_id", "user id", "userid"] {
            assert!(is_alike("user_id", other), "{other}");
        }
        assert!(is_alike("key", "\u{212a}ey"));
        for other in ["user_ids", "user", "id", "xuser_id", "", "user_1d"] {
            assert!(!is_alike("user_id", other), "{other}");
        }
    }
}
