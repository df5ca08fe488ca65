//! Problems of a configuration file, each with its place and a remedy.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::complaint::{Complaint, harmless};

/// One thing wrong with a file.
///
/// INVARIANT: line and column lie inside the file's text, and no text holds a control character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    file: String,
    line: usize,
    column: usize,
    text: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip)]
    excerpt: Excerpt,
}

/// The part of a source line that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    line: String,
    /// Characters before the caret run, and in it.
    before: usize,
    width: usize,
}

impl Problem {
    /// The file, as the caller named it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Column in characters, counted from 1. One past the last character of the line where something is missing there.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The offending text: at most its first line, shortened to 80 characters.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is wrong: lower case, no full stop.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The problem with its source line and a row of carets, over several lines, without colour and without a line
    /// end after the last.
    pub fn render(&self) -> String {
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let Self { file, line, column, message, excerpt, .. } = self;
        let (before, carets) = (" ".repeat(excerpt.before), "^".repeat(excerpt.width));
        let help = self.help.iter().map(|help| format!("\n{gutter} = help: {help}"));
        let text = format!(
            "error: {message}\n{gutter}--> {file}:{line}:{column}\n{gutter} |\n{number} | {}\n{gutter} | {before}{carets}",
            excerpt.line
        );
        help.fold(text, |text, help| text + &help)
    }
}

impl fmt::Display for Problem {
    /// On one line, without the help: `fumehood.toml:3:1: unknown key …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// All problems of one file, in the order of their places. Never empty when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// The most that are collected: whoever mends a hundred runs the check again.
    pub const MOST: usize = 100;

    /// The problems, by place.
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }

    /// The problems, by place.
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }
}

impl fmt::Display for Problems {
    /// Every problem rendered, with an empty line between two.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            f.write_str(&problem.render())?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The text of a file and what was found wrong with it so far.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<Problem>,
    left_out: HashSet<Vec<String>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, found: Vec::new(), left_out: HashSet::new() }
    }

    /// Notes that the entry at this path of keys is missing from what was read, because it is wrong.
    pub(crate) fn leave_out(&mut self, path: Vec<String>) {
        self.left_out.insert(path);
    }

    /// Whether an entry is missing only because it, or what was most likely meant to be it, is wrong.
    pub(crate) fn is_left_out(&self, path: &[&str]) -> bool {
        self.left_out.iter().any(|left_out| left_out.iter().map(String::as_str).eq(path.iter().copied()))
    }

    /// Notes a problem at a span of bytes; a span out of the text is moved into it.
    pub(crate) fn add(&mut self, span: Range<usize>, complaint: &Complaint) {
        if self.found.len() >= Problems::MOST {
            return;
        }
        let start = self.text.floor_char_boundary(span.start);
        let end = self.text.floor_char_boundary(span.end).max(start);
        let (head, tail) = self.text.split_at_checked(start).unwrap_or((self.text, ""));
        let (spanned, _) = tail.split_at_checked(end - start).unwrap_or((tail, ""));
        let line_head = head.rsplit('\n').next().unwrap_or(head);
        let line_tail = tail.split('\n').next().unwrap_or(tail);
        let first_line = spanned.split('\n').next().unwrap_or(spanned).trim_end_matches('\r');
        self.found.push(Problem {
            file: harmless(self.file),
            line: head.matches('\n').count() + 1,
            column: line_head.chars().count() + 1,
            text: harmless(&shortened(first_line, 80)),
            message: harmless(&complaint.message),
            help: complaint.help.as_deref().map(harmless),
            excerpt: excerpt(line_head, line_tail.trim_end_matches('\r'), first_line.chars().count()),
        });
    }

    /// The value where nothing was found wrong, else all problems by place.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, Problems> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => {
                self.found.sort_by_key(|problem| (problem.line, problem.column));
                self.found.dedup();
                Err(Problems(self.found))
            }
        }
    }
}

/// Characters shown on each side of the place, so that a line of a megabyte does not fill a screen.
const CONTEXT: usize = 60;

fn excerpt(head: &str, tail: &str, width: usize) -> Excerpt {
    let head_len = head.chars().count();
    let shown_head: String = head.chars().skip(head_len.saturating_sub(CONTEXT)).collect();
    let shown_tail: String = tail.chars().take(CONTEXT + 20).collect();
    let elided_head = if head_len > CONTEXT { "…" } else { "" };
    let elided_tail = if shown_tail.len() < tail.len() { "…" } else { "" };
    Excerpt {
        before: elided_head.chars().count() + shown_head.chars().count(),
        width: width.clamp(1, shown_tail.chars().count().max(1)),
        line: format!("{elided_head}{}{}{elided_tail}", harmless(&shown_head), harmless(&shown_tail)),
    }
}

fn shortened(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
