//! Rows as events of the Open Cybersecurity Schema Framework, version 1.9: class API Activity (6003) with the profiles
//! `record_integrity` and `trace`.
//!
//! The row itself is in `raw_data`, and fingerprints are of that text (RFC 8785), not of the event around it: so whoever has
//! the exported events checks the chain of the record, and needs nothing else.

use serde_json::{Map, Value, json};
use store::audit::{Event, Kind, Outcome, Row};

/// API Activity.
const CLASS: u64 = 6003;
/// What cannot be told: a call may do anything, and a server's word on it counts for nothing.
const OTHER: u64 = 99;

/// The event of a row of the record with this name.
pub(super) fn event(id: &str, row: &Row) -> Value {
    let event = &row.event;
    let time = row.at_us() / 1000;
    let (status, status_id) = status(event);
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| {
        all.insert(name.to_owned(), value);
    };
    put("activity_id", json!(OTHER));
    put("activity_name", json!(event.kind.as_str()));
    put("category_uid", json!(6));
    put("class_uid", json!(CLASS));
    put("type_uid", json!(CLASS * 100 + OTHER));
    put("severity_id", json!(severity(event)));
    put("time", json!(time));
    put("status", json!(status));
    put("status_id", json!(status_id));
    put("status_code", json!(event.code));
    put("duration", json!(event.duration_us.map(|us| us / 1000)));
    put("actor", actor(event));
    put("api", api(event));
    // Who is at the other end of a socket is no part of the record.
    put("src_endpoint", json!({ "svc_name": event.face.as_deref().unwrap_or("fumehood") }));
    put("metadata", metadata(id, row));
    put("trace", event.trace.as_ref().map_or(Value::Null, |trace| json!({ "uid": trace })));
    put("raw_data", json!(row.record));
    put("raw_data_size", json!(row.record.len()));
    put("raw_data_hash", fingerprint(&row.hash.hex()));
    put("attestation_list", json!([attestation(id, row)]));
    put("unmapped", unmapped(event));
    all.retain(|_, value| !value.is_null());
    Value::Object(all)
}

fn metadata(id: &str, row: &Row) -> Value {
    let profiles = if row.event.trace.is_some() {
        json!(["record_integrity", "trace"])
    } else {
        json!(["record_integrity"])
    };
    without_null(json!({
        "version": "1.9.0",
        "uid": format!("{id}:{}", row.seq),
        "sequence": row.seq,
        "original_time": row.at(),
        "event_code": row.event.kind.as_str(),
        "log_name": id,
        "correlation_uid": row.event.call,
        "tenant_uid": row.event.principal.as_ref().and_then(|who| who.tenant.clone()),
        "profiles": profiles,
        "product": { "name": "Fumehood", "vendor_name": "Fumehood", "version": env!("CARGO_PKG_VERSION") },
    }))
}

fn actor(event: &Event) -> Value {
    match &event.principal {
        Some(who) => {
            let organisation = who.tenant.as_ref().map(|tenant| json!({ "uid": tenant }));
            let client = who.client.as_ref().map(|client| json!({ "name": client }));
            let user = without_null(json!({ "uid": who.subject, "org": organisation }));
            without_null(json!({ "user": user, "idp": { "uid": who.issuer }, "application": client }))
        }
        // What nobody asked for was done by the service itself.
        None => json!({ "application": { "name": "fumehood" } }),
    }
}

fn api(event: &Event) -> Value {
    let operation = event.verb.as_deref().unwrap_or(event.kind.as_str());
    let operation =
        event.name.as_ref().map_or_else(|| operation.to_owned(), |name| format!("{operation} {name}"));
    without_null(json!({
        "operation": operation,
        "service": event.server.as_ref().map(|server| json!({ "name": server })),
        "request": event.call.as_ref().map(|call| json!({ "uid": call })),
        "response": event.outcome.map(|outcome| without_null(json!({ "message": outcome.as_str(), "error": event.code }))),
    }))
}

fn attestation(id: &str, row: &Row) -> Value {
    let previous = (row.seq > 1).then(|| {
        json!({
            "uid": format!("{id}:{}", row.seq - 1),
            "fingerprint": fingerprint(&row.prev.hex()),
        })
    });
    without_null(json!({
        "uid": format!("{id}:{}", row.seq),
        "chain_uid": id,
        "authority_uid": id,
        "fingerprint": fingerprint(&row.hash.hex()),
        "prev_event": previous,
    }))
}

/// SHA-256 (3) in hexadecimal digits (1) of JCS (2).
fn fingerprint(value: &str) -> Value {
    json!({ "algorithm": "SHA-256", "algorithm_id": 3, "encoding_id": 1, "serialization_id": 2, "value": value })
}

fn unmapped(event: &Event) -> Value {
    without_null(json!({
        "tier": event.tier,
        "rule": event.rule,
        "policy": event.policy,
        "arguments": event.arguments,
        "bound": (!event.bound.is_empty()).then_some(&event.bound),
        "result": event.result,
        "recognised_by": event.principal.as_ref().map(|who| &who.how),
        "actors": event.principal.as_ref().map(|who| &who.actors).filter(|actors| !actors.is_empty()),
        "details": (!event.details.is_empty()).then_some(&event.details),
    }))
}

/// Success, failure, or what is not known.
fn status(event: &Event) -> (&'static str, u64) {
    match (event.kind, event.outcome) {
        (Kind::Denied | Kind::Identity | Kind::Coalesced, _)
        | (_, Some(Outcome::ToolError | Outcome::Failed | Outcome::Cancelled)) => ("Failure", 2),
        (Kind::Egress, None) if event.code.is_some() => ("Failure", 2),
        (_, Some(Outcome::Ok)) => ("Success", 1),
        _ => ("Unknown", 0),
    }
}

/// Low for what was refused, and informational for the rest: what deserves an alarm is not decided here.
fn severity(event: &Event) -> u64 {
    if matches!(event.kind, Kind::Denied | Kind::Identity | Kind::Coalesced) { 2 } else { 1 }
}

fn without_null(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    value
}
