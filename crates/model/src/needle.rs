//! Finding a secret in a text without having the secret.
//!
//! Whoever has the values makes a [`Needle`] of each; whoever looks for them has the needles alone. A needle tells of its
//! value the length, 16 bits that depend on eight of its bytes, and a salted SHA-256: enough to recognise it, and for
//! nothing else but trying whole values, which a generated key withstands and a short password does not.

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::digest::Digest;

/// Bytes that a value has at least to be looked for. A shorter one would be met by chance.
pub const SHORTEST: usize = 8;

/// Bytes that a value has at most to be looked for.
pub const LONGEST: usize = 64 << 10;

/// Bytes that are looked at first.
const ANCHOR: usize = 8;

/// What needles are made with: 32 random bytes, one set for all needles that are looked for together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeedleKey([u8; 32]);

/// What a value is recognised by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needle {
    /// Bytes of the value, [`SHORTEST`] to [`LONGEST`].
    length: u32,
    /// 16 bits of eight bytes of it that stand at a place the key decides.
    anchor: u16,
    /// SHA-256 over the key and the value.
    digest: Digest,
}

impl NeedleKey {
    /// From random bytes.
    pub fn new(random: [u8; 32]) -> Self {
        Self(random)
    }

    /// Its bytes, for whoever makes needles elsewhere.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// How many bytes stand before the anchor in a value of this length. Not the first ones: many keys begin alike, and
    /// who knows how could make every place of a text look like one.
    fn before(&self, length: usize) -> usize {
        let places = length.saturating_sub(ANCHOR).saturating_add(1);
        usize::try_from(self.word(0) % u64::try_from(places).unwrap_or(u64::MAX)).unwrap_or(0)
    }

    fn word(&self, at: usize) -> u64 {
        self.0.iter().skip(at * 8).take(8).fold(0, |word, byte| word << 8 | u64::from(*byte))
    }

    fn multiplier(&self) -> u64 {
        self.word(1) | 1
    }

    fn digest(&self, value: &[u8]) -> Digest {
        Digest::new(sha2::Sha256::new().chain_update(self.0).chain_update(value).finalize().into())
    }
}

impl Needle {
    /// Of this value. Nothing for one that is shorter than [`SHORTEST`] or longer than [`LONGEST`].
    pub fn of(value: &[u8], key: &NeedleKey) -> Option<Self> {
        if !(SHORTEST..=LONGEST).contains(&value.len()) {
            return None;
        }
        let mut window = Window::new(key);
        let mut anchor = 0;
        for byte in value.iter().skip(key.before(value.len())).take(ANCHOR) {
            anchor = window.push(*byte);
        }
        Some(Self { length: u32::try_from(value.len()).ok()?, anchor, digest: key.digest(value) })
    }
}

/// Needles, laid out for searching.
#[derive(Debug, Clone)]
pub struct Needles {
    key: NeedleKey,
    /// By anchor.
    sorted: Vec<Sought>,
    /// One bit for each anchor there is; empty where there are no needles.
    anchors: Vec<u64>,
    shortest: usize,
}

#[derive(Debug, Clone)]
struct Sought {
    anchor: u16,
    before: usize,
    length: usize,
    digest: Digest,
    label: usize,
}

/// How the search of one text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No needle is in it.
    Nothing,
    /// The needle with this number, counted from 0 as they were given.
    Needle(usize),
    /// More places than are looked at look like the beginning of one.
    TooManyPlaces,
}

impl Needles {
    /// To look for these.
    pub fn new(key: NeedleKey, needles: &[Needle]) -> Self {
        let mut sorted: Vec<Sought> = Vec::with_capacity(needles.len());
        for (label, needle) in needles.iter().enumerate() {
            let length = usize::try_from(needle.length).unwrap_or(usize::MAX);
            if (SHORTEST..=LONGEST).contains(&length) {
                let before = key.before(length);
                sorted.push(Sought { anchor: needle.anchor, before, length, digest: needle.digest, label });
            }
        }
        sorted.sort_by_key(|sought| sought.anchor);
        let mut anchors = vec![0; if sorted.is_empty() { 0 } else { 1 << 10 }];
        for sought in &sorted {
            if let Some(word) = anchors.get_mut(usize::from(sought.anchor >> 6)) {
                *word |= 1 << (sought.anchor & 63);
            }
        }
        let shortest = sorted.iter().map(|sought| sought.length).min().unwrap_or(usize::MAX);
        Self { key, sorted, anchors, shortest }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Looks through a text. `budget` is how many bytes may be hashed where something looks like a value; what was used is
    /// taken from it.
    pub fn find(&self, text: &[u8], budget: &mut usize) -> Found {
        if text.len() < self.shortest {
            return Found::Nothing;
        }
        let mut window = Window::new(&self.key);
        for (at, byte) in text.iter().enumerate() {
            let anchor = window.push(*byte);
            let listed = self.anchors.get(usize::from(anchor >> 6)).copied().unwrap_or(0);
            if at + 1 < ANCHOR || listed >> (anchor & 63) & 1 == 0 {
                continue;
            }
            let first = self.sorted.partition_point(|sought| sought.anchor < anchor);
            for sought in
                self.sorted.get(first..).unwrap_or_default().iter().take_while(|one| one.anchor == anchor)
            {
                let Some(start) = (at + 1).checked_sub(ANCHOR + sought.before) else { continue };
                let Some(place) = text.get(start..start.saturating_add(sought.length)) else { continue };
                match budget.checked_sub(place.len()) {
                    Some(left) => *budget = left,
                    None => return Found::TooManyPlaces,
                }
                if self.key.digest(place) == sought.digest {
                    return Found::Needle(sought.label);
                }
            }
        }
        Found::Nothing
    }
}

/// The last eight bytes, and 16 bits of them.
struct Window {
    bytes: u64,
    multiplier: u64,
}

impl Window {
    fn new(key: &NeedleKey) -> Self {
        Self { bytes: 0, multiplier: key.multiplier() }
    }

    fn push(&mut self, byte: u8) -> u16 {
        self.bytes = self.bytes << 8 | u64::from(byte);
        // The upper bits depend on all bytes of the window; the lower ones on the last alone.
        (self.bytes.wrapping_mul(self.multiplier) >> 48) as u16
    }
}

#[cfg(test)]
mod tests;
