//! From what was read to a surface: bounds, names, order, fingerprints.

use std::collections::HashSet;
use std::sync::Arc;

use model::digest::Digest;
use model::profile::Profile;
use serde_json::{Map, Value, json};

use crate::fingerprint::{self, Fingerprint};
use crate::json::{self, JsonError};

use super::entry::{depth_within, objection, texts_within};
use super::{
    Inner, Kind, MAX_DEPTH, MAX_ENTRIES, MAX_NAME, MAX_STORED, MAX_SURFACE, MAX_TEXT, PROJECTION, Parts,
    Quarantined, Surface, SurfaceError,
};

/// What an earlier reading kept of the entries that it held back; nothing where all entries are at hand.
#[derive(Debug, Default)]
pub(super) struct Before {
    pub(super) quarantined: Vec<Quarantined>,
    pub(super) short: Option<String>,
}

/// What has been gathered of the lists so far.
#[derive(Default)]
struct Gathered {
    value: Map<String, Value>,
    quarantined: Vec<Quarantined>,
    /// Every tool's name and canonical form.
    tools: Vec<(String, Vec<u8>)>,
    /// Canonical bytes.
    size: usize,
}

pub(super) fn build(parts: Parts, before: &Before) -> Result<Surface, SurfaceError> {
    let Parts { profile, protocol_version, server_info, capabilities, instructions, .. } = &parts;
    check_head(&parts)?;
    let mut gathered = Gathered { quarantined: before.quarantined.clone(), ..Gathered::default() };
    for (key, part) in [("serverInfo", server_info), ("capabilities", capabilities)] {
        let bytes = canonical(part)?;
        gathered.grow(bytes.len())?;
        gathered.value.insert(key.to_owned(), normal(part.clone(), &bytes)?);
    }
    if let Some(text) = instructions {
        gathered.grow(text.len())?;
        gathered.value.insert("instructions".to_owned(), json!(text));
    }
    gathered.value.insert("projection".to_owned(), json!(PROJECTION));
    gathered.value.insert("client".to_owned(), json!(profile.to_string()));
    gathered.value.insert("protocolVersion".to_owned(), json!(protocol_version));
    let client = profile.clone();
    let lists = [parts.tools, parts.prompts, parts.resources, parts.resource_templates];
    for (kind, entries) in Kind::ALL.into_iter().zip(lists) {
        gathered.list(kind, entries)?;
    }
    gathered.finish(client, before.short.clone())
}

impl Gathered {
    fn grow(&mut self, bytes: usize) -> Result<(), SurfaceError> {
        self.size = self.size.saturating_add(bytes);
        if self.size > MAX_SURFACE { Err(SurfaceError::TooLarge) } else { Ok(()) }
    }

    fn list(&mut self, kind: Kind, entries: Vec<Value>) -> Result<(), SurfaceError> {
        let held_back = self.quarantined.iter().filter(|entry| entry.kind == kind).count();
        if entries.len() + held_back > MAX_ENTRIES {
            return Err(SurfaceError::TooManyEntries(kind));
        }
        let mut names = HashSet::new();
        let mut offered = Vec::new();
        for entry in entries {
            if !entry.is_object() {
                let why = format!("an entry of `{}` is no object", kind.list());
                return Err(SurfaceError::Malformed { method: kind.method().to_owned(), why });
            }
            let name = entry.get(kind.key()).and_then(Value::as_str).map(str::to_owned);
            if let Some(name) = name.clone().filter(|name| !names.insert(name.clone())) {
                return Err(SurfaceError::Duplicate { kind, name });
            }
            let name = name.unwrap_or_default();
            let bytes = canonical(&entry)?;
            self.grow(bytes.len())?;
            match objection(kind, &entry, bytes.len()) {
                None => offered.push((name.clone(), normal(entry, &bytes)?)),
                Some(reason) => self.quarantined.push(Quarantined {
                    kind,
                    name: name.chars().take(MAX_NAME).collect(),
                    reason,
                    digest: Digest::of(&bytes),
                }),
            }
            if kind == Kind::Tool {
                self.tools.push((name, bytes));
            }
        }
        offered.sort_by(|(a, _), (b, _)| json::order(a, b));
        let offered = offered.into_iter().map(|(_, entry)| entry).collect();
        self.value.insert(kind.list().to_owned(), Value::Array(offered));
        Ok(())
    }

