//! An entry of the edge's log, for a person.

use std::time::{Duration, UNIX_EPOCH};

use egress::event::{Entry, Event};
use serde_json::Value;

use crate::terminal;

/// One line, without its end.
pub(super) fn line(name: &str, value: &Value) -> String {
    match serde_json::from_value::<Entry>(value.clone()) {
        Ok(entry) => terminal::harmless(&in_words(name, &entry)).replace('\n', " "),
        // Written by another version.
        Err(_) => terminal::harmless(&format!("{name} {value}")),
    }
}

fn in_words(name: &str, entry: &Entry) -> String {
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(entry.last_ms));
    let times = if entry.count > 1 { format!(" ({} times)", entry.count) } else { String::new() };
    let what = match &entry.event {
        Event::Refused(refusal) => {
            format!("refused {} [{}]{times}; {}", refusal.message, refusal.code, refusal.remedy)
        }
        Event::Opened { host, port, kind, rule, address, .. } => {
            let address = address.as_deref().map(|address| format!(" at {address}")).unwrap_or_default();
            format!("opened `{host}:{port}` ({kind}){address} by `{rule}`{times}")
        }
        Event::Closed { host, port, sent, received, end, .. } => {
            let end = serde_json::to_value(end).ok();
            let end = end.as_ref().and_then(Value::as_str).unwrap_or("ended");
            format!("closed `{host}:{port}` ({end}): {sent} bytes out, {received} in{times}")
        }
        Event::KeyUsed { secret, host, port, method, path, status, sent, received, .. } => {
            let status = status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
            format!(
                "used the key `{secret}`: {method} `{host}:{port}` `{path}` ({status}), {sent} bytes out, {received} in{times}"
            )
        }
        Event::WildcardName { host, rule } => format!("first look-up of `{host}` under `{rule}`{times}"),
        Event::PolicyChanged { added, removed, cut, kept, .. } => {
            let rules = added
                .iter()
                .map(|rule| format!("+{rule}"))
                .chain(removed.iter().map(|rule| format!("-{rule}")));
            format!("changed {}: cut {cut}, {kept} go on", rules.collect::<Vec<_>>().join(" "))
        }
    };
    format!("{time} {name} {what}")
}
