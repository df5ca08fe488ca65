//! Characters that change what is read without being seen.

use model::visible::is_hidden;

/// The text with every hidden character spelled as `<U+202E>`. Line ends and tabs stay, and so do the joiners and
/// selectors that scripts and pictograms are written with, one at a time and where they belong.
pub fn visible(text: &str) -> String {
    shown(text).unwrap_or_else(|| text.to_owned())
}

/// The text as in [`visible`], where it differs.
pub(super) fn shown(text: &str) -> Option<String> {
    if !text.chars().any(is_hidden) {
        return None;
    }
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !is_hidden(c) || belongs(before, c, rest.peek().copied()) {
            shown.push(c);
        } else {
            shown.extend([format!("<U+{:04X}>", u32::from(c))]);
        }
        before = Some(c);
    }
    (shown != text).then_some(shown)
}

fn belongs(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        '\n' | '\t' => true,
        '\r' => after == Some('\n'),
        '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(is_pictogram) || after == Some('\u{20e3}'),
        '\u{200d}' if after.is_some_and(is_pictogram) => before.is_some_and(is_joined),
        '\u{200c}' | '\u{200d}' => before.is_some_and(joins) && after.is_some_and(joins),
        _ => false,
    }
}

/// Pictograms, with those of older blocks (UTS #51).
fn is_pictogram(c: char) -> bool {
    matches!(u32::from(c), 0xA9 | 0xAE | 0x203C..=0x203D | 0x2049 | 0x2122..=0x2139 | 0x2190..=0x21FF
        | 0x2300..=0x23FF | 0x2460..=0x24FF | 0x25A0..=0x27BF | 0x2900..=0x297F | 0x2B00..=0x2BFF
        | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..=0x1FAFF)
}

/// What a joiner of pictograms follows.
fn is_joined(c: char) -> bool {
    is_pictogram(c) || c == '\u{fe0f}'
}

/// Letters of scripts that are written with joiners: Arabic and its neighbours, those of India and of South-East Asia.
fn joins(c: char) -> bool {
    matches!(u32::from(c), 0x620..=0x6D5 | 0x6EE..=0x74F | 0x750..=0x7FF | 0x8A0..=0x8E1 | 0x900..=0x109F
        | 0x1780..=0x17B3 | 0x17B6..=0x17DD | 0x1820..=0x18AA | 0xA840..=0xA877)
}
