//! A surface, page by page.

use std::{collections::BTreeMap, ops::Range};

use serde_json::{Map, Value};

use super::{
    Look, Page,
    lines::{Bar, Lines, Style},
};
use crate::{
    review::{
        finding::{Finding, Severity},
        place::{Owner, Place},
    },
    surface::{Kind, Surface},
    visible::{excerpt, visible},
};

/// Where what is to be marked.
pub(super) type Marks = BTreeMap<Place, Vec<(Range<usize>, Severity)>>;

/// A surface as pages: the server, and then every entry. All that a model reads is on them.
pub fn pages(surface: &Surface, findings: &[Finding], look: &Look) -> Vec<Page> {
    let marks = marks(findings);
    let mut pages = vec![server(surface, findings, &marks, *look)];
    for kind in Kind::ALL {
        let entries = surface.list(kind);
        for (index, entry) in entries.iter().enumerate() {
            let place = Place::of(Owner::of(kind, entry));
            let mut text = String::new();
            let mut body = Lines::default();
            members(&place, entry.as_object(), &marks, 0, &mut body);
            text.push_str(&body.wrapped(*look, 0, Bar::Strange));
            let title = format!("{} ({} of {})", short(&place.owner), index + 1, entries.len());
            pages.push(page(title, &place.owner, text, findings, *look));
        }
    }
    pages
}

