//! Finding needles in bytes that come in pieces.

use std::fmt;
use std::ops::Range;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use super::needle::{Form, Needle};
use super::spelling::{self, Unit};

/// Needles, ready to be looked for.
pub struct Needles {
    all: Vec<Needle>,
    /// Finds the first bytes of every needle; none if there are no needles.
    exact: Option<AhoCorasick>,
    /// For each pattern of `exact` the needles that begin so, the longest first.
    begun: Vec<Vec<usize>>,
    /// Bytes that some needle begins with.
    first: [bool; 256],
    /// Bytes of any needle.
    any: [bool; 256],
    /// Bytes that some needle ends with.
    last: [bool; 256],
    /// Pairs of bytes that stand beside one another in some needle, one bit each.
    pairs: Vec<u64>,
    longest: usize,
}

/// What was found in a piece.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// From first to last, none over another.
    pub(crate) found: Vec<Found>,
    /// From here on the piece may be the beginning of a needle, and has to be looked at again with what follows.
    pub(crate) held: usize,
}

/// One needle in a piece.
pub(crate) struct Found {
    /// Where.
    pub(crate) range: Range<usize>,
    /// Whose it is.
    pub(crate) owner: usize,
    /// Whether it stands there as it is, without any encoding.
    pub(crate) plain: bool,
    /// Whether its bytes are spelled in some way, but not in base64 or hexadecimal as a whole.
    pub(crate) as_text: bool,
    /// What takes its place.
    pub(crate) with: Vec<u8>,
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("range", &self.range)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Needles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Needles").field("count", &self.all.len()).finish_non_exhaustive()
    }
}

/// Bytes of a needle that are looked for at first. Few, since they are copied; enough to be rare.
const BEGINNING: usize = 12;

