//! A review in words: pages for a terminal, a line, and a form for programs.
//!
//! Nothing that a server says reaches the terminal as it is: hidden characters are spelled, what rules found is marked,
//! and every line of it stands behind a bar, so that no text passes for one of ours.

mod change;
mod entry;
mod lines;
mod report;

use super::finding::Severity;

pub use change::{diff_pages, diff_summary};
pub use entry::{pages, summary};
pub use report::{DiffReport, Held, Report};

/// How a page is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// How many columns there are; 20 at least are used.
    pub columns: usize,
    /// Whether colours are wanted. Without, marks stand around what is found, added and removed.
    pub colour: bool,
}

/// One page of a review, to be shown at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What it is about, on one line.
    pub title: String,
    /// The worst that is found on it.
    pub severity: Option<Severity>,
    /// Its lines, each with a line end.
    pub text: String,
}

#[cfg(test)]
mod tests;
