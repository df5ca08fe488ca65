//! What strangers wrote takes no more room in a row than it needs to be recognised.

use model::digest::Digest;
use serde_json::{Map, Value, json};

use super::{Event, Who};

/// The longest text that is kept whole, in bytes.
const LONGEST: usize = 1024;
/// Of a longer one, so many characters.
const BEGINNING: usize = 200;
/// The most `details`, in bytes of their JSON.
const MOST_DETAILS: usize = 16 << 10;
/// The most names of parameters, and the most actors.
const MOST_NAMES: usize = 64;

/// The longest body that is kept, in bytes.
const LONGEST_BODY: usize = 1 << 20;
/// The greatest integer up to which a double holds each.
const EXACT: u64 = 1 << 53;

/// The event as it goes into a row: long texts cut, with the digest of the whole.
pub(super) fn bounded(mut event: Event) -> Event {
    for text in [
        &mut event.face,
        &mut event.server,
        &mut event.verb,
        &mut event.name,
        &mut event.rule,
        &mut event.code,
        &mut event.trace,
    ] {
        text.iter_mut().for_each(cut);
    }
    names(&mut event.bound);
    if let Some(Who { issuer, subject, tenant, actors, how, client }) = &mut event.principal {
        for text in [issuer, subject, how] {
            cut(text);
        }
        for text in [tenant, client] {
            text.iter_mut().for_each(cut);
        }
        names(actors);
    }
    if !event.details.is_empty() {
        let bytes = serde_json::to_vec(&event.details).unwrap_or_default();
        if bytes.len() > MOST_DETAILS {
            let left_out = json!({ "bytes": bytes.len(), "digest": Digest::of(&bytes) });
            event.details = Map::from_iter([("left_out".to_owned(), left_out)]);
        }
    }
    event.duration_us = event.duration_us.map(|duration| duration.min(EXACT));
    // Numbers have one form from here on, however they were made.
    for value in event.details.values_mut() {
        doubles(value);
    }
    event
}

/// The text of a body as it is kept; nothing where it is too long, or has no such text.
pub(super) fn body(body: &Value) -> Option<String> {
    let text = model::json::canonical(body).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.filter(|text| text.len() <= LONGEST_BODY)
}

fn names(list: &mut Vec<String>) {
    if list.len() > MOST_NAMES {
        let more = list.len() - MOST_NAMES;
        list.truncate(MOST_NAMES);
        list.push(format!("… and {more} more"));
    }
    list.iter_mut().for_each(cut);
}

fn cut(text: &mut String) {
    if text.len() > LONGEST {
        let beginning: String = text.chars().take(BEGINNING).collect();
        *text = format!("{beginning}… ({} bytes, {})", text.len(), Digest::of(text.as_bytes()));
    }
}

/// Integers that no double holds become texts, as RFC 7493 wants it: RFC 8785 would round them.
fn doubles(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let beyond = number.as_u64().is_some_and(|n| n > EXACT)
                || number.as_i64().is_some_and(|n| n.unsigned_abs() > EXACT);
            if beyond {
                *value = Value::String(number.to_string());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(doubles),
        Value::Object(members) => members.values_mut().for_each(doubles),
        _ => {}
    }
}
