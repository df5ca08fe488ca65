//! Sentences with "any" in them: every change of any value is noticed, and no spelling is a change.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Number};

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn any_change_of_a_value_a_key_or_an_order_changes_the_fingerprint(
        value in any_json(),
        spot in 0..PLACES,
        node in any::<Index>(),
        change in (any::<u8>(), any::<Index>(), any::<Index>()),
    ) {
        let mut changed = value.clone();
        let mut before = node.index(count(&value));
        change_at(&mut changed, &mut before, change);
        prop_assume!(!same(&value, &changed));
        let (before, after) = (at(spot, value), at(spot, changed));
        prop_assert_ne!(before.fingerprint(), after.fingerprint());
        prop_assert_ne!(before.to_text(), after.to_text());
    }

    #[test]
    fn no_order_of_keys_or_tools_and_no_spelling_changes_it(
        values in proptest::collection::vec(any_json(), 1..5),
        choices in proptest::collection::vec(any::<u8>(), 1..64),
    ) {
        let tools: Vec<Value> = values.into_iter().enumerate().map(|(number, value)| holding(number, value)).collect();
        let mut speller = Speller { choices: choices.iter().copied().cycle() };
        let mut spelled: Vec<Value> = Vec::new();
        for tool in &tools {
            let text = speller.spell(tool);
            spelled.insert(speller.choose(spelled.len() + 1), crate::json::parse(text.as_bytes()).unwrap());
        }
        let given = Surface::from_parts(with_tools(tools)).unwrap();
        let spelled = Surface::from_parts(with_tools(spelled)).unwrap();
        prop_assert_eq!(given.quarantined(), &[]);
        prop_assert_eq!(given.fingerprint(), spelled.fingerprint());
        prop_assert_eq!(given.to_text(), spelled.to_text());
        prop_assert_eq!(given.short(), spelled.short());
    }

    #[test]
    fn what_is_stored_is_what_was_read(values in proptest::collection::vec(any_json(), 0..4)) {
        let tools = values.into_iter().enumerate().map(|(number, value)| holding(number, value)).collect();
        let surface = Surface::from_parts(with_tools(tools)).unwrap();
        prop_assert_eq!(Surface::from_text(surface.to_text().as_bytes()).unwrap(), surface);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i32>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", Number::from_f64),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        ".{0,8}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let key = prop_oneof!["[a-c]", ".{0,4}"];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            proptest::collection::btree_map(key, inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// In how many places [`at`] puts a value.
const PLACES: usize = 9;

/// A surface that has the value in one of the places where anything may stand.
fn at(spot: usize, value: Value) -> Surface {
    let mut parts = parts();
    match spot {
        0 => parts.tools[0]["_meta"] = value,
        1 => parts.tools[0]["annotations"] = value,
        2 => parts.tools[0]["inputSchema"]["default"] = value,
        3 => {
            parts.tools[1]["inputSchema"]["$defs"] =
                json!({ "a": { "properties": { "b": { "enum": [value] } } } });
        }
        4 => parts.prompts[0]["arguments"] = value,
        5 => parts.resources[0]["annotations"] = value,
        6 => parts.resource_templates[0]["title"] = value,
        7 => parts.server_info["title"] = value,
        _ => parts.capabilities["experimental"] = value,
    }
    let surface = Surface::from_parts(parts).unwrap();
    assert_eq!(surface.quarantined(), []);
    surface
}

#[expect(clippy::needless_pass_by_value, reason = "so that the value can be written where it is handed over")]
fn holding(number: usize, value: Value) -> Value {
    json!({ "name": format!("tool{number}"), "_meta": value, "inputSchema": { "type": "object", "default": [number, 0.5] } })
}

/// Values in a value, itself among them.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the value that so many others stand before.
fn change_at(value: &mut Value, before: &mut usize, how: (u8, Index, Index)) -> bool {
    if *before == 0 {
        change(value, how);
        return true;
    }
    *before -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| change_at(item, before, how)),
        Value::Object(members) => members.values_mut().any(|member| change_at(member, before, how)),
        _ => false,
    }
}

fn change(value: &mut Value, (how, one, other): (u8, Index, Index)) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let (one, other) = (one.index(items.len()), other.index(items.len()));
            match how % 4 {
                0 => items.swap(one, other),
                1 => drop(items.remove(one)),
                2 => items.insert(one, Value::Null),
                _ => items[one] = json!({}),
            }
        }
        Value::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(one.index(members.len())).unwrap().clone();
            match how % 4 {
                0 => drop(members.remove(&key)),
                1 => drop(members.insert(key + "a", Value::Null)),
                2 => {
                    let value = members.remove(&key).unwrap();
                    members.insert(key + "a", value);
                }
                _ => {
                    let (key_b, a) = (
                        members.keys().nth(other.index(members.len())).unwrap().clone(),
                        members[&key].clone(),
                    );
                    let b = members.insert(key_b, a).unwrap();
                    members.insert(key, b);
                }
            }
        }
        Value::Number(number) => *value = json!(number.as_f64().unwrap() / 2.0 + 1.0),
        Value::Bool(whether) => *whether = !*whether,
        Value::String(text) if how % 2 == 0 => *value = json!(format!(" {text}")),
        Value::String(text) => text.push('\u{200b}'),
        Value::Null => *value = json!(0),
        empty => *empty = Value::Null,
    }
}

/// Spells JSON in one of its many ways.
struct Speller<C> {
    choices: C,
}

impl<C: Iterator<Item = u8>> Speller<C> {
    fn choose(&mut self, ways: usize) -> usize {
        usize::from(self.choices.next().unwrap()) % ways
    }

    fn space(&mut self) -> &'static str {
        ["", " ", "\n\t", "\r\n"][self.choose(4)]
    }

    fn spell(&mut self, value: &Value) -> String {
        let (before, after) = (self.space(), self.space());
        let text = match value {
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.spell(item)).collect();
                format!("[{}{}]", self.space(), items.join(","))
            }
            Value::Object(members) => self.members(members),
            Value::String(text) => self.text(text),
            Value::Number(number) => self.number(number),
            other => other.to_string(),
        };
        format!("{before}{text}{after}")
    }

    fn members(&mut self, members: &Map<String, Value>) -> String {
        let mut spelled = Vec::new();
        for (key, value) in members {
            let member = format!("{}{}:{}", self.text(key), self.space(), self.spell(value));
            spelled.insert(self.choose(spelled.len() + 1), member);
        }
        format!("{{{}}}", spelled.join(&format!("{},", self.space())))
    }

    fn text(&mut self, text: &str) -> String {
        let mut spelled = String::from("\"");
        for c in text.chars() {
            if self.choose(3) == 0 {
                let mut units = [0; 2];
                spelled.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04X}")));
            } else {
                let quoted = json!(c.to_string()).to_string();
                spelled.push_str(quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap());
            }
        }
        spelled + "\""
    }

    fn number(&mut self, number: &Number) -> String {
        let double = number.as_f64().unwrap();
        let scientific = format!("{double:E}");
        let (digits, exponent) = scientific.split_once('E').unwrap();
        match self.choose(4) {
            0 => number.to_string(),
            1 => format!("{double:e}"),
            2 => format!("{digits}E{exponent}"),
            _ if digits.contains('.') => format!("{digits}00e{exponent}"),
            _ => format!("{digits}.0e{exponent}"),
        }
    }
}

/// Equal as RFC 8785 has it: numbers are doubles, objects have no order.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