/// A surface in a line: `12 tools, 2 prompts; 1 danger, 3 warnings`.
pub fn summary(surface: &Surface, findings: &[Finding]) -> String {
    let mut counts: Vec<String> = Kind::ALL
        .into_iter()
        .map(|kind| (surface.list(kind).len(), kind.as_str()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    if !surface.quarantined().is_empty() {
        counts.push(format!("{} held back", surface.quarantined().len()));
    }
    let counts = if counts.is_empty() { "nothing to use".to_owned() } else { counts.join(", ") };
    format!("{counts}; {}", tally(findings.iter()))
}

/// How many findings of each severity there are; notes only where there is nothing worse.
pub(super) fn tally<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let counts = findings.fold([0_usize; 3], |[notes, warnings, dangers], finding| match finding.severity {
        Severity::Note => [notes + 1, warnings, dangers],
        Severity::Warning => [notes, warnings + 1, dangers],
        Severity::Danger => [notes, warnings, dangers + 1],
    });
    match counts {
        [0, 0, 0] => "nothing found".to_owned(),
        [notes, 0, 0] => counted(notes, "note"),
        [_, warnings, 0] => counted(warnings, "warning"),
        [_, 0, dangers] => counted(dangers, "danger"),
        [_, warnings, dangers] => format!("{}, {}", counted(dangers, "danger"), counted(warnings, "warning")),
    }
}

pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An owner for a title: a URI may be long.
pub(super) fn short(owner: &Owner) -> String {
    match owner {
        Owner::Server => "server".to_owned(),
        Owner::Entry { kind, name } => format!("{kind} {}", excerpt(name, 60)),
    }
}

pub(super) fn marks(findings: &[Finding]) -> Marks {
    findings.iter().fold(Marks::new(), |mut marks, finding| {
        marks.entry(finding.place.clone()).or_default().push((finding.range.clone(), finding.severity));
        marks
    })
}

/// A page with what was found about its owner at its end.
fn page(title: String, owner: &Owner, mut text: String, findings: &[Finding], look: Look) -> Page {
    let found: Vec<&Finding> = findings.iter().filter(|finding| finding.place.owner == *owner).collect();
    list(&found, look, &mut text);
    Page { title, severity: found.iter().map(|finding| finding.severity).max(), text }
}

/// What was found, one by one; the same about the same text once.
pub(super) fn list(found: &[&Finding], look: Look, text: &mut String) {
    let is_same = |one: &Finding, other: &Finding| {
        (one.code, one.severity, &one.message, &one.place)
            == (other.code, other.severity, &other.message, &other.place)
    };
    for (index, finding) in found.iter().enumerate() {
        if found.iter().take(index).any(|before| is_same(before, finding)) {
            continue;
        }
        let times = match found.iter().filter(|other| is_same(other, finding)).count() {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        let mut line = Lines::default();
        line.add(&format!("{:<7}", finding.severity), Style::Label(finding.severity));
        let way = finding.place.way();
        let at = if way.is_empty() { String::new() } else { format!(" · {way}") };
        line.add(&format!(" {}{at} ", visible(&finding.message)), Style::Plain);
        line.add(&format!("({}{times})", finding.code), Style::Faint);
        text.push_str(&line.wrapped(look, 2, Bar::None));
    }
}

fn server(surface: &Surface, findings: &[Finding], marks: &Marks, look: Look) -> Page {
    let name = surface.server_info().get("name").and_then(Value::as_str).unwrap_or("without a name");
    let mut head = Lines::default();
    head.add(&format!("{}\n", summary(surface, findings)), Style::Strong);
    head.add(&format!("asked as the client `{}`", surface.client()), Style::Faint);
    let mut text = head.wrapped(look, 0, Bar::None);
    let mut body = Lines::default();
    let parts = ["serverInfo", "protocolVersion", "capabilities", "instructions"];
    let of_server = |key: &str| Some((key.to_owned(), surface.value().get(key)?.clone()));
    let own: Map<String, Value> = parts.into_iter().filter_map(of_server).collect();
    members(&Place::of(Owner::Server), Some(&own), marks, 0, &mut body);
    text.push_str(&body.wrapped(look, 0, Bar::Strange));
    for held in surface.quarantined() {
        let mut line = Lines::default();
        let (kind, name, reason) = (held.kind, excerpt(&held.name, 80), held.reason);
        line.add(&format!("held back, no model reads it: {kind} {name}, {reason}"), Style::Plain);
        text.push_str(&line.wrapped(look, 2, Bar::None));
    }
    page(format!("server {}", excerpt(name, 60)), &Owner::Server, text, findings, look)
}

/// What people look for first, and then the rest as it comes.
const FIRST: [&str; 5] = ["name", "title", "description", "instructions", "inputSchema"];

/// The members of an object, each on lines of its own.
pub(super) fn members(
    place: &Place,
    members: Option<&Map<String, Value>>,
    marks: &Marks,
    depth: usize,
    out: &mut Lines,
) {
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    let mut all: Vec<(&String, &Value)> = members.into_iter().flatten().collect();
    all.sort_by_key(|(key, _)| rank(key));
    for (key, value) in all {
        member(&place.member(key), key, value, "", marks, depth, out);
    }
}

fn member(place: &Place, key: &str, value: &Value, note: &str, marks: &Marks, depth: usize, out: &mut Lines) {
    let key_place = Place { is_key: true, ..place.clone() };
    out.add(&"  ".repeat(depth.min(DEEPEST)), Style::Plain);
    let found = marks.get(&key_place).map(Vec::as_slice).unwrap_or_default();
    out.add_found(&key.replace('\n', "<U+000A>"), Style::Strong, found);
    out.add(note, Style::Faint);
    below(place, value, marks, depth, out);
}

/// Deeper values are not moved further to the right.
const DEEPEST: usize = 12;

/// What stands below a key or an index, which has been written.
fn below(place: &Place, value: &Value, marks: &Marks, depth: usize, out: &mut Lines) {
    match value {
        Value::String(text) => {
            out.add(": ", Style::Plain);
            let found = marks.get(place).map(Vec::as_slice).unwrap_or_default();
            let indent = "  ".repeat((depth + 1).min(DEEPEST));
            let mut begin = 0;
            for (index, line) in text.split_inclusive('\n').enumerate() {
                let here: Vec<(Range<usize>, Severity)> = found
                    .iter()
                    .filter(|(range, _)| range.start < begin + line.len() && begin < range.end)
                    .map(|(range, severity)| {
                        (range.start.saturating_sub(begin)..range.end - begin, *severity)
                    })
                    .collect();
                out.add(if index == 0 { "" } else { &indent }, Style::Plain);
                out.add_found(line, Style::Plain, &here);
                begin += line.len();
            }
            out.end();
        }
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            out.add(": ", Style::Plain);
            for (index, item) in items.iter().enumerate() {
                out.add(if index == 0 { "" } else { ", " }, Style::Faint);
                match item {
                    Value::String(text) => {
                        let found = marks.get(&place.element(index)).map(Vec::as_slice).unwrap_or_default();
                        out.add_found(&text.replace('\n', "<U+000A>"), Style::Plain, found);
                    }
                    other => out.add(&other.to_string(), Style::Plain),
                }
            }
            out.end();
        }
        Value::Array(items) => {
            out.end();
            for (index, item) in items.iter().enumerate() {
                out.add(&format!("{}[{index}]", "  ".repeat((depth + 1).min(DEEPEST))), Style::Faint);
                below(&place.element(index), item, marks, depth + 1, out);
            }
        }
        Value::Object(inside) if inside.is_empty() => {
            out.add(": {}", Style::Plain);
            out.end();
        }
        Value::Object(inside) if inside.get("properties").is_some_and(Value::is_object) => {
            out.end();
            schema(place, inside, marks, depth + 1, out);
        }
        Value::Object(inside) => {
            out.end();
            members(place, Some(inside), marks, depth + 1, out);
        }
        other => {
            out.add(&format!(": {other}"), Style::Plain);
            out.end();
        }
    }
}

/// An object's schema: its parameters with their types beside them.
fn schema(place: &Place, schema: &Map<String, Value>, marks: &Marks, depth: usize, out: &mut Lines) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let inside = place.member("properties");
    for (key, value) in properties.into_iter().flatten() {
        let is_required = required.contains(&key.as_str());
        let kind = value.get("type").and_then(Value::as_str).filter(|kind| kind.len() < 20);
        let note = match (kind, is_required) {
            (Some(kind), true) => format!(" {kind}, required"),
            (Some(kind), false) => format!(" {kind}"),
            (None, true) => " required".to_owned(),
            (None, false) => String::new(),
        };
        let shown = match value.as_object() {
            // The type stands beside the name.
            Some(members) if kind.is_some() => {
                let rest = members.iter().filter(|(key, _)| *key != "type");
                Value::Object(rest.map(|(key, value)| (key.clone(), value.clone())).collect())
            }
            _ => value.clone(),
        };
        let place = inside.member(key);
        if shown.as_object().is_some_and(Map::is_empty) {
            let key_place = Place { is_key: true, ..place };
            out.add(&"  ".repeat(depth.min(DEEPEST)), Style::Plain);
            let found = marks.get(&key_place).map(Vec::as_slice).unwrap_or_default();
            out.add_found(&key.replace('\n', "<U+000A>"), Style::Strong, found);
            out.add(&note, Style::Faint);
            out.end();
        } else {
            member(&place, key, &shown, &note, marks, depth, out);
        }
    }
    // What is required stands beside each name, where all of them have one.
    let listed = schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    let is_told = listed == required.len()
        && required.iter().all(|name| properties.is_some_and(|properties| properties.contains_key(*name)));
    let dull = |key: &str, value: &Value| {
        key == "type" && value == "object" || key == "required" && is_told && value.is_array()
    };
    for (key, value) in schema.iter().filter(|(key, value)| *key != "properties" && !dull(key, value)) {
        member(&place.member(key), key, value, "", marks, depth, out);
    }
}
