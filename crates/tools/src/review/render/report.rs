//! A review for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{diff_summary, summary};
use crate::{
    review::{
        diff::Diff,
        finding::{Finding, Severity},
    },
    surface::{Kind, Surface},
};

/// A review of a whole surface.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report<'a> {
    /// The full fingerprint.
    pub fingerprint: String,
    /// The short form, for show.
    pub short: &'a str,
    /// The surface in a line.
    pub summary: String,
    /// The worst that is found.
    pub worst: Option<Severity>,
    /// How many entries there are of each list, by the list's name in the protocol.
    pub counts: BTreeMap<&'static str, usize>,
    /// What is not offered.
    pub held_back: Vec<Held<'a>>,
    /// What is found, the worst first.
    pub findings: &'a [Finding],
    /// Everything that a model would read.
    pub surface: &'a Value,
}

/// An entry that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held<'a> {
    /// What it is.
    pub kind: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Why.
    pub reason: String,
}

/// A review of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffReport<'a> {
    /// The full fingerprint of what was accepted.
    pub before: String,
    /// That of what there is.
    pub after: String,
    /// The change in a line.
    pub summary: String,
    /// Its class and its parts.
    #[serde(flatten)]
    pub diff: &'a Diff,
}

impl<'a> Report<'a> {
    /// Of a surface and what was found in it.
    pub fn of(surface: &'a Surface, findings: &'a [Finding]) -> Self {
        let held = surface.quarantined().iter().map(|held| Held {
            kind: held.kind.as_str(),
            name: &held.name,
            reason: held.reason.to_string(),
        });
        Self {
            fingerprint: surface.fingerprint().to_string(),
            short: surface.short(),
            summary: summary(surface, findings),
            worst: findings.iter().map(|finding| finding.severity).max(),
            counts: Kind::ALL.map(|kind| (kind.list(), surface.list(kind).len())).into(),
            held_back: held.collect(),
            findings,
            surface: surface.value(),
        }
    }
}

impl<'a> DiffReport<'a> {
    /// Of two surfaces and what differs between them.
    pub fn of(before: &Surface, after: &Surface, diff: &'a Diff) -> Self {
        Self {
            before: before.fingerprint().to_string(),
            after: after.fingerprint().to_string(),
            summary: diff_summary(diff),
            diff,
        }
    }
}
