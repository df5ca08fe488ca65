//! Where in the arguments something stands.

use model::visible::excerpt;

/// One step into a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(key: &'a str) -> Self {
        Self::Key(key)
    }
}

impl From<usize> for Step<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// Steps that are shown; of more, the last ones, where the fault is.
const MOST_SHOWN: usize = 8;

/// `headers[0].value`; the arguments as a whole where there is no step.
pub(crate) fn show(steps: &[Step<'_>]) -> String {
    let left_out = steps.len().saturating_sub(MOST_SHOWN);
    let start = if left_out > 0 { "…" } else { "" };
    let text = steps.iter().skip(left_out).fold(start.to_owned(), |text, step| match step {
        Step::Index(index) => format!("{text}[{index}]"),
        Step::Key(key) if text.is_empty() => excerpt(key, 60),
        Step::Key(key) => format!("{text}.{}", excerpt(key, 60)),
    });
    if text.is_empty() { "the arguments".to_owned() } else { text }
}
