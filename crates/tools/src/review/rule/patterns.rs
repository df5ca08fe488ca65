//! A rule that is a table of patterns.

use regex::bytes::{Regex, RegexBuilder};

use super::Rule;
use crate::review::{
    finding::{Finding, Severity},
    text::{Role, Text},
};

/// A line of the table: how bad, what the text does, and the pattern that shows it.
///
/// Patterns are those of the crate `regex`, over the folded text, with two signs more: a space stands for what may be
/// between two words of one phrase, and `…` for up to ninety characters of one sentence.
pub(super) type Line = (Severity, &'static str, &'static str);

/// A rule that is a table of patterns.
#[derive(Debug)]
pub(super) struct Patterns {
    code: &'static str,
    about: &'static str,
    roles: &'static [Role],
    lines: Vec<(Severity, &'static str, Regex)>,
}

/// Most findings of one line in one text.
const MOST: usize = 4;

impl Patterns {
    pub(super) fn new(
        code: &'static str,
        about: &'static str,
        roles: &'static [Role],
        lines: &[Line],
    ) -> Self {
        let lines =
            lines.iter().map(|(severity, says, pattern)| (*severity, *says, compile(pattern))).collect();
        Self { code, about, roles, lines }
    }
}

impl Rule for Patterns {
    fn code(&self) -> &'static str {
        self.code
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        if !self.roles.contains(&text.role) {
            return;
        }
        for (severity, says, pattern) in &self.lines {
            for found in pattern.find_iter(text.folded().as_bytes()).take(MOST) {
                out.push(Finding {
                    code: self.code,
                    severity: *severity,
                    place: text.place.clone(),
                    range: text.received(found.range()),
                    message: (*says).to_owned(),
                });
            }
        }
    }
}

/// Compiles a pattern of a table.
#[expect(clippy::expect_used, reason = "patterns are constants, and a test compiles every one")]
pub(super) fn compile(pattern: &str) -> Regex {
    // Without Unicode every state is a byte's: folded texts have few other letters, and those stand for themselves.
    RegexBuilder::new(&spelled_out(pattern))
        .unicode(false)
        .size_limit(32 << 20)
        .build()
        .expect("a pattern of a table")
}

/// The pattern with the two signs of a table spelled out; a space in a class of characters is a space.
fn spelled_out(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len() * 4);
    let (mut in_class, mut is_escaped) = (false, false);
    for c in pattern.chars() {
        match c {
            ' ' if !in_class => text.push_str("(?:[^a-z0-9<>]{1,3})"),
            '…' => text.push_str("(?:[^.!?]|[.][a-z0-9_/]){0,90}?"),
            _ => text.push(c),
        }
        match c {
            _ if is_escaped => {}
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text
}
