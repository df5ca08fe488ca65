//! Characters that a terminal obeys instead of showing them.

use super::Rule;
use crate::review::{
    finding::{Finding, Severity},
    text::{Role, Text},
};

#[derive(Debug)]
pub(super) struct Terminal;

const CODE: &str = "terminal-control";

impl Rule for Terminal {
    fn code(&self) -> &'static str {
        CODE
    }

    fn about(&self) -> &'static str {
        "has characters in it that a terminal obeys instead of showing them"
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        let mut chars = text.text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|(_, c)| *c);
            let (severity, message) = match c {
                '\u{1b}' | '\u{90}' | '\u{9b}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => (
                    Severity::Danger,
                    "has a terminal's escape sequence in it, which can hide or replace text",
                ),
                '\r' if after == Some('\n') => continue,
                '\u{8}' | '\r' => (Severity::Warning, "goes back on its line, which can replace text"),
                '\n' | '\t' if text.role == Role::Prose => continue,
                _ if c.is_control() => (Severity::Warning, "has a control character in it"),
                _ => continue,
            };
            let end =
                if c == '\u{1b}' || c == '\u{9b}' { sequence(text.text, at) } else { at + c.len_utf8() };
            while chars.peek().is_some_and(|(next, _)| *next < end) {
                chars.next();
            }
            let (place, message) = (text.place.clone(), message.to_owned());
            out.push(Finding { code: CODE, severity, place, range: at..end, message });
        }
    }
}

/// Where the control sequence that begins here ends (ECMA-48, 5.4).
fn sequence(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let body = rest.strip_prefix("\u{1b}[").or_else(|| rest.strip_prefix('\u{9b}'));
    let Some(body) = body else { return at + rest.chars().next().map_or(0, char::len_utf8) };
    let parameters = body.bytes().take(32).take_while(|byte| (0x20..0x40).contains(byte)).count();
    let has_final = body.as_bytes().get(parameters).is_some_and(|byte| (0x40..0x7f).contains(byte));
    at + (rest.len() - body.len()) + parameters + usize::from(has_final)
}
