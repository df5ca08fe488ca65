//! The name by which OpenSSL finds a certificate in a folder: a digest of its subject (x509_hash of openssl-x509(1)).

use sha1::{Digest, Sha1};

/// Tags of DER (X.690): the kinds of text a name may be of that are ASCII or UTF-8.
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const UTF8_STRING: u8 = 0x0c;
const TEXTS: [u8; 4] = [UTF8_STRING, 0x13, 0x16, 0x1a];
const VERSION: u8 = 0xa0;

/// Eight hexadecimal digits; `None` where it is no certificate with a readable subject.
pub(super) fn hash(certificate: &[u8]) -> Option<String> {
    let (mut left, mut canonical) = (subject(certificate)?, Vec::new());
    while !left.is_empty() {
        let (set, rest) = within(left, SET)?;
        put(&mut canonical, SET, &attributes(set)?);
        left = rest;
    }
    let digest = Sha1::digest(&canonical);
    let first: [u8; 4] = digest.get(..4)?.try_into().ok()?;
    Some(format!("{:08x}", u32::from_le_bytes(first)))
}

/// The inside of the subject: the fifth field of what is signed, not counting the version (RFC 5280 §4.1).
fn subject(certificate: &[u8]) -> Option<&[u8]> {
    let (outer, _) = within(certificate, SEQUENCE)?;
    let (mut left, _) = within(outer, SEQUENCE)?;
    if left.first() == Some(&VERSION) {
        left = value(left)?.2;
    }
    for _serial_algorithm_issuer_validity in 0..4 {
        left = value(left)?.2;
    }
    Some(within(left, SEQUENCE)?.0)
}

/// Attributes of one part of a name, their texts in lower case, without spaces around and with single ones within.
fn attributes(mut set: &[u8]) -> Option<Vec<u8>> {
    let mut canonical = Vec::new();
    while !set.is_empty() {
        let (attribute, rest) = within(set, SEQUENCE)?;
        let (_, _, after) = value(attribute)?;
        let kind = attribute.get(..attribute.len() - after.len())?;
        let (tag, text, _) = value(after)?;
        let mut inner = kind.to_vec();
        if TEXTS.contains(&tag) {
            let words: Vec<&str> = std::str::from_utf8(text).ok()?.split_ascii_whitespace().collect();
            put(&mut inner, UTF8_STRING, words.join(" ").to_ascii_lowercase().as_bytes());
        } else {
            inner.extend_from_slice(after);
        }
        put(&mut canonical, SEQUENCE, &inner);
        set = rest;
    }
    Some(canonical)
}

/// The inside of a value of this tag, and what follows it.
fn within(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, inside, rest) = value(der)?;
    (found == tag).then_some((inside, rest))
}

/// Tag, inside and rest of the first value.
fn value(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, after) = der.split_first()?;
    let (&short, after) = after.split_first()?;
    let (len, after) = match short {
        0..=0x7f => (usize::from(short), after),
        0x81..=0x83 => {
            let (bytes, after) = after.split_at_checked(usize::from(short & 0x7f))?;
            (bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), after)
        }
        _ => return None,
    };
    let (inside, rest) = after.split_at_checked(len)?;
    Some((tag, inside, rest))
}

fn put(der: &mut Vec<u8>, tag: u8, inside: &[u8]) {
    der.push(tag);
    let len = inside.len();
    let bytes = len.to_be_bytes();
    match len {
        0..=0x7f => der.extend(bytes.last()),
        0x80..=0xff => {
            der.push(0x81);
            der.extend(bytes.last());
        }
        _ => {
            // A name of 64 KiB is none.
            der.push(0x82);
            der.extend(bytes.iter().skip(bytes.len() - 2));
        }
    }
    der.extend_from_slice(inside);
}
