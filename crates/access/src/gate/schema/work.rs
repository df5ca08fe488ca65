//! How much holding a value against a schema can cost, known before it is done.
//!
//! A schema of a few lines can be made such that holding a few values against it takes years: each of its schemas holds the next one
//! twice. The author of a server writes the schema and can have the values written as well.

use std::collections::BTreeMap;

use super::walk::{Place, Step};
use crate::gate::error::GateError;

/// Members of a schema's own lists that cost as much as a schema.
const LIST: u64 = 16;
/// From here on no number matters: nothing of that cost is done.
const CAP: u64 = 1 << 40;
/// Additions that finding out the cost may take itself.
const MAX_ADDITIONS: usize = 1_000_000;

/// The most schemas that one value of the arguments is held against, by the levels of the arguments: what stands at 3 is for values
/// at most three steps deep. As far as the numbers matter.
pub(super) fn by_level(places: &[Place<'_>], most_levels: usize) -> Result<Vec<u64>, GateError> {
    let numbers: BTreeMap<&str, usize> =
        places.iter().enumerate().map(|(number, place)| (place.pointer.as_str(), number)).collect();
    let order = children_first(places, &numbers);
    let mut additions = 0_usize;
    let mut before = vec![1; places.len()];
    let mut levels = Vec::new();
    for level in 0..=most_levels {
        let mut sums: Vec<Sums> = (0..places.len()).map(|_| Sums::default()).collect();
        let mut now = vec![0; places.len()];
        for number in &order {
            let Some(place) = places.get(*number) else { continue };
            let mut sum = Sums { here: weight(place), ..Sums::default() };
            for other in place.applied_with.iter().filter_map(|pointer| numbers.get(pointer.as_str())) {
                if let Some(other) = sums.get(*other) {
                    sum.add(other);
                    additions += 1 + other.inside.len();
                }
            }
            if level > 0 {
                for (step, pointer) in &place.inside {
                    let inner = numbers.get(pointer.as_str()).and_then(|inner| before.get(*inner));
                    sum.add_inside(step, inner.copied().unwrap_or(1));
                    additions += 1;
                }
            }
            if additions > MAX_ADDITIONS {
                return Err(GateError::Unbounded("has too many schemas in it"));
            }
            if let (Some(slot), Some(most)) = (sums.get_mut(*number), now.get_mut(*number)) {
                *most = sum.most();
                *slot = sum;
            }
        }
        let root = now.first().copied().unwrap_or(1);
        if root >= CAP {
            break;
        }
        levels.push(root);
        if now == before {
            // Nothing refers to itself: deeper arguments cost no more.
            levels.resize(most_levels + 1, root);
            break;
        }
        before = now;
    }
    Ok(levels)
}

/// What one schema, and those that apply to the same value, cost.
#[derive(Debug, Default)]
struct Sums {
    /// For the value itself.
    here: u64,
    /// For the value behind each step. A step that stands for any key or any index is kept apart.
    inside: BTreeMap<Step, u64>,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.here = sum(self.here, other.here);
        for (step, cost) in &other.inside {
            self.add_inside(step, *cost);
        }
    }

    fn add_inside(&mut self, step: &Step, cost: u64) {
        let all = self.inside.entry(step.clone()).or_default();
        *all = sum(*all, cost);
    }

    /// The dearest value of all.
    fn most(&self) -> u64 {
        let any = |step: &Step| self.inside.get(step).copied().unwrap_or(0);
        let (any_key, any_index) = (any(&Step::AnyKey), any(&Step::AnyIndex));
        let inside = self.inside.iter().map(|(step, cost)| match step {
            Step::Key(_) => sum(*cost, any_key),
            Step::Index(_) => sum(*cost, any_index),
            Step::AnyKey | Step::AnyIndex => *cost,
        });
        inside.fold(self.here, u64::max)
    }
}

/// Every place after those that apply to the same value because of it. There is no circle among them.
fn children_first(places: &[Place<'_>], numbers: &BTreeMap<&str, usize>) -> Vec<usize> {
    let mut order = Vec::with_capacity(places.len());
    let mut entered = vec![false; places.len()];
    for start in 0..places.len() {
        let mut stack = vec![(start, false)];
        while let Some((number, is_done)) = stack.pop() {
            if is_done {
                order.push(number);
                continue;
            }
            match entered.get_mut(number) {
                Some(entered) if !*entered => *entered = true,
                _ => continue,
            }
            stack.push((number, true));
            let others = places.get(number).map(|place| place.applied_with.as_slice()).unwrap_or_default();
            stack.extend(others.iter().filter_map(|pointer| Some((*numbers.get(pointer.as_str())?, false))));
        }
    }
    order
}

/// By the sizes of what it lists: a schema with a thousand names is more than one with one.
fn weight(place: &Place<'_>) -> u64 {
    let listed = place.schema.values().map(|value| match value {
        serde_json::Value::Array(items) => items.len(),
        serde_json::Value::Object(members) => members.len(),
        _ => 0,
    });
    1 + u64::try_from(listed.sum::<usize>()).unwrap_or(u64::MAX) / LIST
}

fn sum(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(CAP)
}
