//! What is new in a surface that has changed, change by change, each with its class.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{
    class::Class,
    engine::Engine,
    finding::{Finding, Severity},
    place::{Owner, Place, Step},
    text::{Own, Text},
};
use crate::surface::{Kind, Surface};

use raw::Raw;

mod classify;
mod compare;
mod raw;
mod schema;
mod wording;

/// Everything in which two surfaces differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// The class of the change that reaches furthest; cosmetic where there is none.
    pub class: Class,
    /// The changes, those that reach furthest first, and then in the order of the surface.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Where.
    pub place: Place,
    /// What happened there.
    pub how: How,
    /// How far it reaches.
    pub class: Class,
    /// What it is, as a sentence without a full stop; nothing in it is hidden.
    pub why: String,
    /// What stood there.
    pub before: Option<Value>,
    /// What stands there.
    pub after: Option<Value>,
    /// What rules find in it that they did not find there before.
    pub findings: Vec<Finding>,
}

/// What happened at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// Something is there.
    Added,
    /// Nothing is there any more.
    Removed,
    /// Something else is there.
    Changed,
    /// It is there under another name.
    Renamed,
}

impl How {
    /// In lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Renamed => "renamed",
        }
    }
}

impl Serialize for How {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Diff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Every new finding, the worst first.
    pub fn findings(&self) -> Vec<&Finding> {
        let mut all: Vec<&Finding> = self.changes.iter().flat_map(|change| &change.findings).collect();
        all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        all
    }
}

/// Compares two surfaces by the rules that come with Fumehood.
pub fn diff(before: &Surface, after: &Surface) -> Diff {
    diff_of(Engine::standard(), before, after)
}

/// Compares two surfaces by these rules.
pub(super) fn diff_of(engine: &Engine, old: &Surface, new: &Surface) -> Diff {
    let mut found = Vec::new();
    let (before, after) = (old.value(), new.value());
    for (key, value) in [before, after].into_iter().flat_map(|value| value.as_object().into_iter().flatten())
    {
        let is_list = Kind::ALL.into_iter().any(|kind| kind.list() == key);
        let seen = std::ptr::eq(value, after.get(key).unwrap_or(&Value::Null)) && before.get(key).is_some();
        if !is_list && !seen && !["projection", "quarantined", "short"].contains(&key.as_str()) {
            let place = Place::of(Owner::Server).member(key);
            compare::values(&place, before.get(key), after.get(key), &mut found);
        }
    }
    for kind in Kind::ALL {
        entries(kind, old, new, &mut found);
    }
    let own = [Own::of(before), Own::of(after)];
    let mut changes: Vec<Change> = found.into_iter().map(|change| judged(engine, &own, change)).collect();
    if changes.is_empty() && old.fingerprint() != new.fingerprint() {
        changes.push(Change {
            place: Place::of(Owner::Server),
            how: How::Changed,
            class: Class::NewCapability,
            why: "something differs in what is held back, or in the form of the fingerprint".to_owned(),
            before: None,
            after: None,
            findings: Vec::new(),
        });
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.class));
    let class = changes.first().map_or(Class::Cosmetic, |change| change.class);
    Diff { class, changes }
}

/// The entries of one list, matched by name.
fn entries(kind: Kind, before: &Surface, after: &Surface, out: &mut Vec<Raw>) {
    let (old, new) = (by_name(kind, before), by_name(kind, after));
    let (old_held, new_held) = (held_back(kind, before), held_back(kind, after));
    let place = |name: &str| Place::of(Owner::Entry { kind, name: name.to_owned() });
    let mut gone: Vec<(&str, &Value)> = old
        .iter()
        .filter(|(name, _)| !new.contains_key(*name))
        .map(|(name, value)| (*name, *value))
        .collect();
    for (name, value) in &new {
        if let Some(before) = old.get(name) {
            compare::values(&place(name), Some(before), Some(value), out);
            continue;
        }
        let twin = gone
            .iter()
            .position(|(_, gone)| !new_held.contains_key(name) && same_but_name(kind, gone, value));
        let (how, before, note) = match twin.map(|twin| gone.remove(twin)) {
            Some((from, before)) => (How::Renamed, Some(before), Some(from.to_owned())),
            None => {
                (How::Added, None, old_held.get(name).map(|reason| format!("held back before: {reason}")))
            }
        };
        out.push(Raw::of(place(name), how, before, Some(value), note));
    }
    for (name, value) in gone {
        let note = new_held.get(name).map(|reason| format!("held back: {reason}"));
        out.push(Raw::of(place(name), How::Removed, Some(value), None, note));
    }
    for (name, reason) in new_held.iter().filter(|(name, _)| !old.contains_key(*name)) {
        if old_held.get(name) != Some(reason) {
            let (how, note) = (How::Changed, Some(format!("held back, so no model reads it: {reason}")));
            out.push(Raw::of(place(name), how, None, None, note));
        }
    }
    for name in old_held.keys().filter(|name| !new.contains_key(*name) && !new_held.contains_key(*name)) {
        let note = Some("was held back, and is gone".to_owned());
        out.push(Raw::of(place(name), How::Removed, None, None, note));
    }
}

fn by_name(kind: Kind, surface: &Surface) -> BTreeMap<&str, &Value> {
    surface
        .list(kind)
        .into_iter()
        .filter_map(|entry| Some((entry.get(kind.key())?.as_str()?, entry)))
        .collect()
}

/// What is not offered of one list: its name, why, and the digest of what it was.
fn held_back(kind: Kind, surface: &Surface) -> BTreeMap<&str, String> {
    let of_kind = surface.quarantined().iter().filter(|held| held.kind == kind);
    of_kind
        .map(|held| {
            let digest: String = held.digest.hex().chars().take(12).collect();
            (held.name.as_str(), format!("{} (sha256:{digest}…)", held.reason))
        })
        .collect()
}

fn same_but_name(kind: Kind, one: &Value, other: &Value) -> bool {
    let without = |value: &Value| {
        let mut value = value.clone();
        if let Some(members) = value.as_object_mut() {
            members.remove(kind.key());
        }
        value
    };
    without(one) == without(other)
}

/// The change with its class, and what rules find in it anew.
fn judged(engine: &Engine, [old, new]: &[Own; 2], raw: Raw) -> Change {
    let mut findings = Vec::new();
    if let Some(after) = &raw.after {
        // A name that was not there is new as well.
        if let (How::Added, Some(Step::Key(key))) = (raw.how, raw.place.steps.last()) {
            let place = Place { is_key: true, ..raw.place.clone() };
            engine.look(&Text::new(&place, key, new), &mut findings);
        }
        findings.append(&mut engine.findings_at(&raw.place, after, new));
        let known = raw.before.as_ref().map(|before| engine.findings_at(&raw.place, before, old));
        for finding in known.into_iter().flatten() {
            let same = |other: &Finding| {
                (other.code, other.severity, &other.message)
                    == (finding.code, finding.severity, &finding.message)
            };
            if let Some(at) = findings.iter().position(same) {
                findings.remove(at);
            }
        }
    }
    let (mut class, mut why) = classify::classify(&raw);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if let Some(worst) = findings.first().filter(|finding| finding.severity > Severity::Note) {
        class = Class::NowInstructs;
        why = format!("{why}; it {}", worst.message);
    }
    if let Some(parameter) = classify::new_parameter(&raw) {
        findings.push(parameter);
    }
    Change { place: raw.place, how: raw.how, class, why, before: raw.before, after: raw.after, findings }
}