impl Needles {
    pub(crate) fn new(needles: Vec<Needle>) -> Self {
        let mut patterns: Vec<Vec<u8>> = Vec::new();
        let mut begun: Vec<Vec<usize>> = Vec::new();
        let (mut first, mut any, mut last, mut longest) = ([false; 256], [false; 256], [false; 256], 0);
        let mut pairs = vec![0_u64; 1024];
        for (index, needle) in needles.iter().enumerate() {
            let beginning = needle.from.get(..BEGINNING).unwrap_or(&needle.from);
            if let Some(at) = patterns.iter().position(|known| known == beginning) {
                begun.get_mut(at).into_iter().for_each(|list| list.push(index));
            } else {
                patterns.push(beginning.to_vec());
                begun.push(vec![index]);
            }
            let mark = |set: &mut [bool; 256], byte: u8| {
                if let Some(place) = set.get_mut(usize::from(byte)) {
                    *place = true;
                }
            };
            needle.from.first().into_iter().for_each(|byte| mark(&mut first, *byte));
            needle.from.iter().for_each(|byte| mark(&mut any, *byte));
            needle.from.last().into_iter().for_each(|byte| mark(&mut last, *byte));
            for pair in needle.from.windows(2) {
                let (word, bit) = place_of_pair(pair);
                pairs.get_mut(word).into_iter().for_each(|word| *word |= bit);
            }
            longest = longest.max(needle.from.len());
        }
        let length = |index: &usize| needles.get(*index).map_or(0, |needle| needle.from.len());
        for list in &mut begun {
            list.sort_by_key(|index| std::cmp::Reverse(length(index)));
        }
        // Patterns of a dozen bytes, a few dozen of them: far from any limit of the builder.
        let exact = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&patterns).ok();
        Self {
            all: needles,
            exact: exact.filter(|_| !patterns.is_empty()),
            begun,
            first,
            any,
            last,
            pairs,
            longest,
        }
    }

    /// Looks at a piece; `end` says that nothing follows it.
    pub(crate) fn look(&self, bytes: &[u8], end: bool) -> Look {
        let mut look = Look { found: Vec::new(), held: bytes.len() };
        self.find_exact(bytes, end, &mut look);
        self.find_spelled(bytes, end, &mut look);
        look.found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
        let mut done = 0;
        look.found.retain(|found| {
            let apart = found.range.start >= done;
            done = if apart { found.range.end } else { done };
            apart
        });
        if !end {
            look.held = look.held.min(self.unfinished(bytes, done));
            // What was held before the first byte of a needle may be the beginning of a longer one.
            look.found.retain(|found| found.range.start < look.held);
            let last = look.found.last().map_or(0, |found| found.range.end);
            look.held = look.held.max(last);
        }
        look
    }

    /// The whole of `bytes` with everything found replaced; none if there is nothing.
    pub(crate) fn edited(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let look = self.look(bytes, true);
        (!look.found.is_empty()).then(|| look.rewritten(bytes))
    }

    /// Needles as they are.
    fn find_exact(&self, bytes: &[u8], end: bool, look: &mut Look) {
        let Some(exact) = &self.exact else { return };
        let mut at = 0;
        while let Some(hit) = exact.find(Input::new(bytes).span(at..bytes.len())) {
            let start = hit.start();
            let rest = bytes.get(start..).unwrap_or_default();
            at = start + 1;
            let begun = self.begun.get(hit.pattern().as_usize()).into_iter().flatten();
            for needle in begun.filter_map(|index| self.all.get(*index)) {
                if !end && needle.from.len() > rest.len() && needle.from.starts_with(rest) {
                    look.held = look.held.min(start);
                    return;
                }
                if !rest.starts_with(&needle.from) {
                    continue;
                }
                let stop = start + needle.from.len();
                if needle.shared.is_some() && stop == bytes.len() && !end {
                    look.held = look.held.min(start);
                    return;
                }
                let found = made(needle, bytes, start..stop, needle.form == Form::Text, needle.to.to_vec());
                at = found.range.end;
                look.found.push(found);
                break;
            }
        }
    }

    /// Needles with a byte that is spelled otherwise than as itself.
    fn find_spelled(&self, bytes: &[u8], end: bool, look: &mut Look) {
        let reach = self.longest * spelling::LONGEST;
        let mut done = 0;
        let mut units = Vec::new();
        for at in memchr::memchr3_iter(b'%', b'\\', b'&', bytes) {
            if at < done {
                continue;
            }
            units.clear();
            let unfinished = spelling::escapes(bytes.get(at..).unwrap_or_default(), &mut units);
            let likely = |unit: &Unit| self.could_go_on(unit.byte, bytes.get(at + unit.length));
            if (!unfinished || end) && !units.iter().any(likely) {
                continue;
            }
            let mut start = done.max(at.saturating_sub(reach));
            while start <= at {
                match self.spelled_at(bytes, start, end) {
                    Spelled::Found(found) => {
                        start = found.range.end;
                        look.found.push(found);
                    }
                    Spelled::Unfinished => {
                        look.held = look.held.min(start);
                        start += 1;
                    }
                    Spelled::No => start += 1,
                }
            }
            done = start;
        }
    }

    /// Whether some needle holds `byte` and what follows it, or ends with it. Most escapes in a page are nobody's.
    fn could_go_on(&self, byte: u8, next: Option<&u8>) -> bool {
        if self.any.get(usize::from(byte)) != Some(&true) {
            return false;
        }
        let Some(next) = next else { return true };
        let (word, bit) = place_of_pair(&[byte, *next]);
        spelling::begins(*next)
            || *next == b'+'
            || self.pairs.get(word).is_some_and(|word| word & bit != 0)
            || self.last.get(usize::from(byte)) == Some(&true)
    }

    fn spelled_at(&self, bytes: &[u8], start: usize, end: bool) -> Spelled {
        let Some(byte) = bytes.get(start) else { return Spelled::No };
        if !spelling::begins(*byte) && *byte != b'+' && self.first.get(usize::from(*byte)) != Some(&true) {
            return Spelled::No;
        }
        let mut unfinished = false;
        let mut longest: Option<Found> = None;
        for needle in &self.all {
            match follow(&needle.from, bytes, start, end) {
                Followed::No => {}
                Followed::Unfinished => unfinished = true,
                Followed::To(units) => {
                    let stop = start + units.iter().map(|unit| unit.length).sum::<usize>();
                    if needle.shared.is_some() && stop == bytes.len() && !end {
                        unfinished = true;
                        continue;
                    }
                    let found = respelled(needle, bytes, start, &units);
                    if longest.as_ref().is_none_or(|longest| longest.range.end < found.range.end) {
                        longest = Some(found);
                    }
                }
            }
        }
        match longest {
            // What is found may be the beginning of another value.
            _ if unfinished => Spelled::Unfinished,
            Some(found) => Spelled::Found(found),
            None => Spelled::No,
        }
    }

    /// Where the longest beginning of a needle stands that the piece ends with, at `from` or later. Beginnings with an
    /// unfinished spelling at the end were seen by [`Needles::find_spelled`].
    fn unfinished(&self, bytes: &[u8], from: usize) -> usize {
        let mut held = bytes.len();
        for needle in &self.all {
            let Some(first) = needle.from.first() else { continue };
            let start = from.max(bytes.len().saturating_sub(needle.from.len() - 1));
            let window = bytes.get(start..held).unwrap_or_default();
            for at in memchr::memchr_iter(*first, window) {
                let rest = bytes.get(start + at..).unwrap_or_default();
                if needle.from.starts_with(rest) {
                    held = start + at;
                    break;
                }
            }
        }
        held
    }
}

