//! What stands in the cell for a key.

use std::fmt;
use std::sync::Arc;

use secrets::plaintext::Plaintext;

/// A text of the shape of one value, which tells nothing but that shape: the same length, the same known prefix
/// (`ghp_`), punctuation in the same places, a digit for a digit, and a letter for a letter of the same case. So clients
/// that look at the form of a key take it, and it takes as many bytes as the value in every encoding.
///
/// It is no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Placeholder {
    text: Arc<str>,
    /// What is random in it, in thousandths of a bit.
    random: u32,
}

/// Beginnings that say whose key it is. Longer ones stand before their own beginnings.
const PREFIXES: [&str; 45] = [
    "github_pat_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "gldt-",
    "glrt-",
    "npm_",
    "pypi-",
    "sk-ant-api03-",
    "sk-ant-",
    "sk-proj-",
    "sk-svcacct-",
    "sk-or-v1-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "pk_live_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "hf_",
    "r8_",
    "gsk_",
    "dop_v1_",
    "SG.",
    "lin_api_",
    "ntn_",
    "figd_",
    "shpat_",
    "hvs.",
    "dckr_pat_",
    "tskey-",
    "tvly-",
    "pat-",
    "key-",
];

impl Placeholder {
    /// Least randomness of a placeholder in use, in bits: nobody meets it by chance, or guesses it.
    pub const MIN_BITS: u32 = 60;

    /// A fresh one for `value`.
    ///
    /// Where the classes of characters leave too little to chance (a number), letters and digits of any kind take their
    /// place. Where the machine gives no randomness the result has none, and [`Key::new`](super::Key::new) refuses it.
    pub fn for_value(value: &Plaintext) -> Self {
        let value = value.expose();
        let kept = kept(value);
        let narrow = Self::drawn(value, &kept, false);
        if narrow.bits() >= Self::MIN_BITS { narrow } else { Self::drawn(value, &kept, true) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What is random in it, in bits.
    pub fn bits(&self) -> u32 {
        self.random / 1000
    }

    fn drawn(value: &[u8], kept: &[std::ops::Range<usize>], wide: bool) -> Self {
        let mut dice = Dice::default();
        let own = value.iter().enumerate().filter(|(at, _)| !kept.iter().any(|range| range.contains(at)));
        let hex = hex_case(own.map(|(_, byte)| *byte));
        let (mut text, mut random) = (String::with_capacity(value.len()), 0);
        for (at, byte) in value.iter().enumerate() {
            let class = match *byte {
                _ if kept.iter().any(|range| range.contains(&at)) => &[][..],
                // The first keeps its upper four bits: in base64 they can share a character with what stands before.
                _ if at == 0 => half_class(*byte),
                byte if wide && byte.is_ascii_alphanumeric() => ALL,
                b'0'..=b'9' => DIGITS,
                b'a'..=b'f' if hex == Some(Case::Lower) => HEX_LOWER,
                b'A'..=b'F' if hex == Some(Case::Upper) => HEX_UPPER,
                b'a'..=b'z' => LOWER,
                b'A'..=b'Z' => UPPER,
                _ => &[],
            };
            match dice.pick(class) {
                Ok(Some(drawn)) => {
                    random += millibits(class.len());
                    text.push(char::from(drawn));
                }
                Ok(None) if matches!(byte, b' '..=b'~') => text.push(char::from(*byte)),
                Ok(None) => text.push('-'),
                Err(NoDice) => return Self { text: "-".repeat(value.len()).into(), random: 0 },
            }
        }
        Self { text: text.into(), random }
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether `value` begins as keys of a known maker do, and goes on.
pub(crate) fn is_known_kind(value: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| value.len() >= prefix.len() + 8 && value.starts_with(prefix.as_bytes()))
}

/// The parts that say what kind of key it is.
fn kept(value: &[u8]) -> Vec<std::ops::Range<usize>> {
    if let Some(prefix) = PREFIXES.iter().find(|prefix| value.starts_with(prefix.as_bytes())) {
        return std::iter::once(0..prefix.len()).collect();
    }
    // A JSON Web Token (RFC 7519): the first part says which algorithm, the second begins as JSON does.
    let dots: Vec<usize> = memchr::memchr_iter(b'.', value).collect();
    match dots.as_slice() {
        [first, second] if value.starts_with(b"eyJ") && *second > first + 8 => {
            let begins = value.get(first + 1..).is_some_and(|rest| rest.starts_with(b"eyJ"));
            if begins { vec![0..*first, first + 1..first + 4] } else { vec![0..*first, 0..0] }
        }
        _ => Vec::new(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

/// Whether all letters are hexadecimal digits of one case; none if there are none.
fn hex_case(bytes: impl Iterator<Item = u8>) -> Option<Case> {
    let mut case = None;
    for byte in bytes.filter(u8::is_ascii_alphabetic) {
        let this = match byte {
            b'a'..=b'f' => Case::Lower,
            b'A'..=b'F' => Case::Upper,
            _ => return None,
        };
        if *case.get_or_insert(this) != this {
            return None;
        }
    }
    case
}

const DIGITS: &[u8] = b"0123456789";
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HEX_LOWER: &[u8] = b"abcdef";
const HEX_UPPER: &[u8] = b"ABCDEF";
const ALL: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Those of the class of `byte` whose upper four bits are the same.
fn half_class(byte: u8) -> &'static [u8] {
    match byte {
        b'0'..=b'9' => DIGITS,
        b'a'..=b'f' => HEX_LOWER,
        b'A'..=b'F' => HEX_UPPER,
        b'g'..=b'o' => b"ghijklmno",
        b'p'..=b'z' => b"pqrstuvwxyz",
        b'G'..=b'O' => b"GHIJKLMNO",
        b'P'..=b'Z' => b"PQRSTUVWXYZ",
        _ => &[],
    }
}

/// A thousand times the binary logarithm of the size of a class, rounded down.
fn millibits(size: usize) -> u32 {
    match size {
        0 | 1 => 0,
        2..=8 => 2000,
        9 => 3169,
        10..=25 => 3321,
        26..=61 => 4700,
        _ => 5954,
    }
}

/// The machine has no randomness to give.
struct NoDice;

/// Random bytes, asked for by the handful.
#[derive(Default)]
struct Dice {
    bytes: Vec<u8>,
}

impl Dice {
    /// One of `class`, each as likely as the others; none of an empty one.
    fn pick(&mut self, class: &[u8]) -> Result<Option<u8>, NoDice> {
        let Ok(size @ 1..) = u8::try_from(class.len()) else { return Ok(None) };
        let fair = u8::MAX - (u8::MAX % size + 1) % size;
        loop {
            let Some(byte) = self.bytes.pop() else {
                self.bytes.resize(64, 0);
                getrandom::fill(&mut self.bytes).map_err(|_| NoDice)?;
                continue;
            };
            if byte <= fair {
                return Ok(class.get(usize::from(byte % size)).copied());
            }
        }
    }
}

#[cfg(test)]
mod tests;
