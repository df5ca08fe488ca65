//! Rows, for persons and for programs.

use std::fmt::Write;

use model::visible::{excerpt, visible};
use store::audit::{Event, Kind, Row};

/// The row as it is hashed, with its hash, as one line of JSON.
pub(super) fn json(row: &Row) -> String {
    format!("{{\"hash\":\"{}\",\"record\":{}}}\n", row.hash, row.record)
}

/// A line for a person.
pub(super) fn text(row: &Row) -> String {
    let event = &row.event;
    let mut line = format!("{:>6}  {}  {:<9}", row.seq, row.at(), event.kind.as_str());
    for part in [object(event), who(event), said(event)].into_iter().filter(|part| !part.is_empty()) {
        line += "  ";
        line += &part;
    }
    if let Some(call) = &event.call {
        line += "  ";
        line += call.as_str();
    }
    line + "\n"
}

/// Everything of one call: each row with how long after the first it came.
pub(super) fn whole_call(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = String::new();
    let head = first.event.call.as_ref().map(ToString::to_string).unwrap_or_default();
    // Writing to a text does not fail.
    writeln!(text, "call {head}").ok();
    for row in rows {
        let event = &row.event;
        let after = row.at_us().saturating_sub(first.at_us());
        let when =
            if row.seq == first.seq { row.at() } else { format!("+{}.{:03} ms", after / 1000, after % 1000) };
        writeln!(text, "\n{} (row {}), {when}", title(event.kind), row.seq).ok();
        for (name, value) in facts(event) {
            writeln!(text, "  {name:<10} {value}").ok();
        }
    }
    text
}

/// What was kept with a row.
pub(super) fn body(row: &Row, body: &str, json: bool) -> String {
    if json {
        return format!("{{\"seq\":{},\"body\":{body}}}\n", row.seq);
    }
    format!("\nbody of row {}\n  {}\n", row.seq, visible(body))
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Denied => "refused",
        Kind::Intent => "permitted and recorded",
        Kind::Outcome => "outcome",
        Kind::Call => "permitted and performed",
        Kind::Egress => "request",
        Kind::KeyUse => "key used",
        Kind::Identity => "not recognised",
        Kind::Service => "service",
        Kind::Coalesced => "repeats",
    }
}

fn facts(event: &Event) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    add("what", Some(object(event)).filter(|text| !text.is_empty()));
    add("who", Some(who(event)).filter(|text| !text.is_empty()));
    add(
        "acting",
        event
            .principal
            .as_ref()
            .filter(|who| !who.actors.is_empty())
            .map(|who| visible(&who.actors.join(" for "))),
    );
    add("by", event.face.as_deref().map(visible));
    add(
        "client",
        event
            .principal
            .as_ref()
            .and_then(|who| who.client.as_deref())
            .map(|client| format!("{} (by its own word)", excerpt(client, 100))),
    );
    add("tier", event.tier.map(|tier| tier.to_string()));
    add("arguments", event.arguments.map(|digest| digest.to_string()));
    add("bound", Some(event.bound.join(", ")).filter(|text| !text.is_empty()).map(|text| visible(&text)));
    add("rule", event.rule.as_deref().map(visible));
    add("policy", event.policy.map(|digest| digest.to_string()));
    add("code", event.code.as_deref().map(visible));
    add("outcome", event.outcome.map(|outcome| outcome.as_str().to_owned()));
    add("result", event.result.map(|digest| digest.to_string()));
    add("took", event.duration_us.map(|us| format!("{}.{:03} ms", us / 1000, us % 1000)));
    add("trace", event.trace.as_deref().map(visible));
    for (name, value) in &event.details {
        facts.push(("detail", format!("{} = {}", excerpt(name, 60), excerpt(&value.to_string(), 300))));
    }
    facts
}

fn object(event: &Event) -> String {
    let name = event.name.as_deref().map(|name| excerpt(name, 80));
    match (&event.server, name) {
        (Some(server), Some(name)) => format!("{}/{name}", visible(server)),
        (Some(server), None) => visible(server),
        (None, name) => name.unwrap_or_default(),
    }
}

fn who(event: &Event) -> String {
    event.principal.as_ref().map_or_else(String::new, |who| {
        let tenant =
            who.tenant.as_deref().map(|tenant| format!(" of {}", excerpt(tenant, 60))).unwrap_or_default();
        format!("{}{tenant} ({})", excerpt(&who.subject, 60), excerpt(&who.how, 60))
    })
}

/// What the line says of the end.
fn said(event: &Event) -> String {
    let count = event
        .details
        .get("count")
        .filter(|_| event.kind == Kind::Coalesced)
        .map(|count| format!("{count} times"));
    let what = event.details.get("what").and_then(serde_json::Value::as_str).map(|what| excerpt(what, 40));
    let parts = [
        event.code.as_deref().map(|code| excerpt(code, 40)),
        event.outcome.map(|outcome| outcome.as_str().to_owned()),
        count,
        what,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
