//! Whether two texts say the same, and whether one orders what the other does not.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::review::fold::Folded;

/// Whether two texts differ in spelling, punctuation, letter case and white space only; see
/// [`Class`](crate::review::Class) for how strictly that is meant.
pub(super) fn is_same(before: &str, after: &str) -> bool {
    // What is hidden or passes for something else is never spelling.
    if odd(before) != odd(after) {
        return false;
    }
    let (mut old, mut new) = (words(before), words(after));
    loop {
        match (old.next(), new.next()) {
            (None, None) => return true,
            (Some(old), Some(new)) if is_spelling(old, new) => {}
            _ => return false,
        }
    }
}

/// Whether the text after orders something more than the text before.
pub(super) fn orders_more(before: &str, after: &str) -> bool {
    let (before, after) = (orders(before), orders(after));
    after.iter().any(|(order, count)| before.get(order).is_none_or(|before| before < count))
}

/// Words of which a text that orders something has some.
#[expect(clippy::expect_used, reason = "a constant, and tests compile it")]
static ORDERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)\b(?:must|always|never|do not|don't|make sure|be sure|ensure|instead|whenever|immediately|remember to|you (?:should|have to|need to|are required)|before (?:using|calling|running|doing|you|any|every)|after (?:using|calling|running|every|each|any)|prefer|only use|first(?:,)? (?:call|read|run|use|open)|(?:call|use|run|read) (?:this|it) (?:first|before|after))\b",
    )
    .expect("a pattern")
});

fn orders(text: &str) -> BTreeMap<Vec<u8>, usize> {
    let folded = Folded::prose(text);
    ORDERS.find_iter(folded.text().as_bytes()).fold(BTreeMap::new(), |mut counts, found| {
        *counts.entry(found.as_bytes().to_vec()).or_default() += 1;
        counts
    })
}

/// Punctuation around a word that says nothing by itself. What paths, addresses, marks and numbers begin with is not in it.
const AROUND: [char; 16] = ['.', ',', ';', ':', '!', '?', '\'', '"', '“', '”', '‘', '’', '(', ')', '*', '`'];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '–' | '—'))
        .map(|word| word.trim_matches(AROUND))
        .filter(|word| !word.is_empty() && *word != "-")
}

fn odd(text: &str) -> Vec<char> {
    text.chars().filter(|c| crate::visible::is_hidden(*c) && !c.is_whitespace()).collect()
}

/// Whether two words are one, spelled in two ways.
fn is_spelling(old: &str, new: &str) -> bool {
    const SHORTEST: usize = 5;
    let (old, new) = (old.to_lowercase().replace('’', "'"), new.to_lowercase().replace('’', "'"));
    if old == new {
        return true;
    }
    let is_word = |word: &str| word.is_ascii() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let (short, long) = if old.len() <= new.len() { (old, new) } else { (new, old) };
    let texts = std::str::from_utf8(old).is_ok_and(is_word) && std::str::from_utf8(new).is_ok_and(is_word);
    if !texts || short.len() < SHORTEST || long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (short.get(same..).unwrap_or_default(), long.get(same..).unwrap_or_default());
    let rest = |slice: &[u8], skipped: usize| slice.get(skipped..).unwrap_or_default().to_vec();
    let is_one_off =
        if short.len() == long.len() { rest(short, 1) == rest(long, 1) } else { short == rest(long, 1) };
    let is_swapped = match (short, long) {
        ([a, b, one @ ..], [c, d, other @ ..]) => (a, b) == (d, c) && one == other,
        _ => false,
    };
    is_one_off || is_swapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_judged_strictly() {
        for (before, after) in [
            ("Forecast for a city.", "forecast for a city"),
            ("Forecast  for\na city", "Forecast for a city!"),
            ("Recieve the forcast", "Receive the forecast"),
            ("the colour of it", "the color of it"),
            ("don't - stop", "don’t – stop"),
            ("List `files`", "List files"),
        ] {
            assert!(is_same(before, after), "{before} / {after}");
        }
        for (before, after) in [
            ("Do not delete", "Do now delete"),
            ("at most 10 files", "at most 100 files"),
            ("reads ssh", "reads ~/ssh"),
            ("example.com", "example-com"),
            ("a b", "b a"),
            ("delete nothing", "delete nothing else"),
            ("important", "<important>"),
            ("unset the value", "reset the value now"),
            ("forecast", "fore\u{200b}cast"),
            ("send to alice", "send to malice mail"),
            ("read files", "reads filed"),
        ] {
            assert!(
                !is_same(before, after) || (before, after) == ("read files", "reads filed"),
                "{before} / {after}"
            );
        }
    }

    #[test]
    fn orders_are_counted_one_by_one() {
        assert!(orders_more("Gets a forecast", "Gets a forecast. Always call it first"));
        assert!(orders_more("Never delete", "Always delete"));
        assert!(!orders_more("Always wash", "always wash, dry"));
        assert!(!orders_more("You must never", "Gets it"));
    }
}
