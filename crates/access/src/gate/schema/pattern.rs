//! How much the patterns of a schema come to when they are compiled, roughly and without compiling them: `(x{1000}){1000}` is a million.

use serde_json::Value;

use super::walk::Place;
use crate::gate::error::GateError;

/// Most steps of all patterns of a tool together.
const MOST_STEPS: u64 = 1_000_000;

/// Refuses what would take long to compile.
pub(super) fn check(places: &[Place<'_>]) -> Result<(), GateError> {
    let mut all = 0_u64;
    for place in places {
        let named = place.schema.get("patternProperties").and_then(Value::as_object);
        let own = place.schema.get("pattern").and_then(Value::as_str);
        let patterns = named.into_iter().flat_map(|named| named.keys().map(String::as_str)).chain(own);
        for pattern in patterns {
            all = all.saturating_add(steps(pattern));
            if all > MOST_STEPS {
                return Err(GateError::Unbounded("has patterns that take much memory"));
            }
        }
    }
    Ok(())
}

/// Characters, classes and groups, each as often as it is repeated.
fn steps(pattern: &str) -> u64 {
    // Of each open group what it has so far, and its last part.
    let mut open: Vec<(u64, u64)> = vec![(0, 0)];
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '(' => open.push((0, 0)),
            ')' => {
                let inner = open.pop().map_or(0, |(sum, last)| sum.saturating_add(last));
                part(&mut open, inner.max(1));
            }
            '[' => {
                let mut escaped = false;
                for c in rest.by_ref() {
                    match c {
                        ']' if !escaped => break,
                        '\\' => escaped = !escaped,
                        _ => escaped = false,
                    }
                }
                part(&mut open, 1);
            }
            '{' => {
                let text: String = rest.clone().take_while(|c| *c != '}').take(24).collect();
                let most = text.split(',').filter_map(|number| number.trim().parse::<u64>().ok()).max();
                if let (Some(most), Some((_, last))) = (most, open.last_mut()) {
                    *last = last.saturating_mul(most.max(1));
                }
            }
            '\\' => {
                rest.next();
                part(&mut open, 1);
            }
            _ => part(&mut open, 1),
        }
    }
    open.into_iter().fold(0, |all, (sum, last)| all.saturating_add(sum).saturating_add(last))
}

/// Another part of the innermost group that is open.
fn part(open: &mut Vec<(u64, u64)>, size: u64) {
    match open.last_mut() {
        Some((sum, last)) => {
            *sum = sum.saturating_add(*last);
            *last = size;
        }
        // A `)` too many: the pattern is none, which whoever compiles it says.
        None => open.push((0, size)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_comes_to_what_is_repeated_in_it() {
        for (pattern, least, most) in [
            ("", 0, 0),
            ("^abc$", 5, 5),
            ("^ORD-[0-9]{6,10}$", 15, 30),
            ("(x{1000}){1000}", 1_000_000, 1_010_000),
            ("((x{100}){100}){100}", 1_000_000, 1_050_000),
            ("^(([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|::)$", 40, 100),
            ("[\\]{9}]{3}", 3, 8),
            ("\\{1000}", 1, 10),
            ("a{,5}b{2,}c{x}", 7, 20),
            (")))a{9}", 9, 20),
            ("(((a", 1, 5),
            ("[a{99999}", 1, 1),
            ("a{18446744073709551615}{9}", u64::MAX, u64::MAX),
        ] {
            let steps = steps(pattern);
            assert!((least..=most).contains(&steps), "{pattern}: {steps}");
        }
    }
}