impl Look {
    /// What of `bytes` is done with, everything found replaced.
    pub(crate) fn rewritten(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.held);
        let mut at = 0;
        for found in &self.found {
            out.extend_from_slice(bytes.get(at..found.range.start).unwrap_or_default());
            out.extend_from_slice(&found.with);
            at = found.range.end;
        }
        out.extend_from_slice(bytes.get(at..self.held).unwrap_or_default());
        out
    }
}

/// The word and the bit of a pair of bytes.
fn place_of_pair(pair: &[u8]) -> (usize, u64) {
    let number = pair.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
    (number / 64, 1 << (number % 64))
}

/// A needle at `range`, with the character of base64 behind that holds its last bits.
fn made(needle: &Needle, bytes: &[u8], mut range: Range<usize>, plain: bool, mut with: Vec<u8>) -> Found {
    let next = bytes.get(range.end).copied();
    if let Some(new) = needle.shared.zip(next).and_then(|(shared, next)| shared.replaced(next)) {
        with.push(new);
        range.end += 1;
    }
    Found { range, owner: needle.owner, plain, as_text: needle.form == Form::Text, with }
}

/// A needle whose bytes are spelled as `units` say.
fn respelled(needle: &Needle, bytes: &[u8], start: usize, units: &[Unit]) -> Found {
    let mut with = Vec::new();
    let mut at = start;
    for (unit, new) in units.iter().zip(needle.to.iter()) {
        let source = bytes.get(at..at + unit.length).unwrap_or_default();
        unit.write(source, *new, &mut with);
        at += unit.length;
    }
    let at = start + units.iter().map(|unit| unit.length).sum::<usize>();
    if needle.whole {
        with = needle.to.to_vec();
    }
    let plain = needle.form == Form::Text && at - start == needle.from.len();
    made(needle, bytes, start..at, plain, with)
}

enum Spelled {
    No,
    Unfinished,
    Found(Found),
}

enum Followed {
    No,
    /// The bytes end before the needle does.
    Unfinished,
    To(Vec<Unit>),
}

/// Reads `needle` from `start` on, each byte in any spelling. Where bytes can be read in two ways both are tried, in a
/// number of steps that grows with the length of the needle only.
fn follow(needle: &[u8], bytes: &[u8], start: usize, end: bool) -> Followed {
    let mut taken: Vec<Unit> = Vec::new();
    let mut others: Vec<(usize, usize, Unit)> = Vec::new();
    let mut options: Vec<Unit> = Vec::new();
    let (mut at, mut unfinished) = (start, false);
    for _ in 0..needle.len() * 16 + 256 {
        let Some(want) = needle.get(taken.len()) else { return Followed::To(taken) };
        options.clear();
        match bytes.get(at) {
            None => unfinished |= !end,
            Some(byte) => {
                if spelling::begins(*byte) {
                    let more = spelling::escapes(bytes.get(at..).unwrap_or_default(), &mut options);
                    unfinished |= more && !end;
                    options.retain(|unit| unit.byte == *want);
                }
                if byte == want {
                    options.push(Unit::raw(*want));
                } else if (*byte, *want) == (b'+', b' ') {
                    options.push(Unit::PLUS);
                }
            }
        }
        let next = options.pop();
        others.extend(options.iter().map(|unit| (taken.len(), at, *unit)));
        let next = match next {
            Some(next) => next,
            None => match others.pop() {
                Some((depth, place, unit)) => {
                    taken.truncate(depth);
                    at = place;
                    unit
                }
                None if unfinished => return Followed::Unfinished,
                None => return Followed::No,
            },
        };
        at += next.length;
        taken.push(next);
    }
    if taken.len() == needle.len() { Followed::To(taken) } else { Followed::No }
}

#[cfg(test)]
mod tests;
