//! Where two values differ.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{How, raw::Raw, schema};
use crate::review::place::Place;

/// Adds every difference between two values that stand at one place.
pub(super) fn values(place: &Place, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<Raw>) {
    let how = match (before, after) {
        (None, None) => return,
        (None, Some(_)) => How::Added,
        (Some(_), None) => How::Removed,
        (Some(before), Some(after)) => match (before, after) {
            (Value::Object(old), Value::Object(new)) => {
                for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
                    values(&place.member(key), old.get(key), new.get(key), out);
                }
                return;
            }
            (Value::Array(old), Value::Array(new))
                if !schema::is_set(place, old) || !schema::is_set(place, new) =>
            {
                elements(place, old, new, out);
                return;
            }
            _ if is_same(before, after) => return,
            _ => How::Changed,
        },
    };
    out.push(Raw::of(place.clone(), how, before, after, None));
}

/// Elements by their names where all have one, else one by one.
fn elements(place: &Place, old: &[Value], new: &[Value], out: &mut Vec<Raw>) {
    match (by_name(old), by_name(new)) {
        (Some(old), Some(new)) => {
            for (name, (index, value)) in &new {
                let before = old.get(name).map(|(_, value)| *value);
                values(&place.element(*index), before, Some(value), out);
            }
            for (index, value) in
                old.iter().filter(|(name, _)| !new.contains_key(*name)).map(|(_, found)| *found)
            {
                values(&place.element(index), Some(value), None, out);
            }
        }
        _ => {
            for index in 0..old.len().max(new.len()) {
                values(&place.element(index), old.get(index), new.get(index), out);
            }
        }
    }
}

fn by_name(items: &[Value]) -> Option<BTreeMap<&str, (usize, &Value)>> {
    let named =
        items.iter().enumerate().map(|(index, item)| Some((item.get("name")?.as_str()?, (index, item))));
    let named: Option<BTreeMap<&str, (usize, &Value)>> = named.collect();
    named.filter(|named| named.len() == items.len())
}

/// Whether two values are the same to a reader; `1` and `1.0` are.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}
