//! The forms in which a value is looked for: as it is, base64 and base64url at the three places it can have in a group of
//! three bytes, and hexadecimal in both cases. Each of them is found however its bytes are spelled ([`super::spelling`]).

use std::sync::Arc;

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use super::key::Key;
use super::spelling;

/// One form of one text, and what takes its place.
pub(crate) struct Needle {
    /// What is looked for.
    pub(crate) from: Zeroizing<Vec<u8>>,
    /// What is written instead.
    pub(crate) to: Zeroizing<Vec<u8>>,
    /// Whether `to` is written as it is, and not byte by byte in the spelling that was found.
    pub(crate) whole: bool,
    /// The base64 character behind, which holds the last bits of the text.
    pub(crate) shared: Option<Shared>,
    /// How the text is encoded.
    pub(crate) form: Form,
    /// Whose it is: the place of the key among those it was made from.
    pub(crate) owner: usize,
}

/// How a text is encoded in a needle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Not at all.
    Text,
    /// Two hexadecimal digits a byte.
    Hex,
    /// Base64 (RFC 4648 §4), or its variant for URLs (§5).
    Base64,
}

/// The upper bits of a base64 character that belong to the text before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared {
    url: bool,
    /// How many of its six bits.
    bits: u32,
    from: u8,
    to: u8,
}

impl Shared {
    /// What becomes of the character; none if it is not one of the text.
    pub(crate) fn replaced(self, character: u8) -> Option<u8> {
        let alphabet = if self.url { URL } else { STANDARD };
        let value = alphabet.iter().position(|own| *own == character).and_then(|at| u8::try_from(at).ok())?;
        let low = 6 - self.bits;
        let fits = value >> low == self.from;
        let new = self.to << low | (value & ((1 << low) - 1));
        if fits { alphabet.get(usize::from(new)).copied() } else { None }
    }
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What takes the values of keys out of answers, the values before a change too.
pub(crate) fn scrubbing(keys: &[Arc<Key>]) -> Vec<Needle> {
    let mut needles = Vec::new();
    for (owner, key) in keys.iter().enumerate() {
        for value in key.values() {
            let stand_in = stand_in(value, key.placeholder().as_str().as_bytes());
            all_forms(value, &stand_in, owner, &mut needles);
        }
    }
    needles
}

/// What finds the placeholders of keys.
pub(crate) fn watching(keys: &[Arc<Key>]) -> Vec<Needle> {
    let mut needles = Vec::new();
    for (owner, key) in keys.iter().enumerate() {
        let text = key.placeholder().as_str().as_bytes();
        all_forms(text, text, owner, &mut needles);
    }
    needles
}

/// What writes the values of keys. `escaped` is how a value is written as a whole where the cell's placeholder does not
/// have its shape.
pub(crate) fn writing(keys: &[Arc<Key>], escaped: fn(&[u8]) -> Vec<u8>) -> Vec<Needle> {
    let needle = |(owner, key): (usize, &Arc<Key>)| {
        let whole = !key.same_shape();
        let to = if whole { escaped(key.value()) } else { key.value().to_vec() };
        Needle {
            from: Zeroizing::new(key.placeholder().as_str().as_bytes().to_vec()),
            to: Zeroizing::new(to),
            whole,
            shared: None,
            form: Form::Text,
            owner,
        }
    };
    keys.iter().enumerate().map(needle).collect()
}

/// The placeholder in the shape of `value`: itself, or for a value that took the place of another one, its letters and
/// digits over and over.
fn stand_in(value: &[u8], placeholder: &[u8]) -> Zeroizing<Vec<u8>> {
    let fits = value.len() == placeholder.len()
        && value
            .iter()
            .zip(placeholder)
            .all(|(a, b)| a == b || (a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric()));
    if fits {
        return Zeroizing::new(placeholder.to_vec());
    }
    let mut letters = placeholder.iter().filter(|byte| byte.is_ascii_alphanumeric()).cycle();
    let shaped = value.iter().map(|byte| {
        if byte.is_ascii_alphanumeric() { letters.next().copied().unwrap_or(b'x') } else { *byte }
    });
    Zeroizing::new(shaped.collect())
}

fn all_forms(from: &[u8], to: &[u8], owner: usize, into: &mut Vec<Needle>) {
    let mut add = |from: Vec<u8>, to: Vec<u8>, form, shared| {
        let known = into.iter().any(|needle| *needle.from == from && needle.owner == owner);
        let (from, to) = (Zeroizing::new(from), Zeroizing::new(to));
        if !known {
            into.push(Needle { from, to, whole: false, shared, form, owner });
        }
    };
    add(from.to_vec(), to.to_vec(), Form::Text, None);
    let plus = |bytes: &[u8]| bytes.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect();
    add(plus(from), plus(to), Form::Text, None);
    for upper in [false, true] {
        let digits = |bytes: &[u8]| bytes.iter().flat_map(|byte| spelling::hex(*byte, upper)).collect();
        add(digits(from), digits(to), Form::Hex, None);
    }
    for (url, engine) in [(false, &STANDARD_NO_PAD), (true, &URL_SAFE_NO_PAD)] {
        for before in 0..3 {
            let (core, bits, last) = within_base64(from, before, engine, url);
            let (new, _, new_last) = within_base64(to, before, engine, url);
            let shared = (bits > 0).then_some(Shared { url, bits, from: last, to: new_last });
            add(core, new, Form::Base64, shared);
        }
    }
}

/// The base64 characters that `text` alone decides when `before` bytes of its first group of three are somebody else's;
/// then how many of its bits are in the next character, and which.
fn within_base64(text: &[u8], before: usize, engine: &GeneralPurpose, url: bool) -> (Vec<u8>, u32, u8) {
    let mut bytes = Zeroizing::new(vec![0; before]);
    bytes.extend_from_slice(text);
    let bits = bytes.len() * 8;
    bytes.extend_from_slice(&[0, 0]);
    let encoded = Zeroizing::new(engine.encode(&*bytes));
    let encoded = encoded.as_bytes();
    let first = (before * 8).div_ceil(6);
    let core = encoded.get(first..bits / 6).unwrap_or_default().to_vec();
    let left = u32::try_from(bits % 6).unwrap_or_default();
    let alphabet = if url { URL } else { STANDARD };
    let last = encoded.get(bits / 6).and_then(|next| alphabet.iter().position(|own| own == next));
    let last = last.and_then(|last| u8::try_from(last).ok()).unwrap_or_default() >> (6 - left);
    (core, left, last)
}