    fn finish(self, client: Profile, short: Option<String>) -> Result<Surface, SurfaceError> {
        let Self { mut value, mut quarantined, tools, .. } = self;
        Quarantined::sort(&mut quarantined);
        let short = short.unwrap_or_else(|| fingerprint::short_of(tools));
        value.insert("short".to_owned(), json!(short));
        let held_back = quarantined.iter().map(Quarantined::to_value).collect();
        value.insert("quarantined".to_owned(), Value::Array(held_back));
        let mut value = Value::Object(value);
        value.sort_all_objects();
        if text_len(&value, 0) > MAX_STORED {
            return Err(SurfaceError::TooLarge);
        }
        let fingerprint = Fingerprint::of(&canonical(&value)?);
        Ok(Surface(Arc::new(Inner { value, client, fingerprint, short, quarantined })))
    }
}

/// Checks what stands before the lists, none of which can be held back by itself.
fn check_head(parts: &Parts) -> Result<(), SurfaceError> {
    let malformed =
        |why: &str| SurfaceError::Malformed { method: "initialize".to_owned(), why: why.to_owned() };
    let revision = &parts.protocol_version;
    let is_revision = (1..=64).contains(&revision.len())
        && revision.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
    if !is_revision {
        return Err(malformed("`protocolVersion` is no revision"));
    }
    for (what, part) in [("serverInfo", &parts.server_info), ("capabilities", &parts.capabilities)] {
        let over = |why: String| SurfaceError::OverBound { what: format!("`{what}`"), why };
        if !part.is_object() {
            return Err(malformed(&format!("`{what}` is no object")));
        }
        if !depth_within(part, MAX_DEPTH) {
            return Err(over(format!("is nested deeper than {MAX_DEPTH} levels")));
        }
        if !texts_within(part, MAX_TEXT) {
            return Err(over(format!("has a text longer than {} KiB", MAX_TEXT >> 10)));
        }
    }
    match &parts.instructions {
        Some(text) if text.len() > MAX_TEXT => Err(SurfaceError::OverBound {
            what: "instructions".to_owned(),
            why: format!("are longer than {} KiB", MAX_TEXT >> 10),
        }),
        _ => Ok(()),
    }
}

/// About the bytes of a value in indented JSON.
fn text_len(value: &Value, indent: usize) -> usize {
    let line = indent + 4;
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => {
            items.iter().map(|item| line + text_len(item, indent + 2)).sum::<usize>() + line
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| line + key.len() + 4 + text_len(value, indent + 2);
            members.iter().map(member).sum::<usize>() + line
        }
        _ => 5,
    }
}

fn canonical(value: &Value) -> Result<Vec<u8>, SurfaceError> {
    json::canonical(value).map_err(|error| unwritable(&error))
}

/// The value with its numbers as RFC 8785 spells them, so that equal fingerprints mean equal bytes.
pub(super) fn normal(value: Value, canonical: &[u8]) -> Result<Value, SurfaceError> {
    if is_normal(&value) { Ok(value) } else { json::parse(canonical).map_err(|error| unwritable(&error)) }
}

/// Whether every number is an integer that a double holds exactly: those have one spelling.
fn is_normal(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_i64().is_some_and(|number| number.unsigned_abs() <= 1 << 53),
        Value::Array(items) => items.iter().all(is_normal),
        Value::Object(members) => members.values().all(is_normal),
        _ => true,
    }
}

fn unwritable(error: &JsonError) -> SurfaceError {
    SurfaceError::Malformed { method: "tools/list".to_owned(), why: error.to_string() }
}
