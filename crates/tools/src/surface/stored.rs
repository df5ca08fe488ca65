//! The stored form, read back.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::fingerprint::{Fingerprint, is_short};
use crate::json;

use super::build::{Before, build, normal};
use super::{Inner, Kind, MAX_ENTRIES, MAX_STORED, PROJECTION, Parts, Quarantined, Surface, SurfaceError};

/// The value in a file.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, SurfaceError> {
    if bytes.len() > MAX_STORED {
        return Err(stored(&format!("it is over {} MiB", MAX_STORED >> 20)));
    }
    json::parse(bytes).map_err(|error| stored(&error.to_string()))
}

pub(super) fn read(value: Value) -> Result<Surface, SurfaceError> {
    let Value::Object(members) = value else {
        return Err(stored("it is no object"));
    };
    let given = Value::Object(members.clone());
    let mut members = Members(members);
    let projection = members.text("projection")?;
    if projection != PROJECTION {
        return Err(stored(&format!("its projection is not `{PROJECTION}`")));
    }
    let client = members.text("client")?;
    let short = members.text("short")?;
    if !is_short(&short) {
        return Err(stored("`short` is not of 16 hexadecimal digits"));
    }
    let quarantined = members.list("quarantined")?;
    if quarantined.len() > MAX_ENTRIES * Kind::ALL.len() {
        return Err(stored("`quarantined` is too long"));
    }
    let quarantined: Option<Vec<Quarantined>> = quarantined.iter().map(Quarantined::from_value).collect();
    let quarantined = quarantined.ok_or_else(|| stored("`quarantined` has an entry of another shape"))?;
    let parts = Parts {
        profile: client.parse().map_err(|_| stored("`client` is no client profile"))?,
        protocol_version: members.text("protocolVersion")?,
        server_info: members.take("serverInfo")?,
        capabilities: members.take("capabilities")?,
        instructions: if members.0.contains_key("instructions") {
            Some(members.text("instructions")?)
        } else {
            None
        },
        tools: members.list(Kind::Tool.list())?,
        prompts: members.list(Kind::Prompt.list())?,
        resources: members.list(Kind::Resource.list())?,
        resource_templates: members.list(Kind::ResourceTemplate.list())?,
    };
    // With a tool held back, its text is gone and the short form cannot be computed; the fingerprint covers it.
    let tool_held_back = quarantined.iter().any(|entry| entry.kind == Kind::Tool);
    let before = Before { quarantined, short: tool_held_back.then_some(short) };
    let surface = build(parts, &before)?;
    let is_same = given == *surface.value() || json::canonical(&given) == json::canonical(surface.value());
    if is_same {
        Ok(surface)
    } else {
        Err(stored("an entry stands where it does not belong, or would be held back"))
    }
}

/// Of a stored form whose fingerprint was accepted, and so was that of a surface once.
pub(super) fn read_accepted(value: Value, accepted: &Fingerprint) -> Result<Surface, SurfaceError> {
    let canonical = json::canonical(&value).map_err(|error| stored(&error.to_string()))?;
    let fingerprint = Fingerprint::of(&canonical);
    if fingerprint != *accepted {
        return Err(stored("its fingerprint is not the accepted one"));
    }
    // Numbers of a file that was laid out anew by another program may be spelled in other ways.
    let value = normal(value, &canonical)?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let client = text("client").and_then(|client| client.parse().ok());
    let client = client.ok_or_else(|| stored("`client` is no client profile"))?;
    let short = text("short").ok_or_else(|| stored("`short` is missing"))?.to_owned();
    let quarantined = value.get("quarantined").and_then(Value::as_array);
    let quarantined = quarantined.and_then(|entries| entries.iter().map(Quarantined::from_value).collect());
    let quarantined = quarantined.ok_or_else(|| stored("`quarantined` has an entry of another shape"))?;
    Ok(Surface(Arc::new(Inner { value, client, fingerprint, short, quarantined })))
}

struct Members(Map<String, Value>);

impl Members {
    fn take(&mut self, key: &str) -> Result<Value, SurfaceError> {
        self.0.remove(key).ok_or_else(|| stored(&format!("it has no `{key}`")))
    }

    fn text(&mut self, key: &str) -> Result<String, SurfaceError> {
        match self.take(key)? {
            Value::String(text) => Ok(text),
            _ => Err(stored(&format!("`{key}` is no text"))),
        }
    }

    fn list(&mut self, key: &str) -> Result<Vec<Value>, SurfaceError> {
        match self.take(key)? {
            Value::Array(items) => Ok(items),
            _ => Err(stored(&format!("`{key}` is no list"))),
        }
    }
}

fn stored(why: &str) -> SurfaceError {
    SurfaceError::Stored(why.to_owned())
}
