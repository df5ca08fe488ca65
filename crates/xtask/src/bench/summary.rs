//! Numbers about numbers.

use std::time::Duration;

/// Median and the tenth and ninetieth percentile of some times, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) p10: f64,
    pub(super) median: f64,
    pub(super) p90: f64,
}

impl Summary {
    /// None of nothing.
    pub(super) fn of(times: &[Duration]) -> Option<Self> {
        let mut sorted: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1000.0).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |percent: usize| sorted.get((sorted.len().checked_sub(1)? * percent + 50) / 100).copied();
        Some(Self { p10: at(10)?, median: at(50)?, p90: at(90)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let times: Vec<Duration> = (1..=11).rev().map(Duration::from_millis).collect();
        assert_eq!(Summary::of(&times), Some(Summary { p10: 2.0, median: 6.0, p90: 10.0 }));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[Duration::from_millis(3)]).map(|s| (s.p10, s.p90)), Some((3.0, 3.0)));
    }
}
