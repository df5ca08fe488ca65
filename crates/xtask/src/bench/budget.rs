//! What a measurement may be, and whether it was.

use serde_json::{Value, json};

/// Judges what must not be above `most`. Prints a line and returns the numbers. A missed budget is told, not hidden, and
/// fails nothing: a busy machine is no bug.
pub(super) fn judge(what: &str, measured: Option<f64>, most: f64) -> Value {
    let met = measured.is_some_and(|measured| measured <= most);
    tell(what, measured, ("at most", "at_most", most), met)
}

/// Judges what must not be below `least`, as [`judge`] does.
pub(super) fn judge_least(what: &str, measured: Option<f64>, least: f64) -> Value {
    let met = measured.is_some_and(|measured| measured >= least);
    tell(what, measured, ("at least", "at_least", least), met)
}

fn tell(what: &str, measured: Option<f64>, (words, key, bound): (&str, &str, f64), met: bool) -> Value {
    let verdict = if met { "met" } else { "MISSED" };
    println!("  budget {verdict}: {what} {:.2}, {words} {bound}", measured.unwrap_or(f64::NAN));
    json!({ "what": what, "measured": measured, key: bound, "met": met })
}

#[cfg(test)]
mod tests {
    use super::{judge, judge_least};

    #[test]
    fn what_was_not_measured_is_not_met() {
        let met = |measured| judge("x", measured, 2.0)["met"].as_bool();
        assert_eq!([met(Some(2.0)), met(Some(2.1)), met(None)], [Some(true), Some(false), Some(false)]);
        let met = |measured| judge_least("x", measured, 2.0)["met"].as_bool();
        assert_eq!([met(Some(2.0)), met(Some(1.9)), met(None)], [Some(true), Some(false), Some(false)]);
    }
}
