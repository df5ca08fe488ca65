//! All rules over all texts.

use std::sync::LazyLock;

use serde_json::Value;

use super::{
    finding::{Finding, Severity},
    place::{self, Place},
    rule::{self, Rule},
    text::{Own, Text},
};
use crate::surface::Surface;

/// Most findings of one rule in one text; the worst ones are kept.
const MOST_IN_A_TEXT: usize = 6;

/// A set of rules.
#[derive(Debug)]
pub struct Engine {
    rules: Vec<Box<dyn Rule>>,
}

impl Engine {
    /// The rules that come with Fumehood. Their patterns are compiled at the first use.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<Engine> = LazyLock::new(|| Engine { rules: rule::standard() });
        &STANDARD
    }

    /// These rules.
    pub fn of(rules: Vec<Box<dyn Rule>>) -> Self {
        Self { rules }
    }

    /// Its rules.
    pub fn rules(&self) -> &[Box<dyn Rule>] {
        &self.rules
    }

    /// What is found in a surface, the worst first, and then in the order of the surface.
    pub fn findings(&self, surface: &Surface) -> Vec<Finding> {
        self.findings_in(surface.value())
    }

    /// What is found in a surface's stored form.
    pub fn findings_in(&self, surface: &Value) -> Vec<Finding> {
        let own = Own::of(surface);
        let mut found = Vec::new();
        place::walk(surface, &mut |place, text| self.look(&Text::new(place, text, &own), &mut found));
        found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        found
    }

    /// What is found in a value that stands at a place, in its order; `own` are the names of the surface it is of.
    pub fn findings_at(&self, place: &Place, value: &Value, own: &Own) -> Vec<Finding> {
        let mut found = Vec::new();
        place::walk_value(&mut place.clone(), value, &mut |place, text| {
            self.look(&Text::new(place, text, own), &mut found);
        });
        found
    }

    /// What is found in one text, in its order.
    pub fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        let mut all = Vec::new();
        for rule in &self.rules {
            let mut found = Vec::new();
            rule.look(text, &mut found);
            all.append(&mut worst(found));
        }
        all.sort_by_key(|finding| (finding.range.start, finding.range.end));
        out.append(&mut all);
    }
}

/// The worst findings of one rule in one text, of which no two overlap.
fn worst(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.range.start));
    let mut kept: Vec<Finding> = Vec::new();
    for finding in found {
        let overlaps = |other: &Finding| {
            other.code == finding.code
                && other.range.start < finding.range.end
                && finding.range.start < other.range.end
        };
        // A note beside something worse of the same kind tells nothing.
        let is_noise =
            finding.severity == Severity::Note && kept.iter().any(|kept| kept.severity > Severity::Note);
        if kept.len() < MOST_IN_A_TEXT && !is_noise && !kept.iter().any(overlaps) {
            kept.push(finding);
        }
    }
    kept
}
