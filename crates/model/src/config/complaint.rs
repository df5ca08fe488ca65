//! What is wrong with a value, before it is known where the value stands.

/// A refusal of one value: it becomes a [`super::Problem`] in a file and a [`super::FlagError`] on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Complaint {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// The candidate a person most likely meant, if one is near enough to be worth naming.
pub(crate) fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters wrong is still a slip; more is another word.
    let tolerance = (text.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&text.to_lowercase(), candidate), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min()
        .map(|(_, candidate)| candidate)
}

/// A list for a sentence: `` `a`, `b` ``.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Text of an untrusted file made harmless for a terminal and for a log: no escape sequence and no reordering gets
/// through, and no key of a caller that somebody has written into a file in place of its digest.
/// Each character stays one character, so that carets keep pointing at the right one.
pub(crate) fn harmless(text: &str) -> String {
    without_keys(text)
        .chars()
        .map(|c| match c {
            '\t' | '\n' | '\r' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                char::REPLACEMENT_CHARACTER
            }
            c => c,
        })
        .collect()
}

/// What keys of callers begin with, as `fumehood serve --new-key` makes them.
const KEY: &str = "fh_";
/// From how many characters on something behind it is taken for a key.
const LEAST: usize = 16;

fn without_keys(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(KEY) {
        shown.extend([before, KEY]);
        let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let end = behind.find(|c| !is_of_key(c)).unwrap_or(behind.len());
        let (key, after) = behind.split_at_checked(end).unwrap_or((behind, ""));
        if end < LEAST {
            shown += key;
        } else {
            shown.extend(std::iter::repeat_n('*', end));
        }
        rest = after;
    }
    shown + rest
}
