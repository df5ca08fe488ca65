//! Private keys, by how they look.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde_json::{Map, Value};

/// What kinds of private keys say of themselves, and what they are called. Whoever only speaks of such a key writes the
/// words and no key after them.
const MARKS: [(&str, Kind); 7] = [
    ("PRIVATE KEY-----", Kind::Armoured("PEM")),
    ("PRIVATE KEY BLOCK-----", Kind::Armoured("PGP")),
    ("AGE-SECRET-KEY-1", Kind::Follows("age")),
    ("AGE-SECRET-KEY-PQ-1", Kind::Follows("age")),
    ("openssh-key-v1\0", Kind::Itself("OpenSSH")),
    ("\"d\"", Kind::Member),
    ("\"k\"", Kind::Member),
];

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A line of base64 follows (RFC 7468, RFC 9580).
    Armoured(&'static str),
    /// Digits of Bech32 follow.
    Follows(&'static str),
    /// The mark is in nothing else.
    Itself(&'static str),
    /// A member of a JSON Web Key (RFC 7517).
    Member,
}

/// Characters of base64 in a row that are a line of a key: of an Ed25519 key the only line has 64.
const LINE: usize = 32;
/// How far after the mark a line may begin: headers stand in between.
const HEADERS: usize = 4096;

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(MARKS.map(|(mark, _)| mark)).ok()
});

/// What kind of private key is in the text.
pub(super) fn kind(text: &[u8]) -> Option<&'static str> {
    // Seven short words can always be compiled; should they not be, nothing is let through.
    let Some(search) = SEARCH.as_ref() else { return Some("the search for keys cannot be made") };
    search.find_iter(text).find_map(|found| {
        let (_, kind) = MARKS.get(found.pattern().as_usize())?;
        let rest = text.get(found.end()..).unwrap_or_default();
        match kind {
            Kind::Itself(name) => Some(*name),
            Kind::Armoured(name) => has_line(rest).then_some(*name),
            Kind::Follows(name) => has_row(rest, 40, u8::is_ascii_alphanumeric).then_some(*name),
            Kind::Member => {
                (is_member(rest) && text.windows(5).any(|five| five == b"\"kty\"")).then_some("JWK")
            }
        }
    })
}

/// Whether this object is a JSON Web Key with its private part.
pub(super) fn is_jwk(members: &Map<String, Value>) -> bool {
    let text = |name: &str| members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("kty").is_some_and(|kind| text("d").is_some() || (kind == "oct" && text("k").is_some()))
}

/// Whether a line of base64 is near.
fn has_line(rest: &[u8]) -> bool {
    let mut row = 0;
    rest.iter().take(HEADERS).any(|byte| {
        row = if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/') { row + 1 } else { 0 };
        row >= LINE
    })
}

/// Whether what follows is that many of these.
fn has_row(rest: &[u8], length: usize, is_one: impl Fn(&u8) -> bool) -> bool {
    rest.iter().take(length).take_while(|byte| is_one(byte)).count() == length
}

/// Whether what follows a member's name is base64url of a key's length.
fn is_member(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let Some(rest) = rest.strip_prefix(b":") else { return false };
    let Some(rest) = rest.trim_ascii_start().strip_prefix(b"\"") else { return false };
    has_row(rest, 20, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
