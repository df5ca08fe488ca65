//! Columns of numbers, and their ratios.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::Path;
use super::load::Load;
use crate::bench::budget::judge_least;

/// What one path gave, a number a round.
#[derive(Debug, Default)]
pub(super) struct Column {
    rate: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    /// Microseconds the supervisor ran for each request or million of bytes.
    spent: Vec<f64>,
}

impl Column {
    /// Adds what a client told, and the microseconds the supervisor ran meanwhile.
    pub(super) fn add(&mut self, told: &Value, ran: Option<f64>) -> Result<()> {
        let number = |name: &str| told.get(name).and_then(Value::as_f64);
        self.rate.push(number("rate").context("the client told no rate")?);
        self.p50.extend(number("p50_us"));
        self.p99.extend(number("p99_us"));
        self.spent.extend(ran.zip(number("count")).map(|(ran, count)| ran / count));
        Ok(())
    }

    /// The rate over that of `base`, round by round.
    fn over(&self, base: &Self) -> Vec<f64> {
        self.rate.iter().zip(&base.rate).map(|(this, base)| this / base).collect()
    }
}

/// The tenth, fiftieth and ninetieth percentile; none of nothing.
fn spread(numbers: &[f64]) -> Option<[f64; 3]> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |percent: usize| sorted.get((last * percent + 50) / 100).copied();
    Some([at(10)?, at(50)?, at(90)?])
}

fn median(numbers: &[f64]) -> Option<f64> {
    spread(numbers).map(|[_, median, _]| median)
}

/// Prints and returns one load's row of every path, and judges those that have a budget.
pub(super) fn tell(load: &Load, paths: &[Path], columns: &[Column]) -> Value {
    let mut result = Map::new();
    let mut judged = Vec::new();
    for (path, column) in paths.iter().zip(columns) {
        let base = path.base.and_then(|base| {
            paths.iter().zip(columns).find(|(path, _)| path.name == base).map(|(_, column)| column)
        });
        let ratio = base.and_then(|base| spread(&column.over(base)));
        let [rate, p50, p99, spent] =
            [&column.rate, &column.p50, &column.p99, &column.spent].map(|numbers| median(numbers));
        let ratio_words = ratio.map_or_else(String::new, |[low, middle, high]| {
            format!(", {middle:.2}x {} ({low:.2} to {high:.2})", path.base.unwrap_or_default())
        });
        let times =
            p50.zip(p99).map_or_else(String::new, |(p50, p99)| format!(", p50 {p50:.0} us, p99 {p99:.0} us"));
        let spent_words = spent.map_or_else(String::new, |spent| format!(", supervisor {spent:.1} us each"));
        println!(
            "  {:<15} {:<18} {:>7.0} {}{times}{ratio_words}{spent_words}",
            load.name,
            path.name,
            rate.unwrap_or(f64::NAN),
            load.unit
        );
        let middle = ratio.map(|[_, middle, _]| middle);
        let numbers = json!({
            "rate": rate, "unit": load.unit, "p50_us": p50, "p99_us": p99, "supervisor_us_each": spent,
            "over": path.base, "ratio": middle, "ratio_p10_p90": ratio.map(|[low, _, high]| [low, high]),
        });
        result.insert(path.name.to_owned(), numbers);
        if let Some(least) = (path.least)(load.least) {
            judged.push((
                format!("{}, {} over {}", load.name, path.name, path.base.unwrap_or_default()),
                middle,
                least,
            ));
        }
    }
    let budgets: Vec<Value> =
        judged.iter().map(|(what, measured, least)| judge_least(what, *measured, *least)).collect();
    result.insert("budgets".to_owned(), budgets.into());
    Value::Object(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_its_round() {
        let column = |rates: [f64; 3]| Column { rate: rates.to_vec(), ..Column::default() };
        // The machine halves its speed in the middle; the ratio stays.
        let (direct, tunnel) = (column([100.0, 50.0, 100.0]), column([80.0, 40.0, 60.0]));
        assert_eq!(spread(&tunnel.over(&direct)), Some([0.6, 0.8, 0.8]));
        assert_eq!(spread(&[]), None);
    }
}
