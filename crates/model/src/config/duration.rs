//! Times as people write them: `500ms`, `30s`, `15m`, `2h`, `1d`.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::complaint::Complaint;

/// A time within its bounds. `label` is the key.
pub(super) fn within(
    label: &str,
    text: &str,
    bounds: &RangeInclusive<Duration>,
) -> Result<Duration, Complaint> {
    let range = || format!("from {} to {}", show(*bounds.start()), show(*bounds.end()));
    let time = parse(text).ok_or_else(|| {
        Complaint::new(format!("`{text}` is not a time"))
            .help(format!("write a number and a unit: ms, s, m, h, d; for example `30s`; {}", range()))
    })?;
    if bounds.contains(&time) {
        return Ok(time);
    }
    Err(Complaint::new(format!("`{label}` cannot be {}", show(time))).help(range()))
}

/// Whole numbers only, one unit: there is one way to write it, and `m` is never a month.
fn parse(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let factor = match unit.trim_start_matches(' ') {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(factor).map(Duration::from_millis)
}

fn show(time: Duration) -> String {
    let ms = time.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    match units.into_iter().find(|(_, factor)| ms >= *factor && ms.is_multiple_of(*factor)) {
        Some((unit, factor)) => format!("{}{unit}", ms / factor),
        None if ms == 0 => "0s".to_owned(),
        None => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_time_reads_as_it_is_shown(ms in 0_u64..10_000_000_000) {
            let time = Duration::from_millis(ms);
            prop_assert_eq!(parse(&show(time)), Some(time));
        }
    }

    #[test]
    fn everything_else_is_no_time() {
        for text in
            ["", "1", "s", "-1s", "1.5s", "1 M", "1mo", "1s1s", "1s ", "99999999999999999999d", "1\u{a0}s"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("90 s"), Some(Duration::from_secs(90)));
    }
}
