//! What a measurement may be at the most, and whether it was.

use serde_json::{Value, json};

/// Prints a line and returns the numbers. A missed budget is told, not hidden, and fails nothing: a busy machine is no bug.
pub(super) fn judge(what: &str, measured: Option<f64>, most: f64) -> Value {
    let met = measured.is_some_and(|measured| measured <= most);
    let verdict = if met { "met" } else { "MISSED" };
    println!("  budget {verdict}: {what} {:.2}, at most {most}", measured.unwrap_or(f64::NAN));
    json!({ "what": what, "measured": measured, "at_most": most, "met": met })
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn what_was_not_measured_is_not_met() {
        let met = |measured| judge("x", measured, 2.0)["met"].as_bool();
        assert_eq!([met(Some(2.0)), met(Some(2.1)), met(None)], [Some(true), Some(false), Some(false)]);
    }
}
