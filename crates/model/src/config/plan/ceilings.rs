//! The ceilings of a cell, laid over one another.

use std::collections::{BTreeMap, BTreeSet};

use super::{Excess, Origin};
use crate::config::limit_name::LimitName;
use crate::config::limits::SomeLimits;
use crate::config::operator::Operator;
use crate::limits::{Limits, Requirement};

/// Limits and who said each of them.
pub(super) struct Ceilings<'a> {
    pub(super) limits: Limits,
    said_by: BTreeMap<LimitName, Origin>,
    pub(super) operator: &'a Operator,
}

impl<'a> Ceilings<'a> {
    /// Built-in values that lie above a maximum are lowered to it: nobody asked for them.
    pub(super) fn new(mut limits: Limits, operator: &'a Operator) -> Self {
        for name in LimitName::ALL {
            if let Some(maximum) = operator.maximum().get(name).filter(|maximum| name.of(&limits) > *maximum)
            {
                name.set(&mut limits, maximum);
            }
        }
        Self { limits, said_by: BTreeMap::new(), operator }
    }

    pub(super) fn add(&mut self, origin: Origin, some: &SomeLimits) {
        for (name, value) in some.iter() {
            name.set(&mut self.limits, value);
            self.said_by.insert(name, origin);
        }
        if let Some(layers) = some.require() {
            // A project may insist on more than the operator does, never on less.
            let kept = if origin == Origin::Project { self.limits.require.clone() } else { BTreeSet::new() };
            self.limits.require = kept.union(layers).copied().collect::<BTreeSet<Requirement>>();
        }
    }

    pub(super) fn excesses(&self) -> Vec<Excess> {
        self.said_by
            .iter()
            .filter(|(_, by)| matches!(by, Origin::Project | Origin::CommandLine))
            .filter_map(|(name, by)| {
                let (asked, maximum) = (name.of(&self.limits), self.operator.maximum().get(*name)?);
                (asked > maximum).then(|| Excess {
                    what: name.as_str(),
                    asked: name.show(asked),
                    maximum: name.show(maximum),
                    by: *by,
                })
            })
            .collect()
    }
}
