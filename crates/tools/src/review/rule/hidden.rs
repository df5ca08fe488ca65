//! Characters that nobody sees and a model reads.

use super::Rule;
use crate::{
    review::{
        finding::{Finding, Severity},
        fold::is_mark,
        shape::belongs,
        text::{Role, Text},
    },
    visible::{excerpt, is_hidden},
};

/// Characters without a shape.
#[derive(Debug)]
pub(super) struct Hidden;

/// Characters that turn the direction of the text around them.
#[derive(Debug)]
pub(super) struct Direction;

/// Text after so much white space that nobody scrolls to it.
#[derive(Debug)]
pub(super) struct OutOfSight;

/// What kind of hidden character one is; a row of one kind is one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Tag,
    Selector,
    Turn,
    Mark,
    Stacked,
    Private,
    Shapeless,
}

impl Rule for Hidden {
    fn code(&self) -> &'static str {
        "hidden-characters"
    }

    fn about(&self) -> &'static str {
        "has characters in it that nobody sees"
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        for (sort, range, count) in rows(text.text) {
            let part = text.text.get(range.clone()).unwrap_or_default();
            let (severity, message) = match sort {
                Sort::Tag => (Severity::Danger, format!("says unseen: `{}`", excerpt(&untagged(part), 80))),
                Sort::Selector if count > 1 => {
                    (Severity::Danger, format!("carries {count} unseen bytes in variation selectors"))
                }
                Sort::Selector => (Severity::Note, "has a variation selector where none belongs".to_owned()),
                Sort::Stacked if count > 4 => (
                    Severity::Warning,
                    format!("has {count} marks on one letter, which covers what is around it"),
                ),
                Sort::Private => {
                    (Severity::Warning, "has characters in it that mean something else everywhere".to_owned())
                }
                Sort::Shapeless if count >= 8 => {
                    (Severity::Danger, format!("has {count} characters without a shape in a row"))
                }
                Sort::Shapeless => (
                    Severity::Warning,
                    "has a character in it without a shape, within what is read".to_owned(),
                ),
                Sort::Turn | Sort::Mark | Sort::Stacked => continue,
            };
            out.push(Finding { code: self.code(), severity, place: text.place.clone(), range, message });
        }
    }
}

impl Rule for Direction {
    fn code(&self) -> &'static str {
        "text-direction"
    }

    fn about(&self) -> &'static str {
        "turns the direction of text, so that it is read otherwise than it stands"
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        let is_right_to_left =
            |c: char| matches!(u32::from(c), 0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC);
        for (sort, range, _) in rows(text.text) {
            let (severity, message) = match sort {
                Sort::Turn => (Severity::Danger, "turns the direction of what follows"),
                Sort::Mark if text.text.chars().any(is_right_to_left) => {
                    (Severity::Note, "has a mark of direction in it")
                }
                Sort::Mark => {
                    (Severity::Warning, "has a mark of direction in it, and nothing that needs one")
                }
                _ => continue,
            };
            let (place, message) = (text.place.clone(), message.to_owned());
            out.push(Finding { code: self.code(), severity, place, range, message });
        }
    }
}

/// So many line ends, or so many blanks, leave a screen.
const LINES: usize = 20;
const BLANKS: usize = 120;

impl Rule for OutOfSight {
    fn code(&self) -> &'static str {
        "out-of-sight"
    }

    fn about(&self) -> &'static str {
        "has text after so much white space that nobody scrolls to it"
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        if text.role != Role::Prose {
            return;
        }
        let mut begin = 0;
        for (end, c) in text.text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let gap = text.text.get(begin..end).unwrap_or_default();
            let lines = gap.matches('\n').count();
            if lines >= LINES || gap.chars().count() >= BLANKS {
                let message =
                    format!("has text after {lines} empty lines and {} blanks", gap.chars().count() - lines);
                let place = text.place.clone();
                out.push(Finding {
                    code: self.code(),
                    severity: Severity::Warning,
                    place,
                    range: begin..end,
                    message,
                });
            }
            begin = end + c.len_utf8();
        }
    }
}

/// Rows of hidden characters of one kind, with how many there are.
fn rows(text: &str) -> Vec<(Sort, std::ops::Range<usize>, usize)> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut rows: Vec<(Sort, std::ops::Range<usize>, usize)> = Vec::new();
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        if let Some(sort) = sort(c).filter(|_| !belongs(before, c, after)) {
            match rows.last_mut() {
                Some((last, range, count)) if *last == sort && range.end == at => {
                    range.end = at + c.len_utf8();
                    *count += 1;
                }
                _ => rows.push((sort, at..at + c.len_utf8(), 1)),
            }
        }
        before = Some(c);
    }
    rows
}

fn sort(c: char) -> Option<Sort> {
    Some(match u32::from(c) {
        0xE0000..=0xE007F => Sort::Tag,
        0xFE00..=0xFE0F | 0xE0100..=0xE01EF => Sort::Selector,
        0x202A..=0x202E | 0x2066..=0x2069 => Sort::Turn,
        0x200E | 0x200F | 0x61C => Sort::Mark,
        0xE000..=0xF8FF | 0xF0000..=0x0010_FFFD => Sort::Private,
        _ if is_mark(c) => Sort::Stacked,
        _ if is_hidden(c) && !c.is_control() => Sort::Shapeless,
        _ => return None,
    })
}

/// What tag characters say (Unicode 17, chapter 23.9: ASCII, moved to U+E0000).
fn untagged(tags: &str) -> String {
    tags.chars().filter_map(|c| char::from_u32(u32::from(c).saturating_sub(0xE0000))).collect()
}
