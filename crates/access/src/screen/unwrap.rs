//! Encodings taken off, without knowing whether there are any: every reading of a text that somebody else could have.

/// Shortest text that can come out.
const SHORTEST: usize = model::needle::SHORTEST;

/// Gives `look` every reading of the text, until it returns something.
pub(super) fn each<T>(text: &[u8], look: &mut dyn FnMut(&[u8]) -> Option<T>) -> Option<T> {
    percent(text)
        .and_then(|inner| look(&inner))
        .or_else(|| escapes(text).and_then(|inner| look(&inner)))
        .or_else(|| hexadecimal(text, look))
        .or_else(|| base64(text, look))
}

/// Percent encoding (RFC 3986, section 2.1), where there is any. A `+` is left: it is one in a path.
fn percent(text: &[u8]) -> Option<Vec<u8>> {
    if !text.contains(&b'%') {
        return None;
    }
    let decoded: Vec<u8> = percent_encoding::percent_decode(text).collect();
    (decoded.len() != text.len()).then_some(decoded)
}

/// Escapes of a JSON string (RFC 8259, section 7), where there are any.
fn escapes(text: &[u8]) -> Option<Vec<u8>> {
    if !text.contains(&b'\\') {
        return None;
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let escaped = match (byte, after.first()) {
            (b'\\', Some(b'n')) => b'\n',
            (b'\\', Some(b'r')) => b'\r',
            (b'\\', Some(b't')) => b'\t',
            (b'\\', Some(b'b')) => 8,
            (b'\\', Some(b'f')) => 12,
            (b'\\', Some(b'u')) => {
                let code = after.get(1..5).and_then(|digits| {
                    digits.iter().try_fold(0_u32, |code, digit| Some(code << 4 | u32::from(nibble(*digit)?)))
                });
                let Some(code) = code else {
                    decoded.push(*byte);
                    continue;
                };
                // Halves of a pair stay apart: a value that has such characters is not recognised.
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after.get(5..).unwrap_or_default();
                continue;
            }
            (b'\\', Some(other)) => *other,
            _ => {
                decoded.push(*byte);
                continue;
            }
        };
        decoded.push(escaped);
        rest = after.get(1..).unwrap_or_default();
    }
    Some(decoded)
}

/// Hexadecimal digits in a row, white space aside, from the first and from the second one.
fn hexadecimal<T>(text: &[u8], look: &mut dyn FnMut(&[u8]) -> Option<T>) -> Option<T> {
    rows(text, nibble, 2 * SHORTEST, &mut |row| {
        (0..2).find_map(|skipped| {
            let row = row.get(skipped..).unwrap_or_default();
            let bytes: Vec<u8> = row
                .chunks_exact(2)
                .map(|pair| pair.iter().fold(0, |byte, nibble| byte << 4 | nibble))
                .collect();
            look(&bytes)
        })
    })
}

/// Characters of base64 or base64url (RFC 4648, sections 4 and 5) in a row, white space aside, from each of the first four: what
/// stands before may belong to it or not.
fn base64<T>(text: &[u8], look: &mut dyn FnMut(&[u8]) -> Option<T>) -> Option<T> {
    rows(text, sextet, (4 * SHORTEST).div_ceil(3), &mut |row| {
        (0..4).find_map(|skipped| {
            let row = row.get(skipped..).unwrap_or_default();
            let mut bytes = Vec::with_capacity(row.len());
            for group in row.chunks(4) {
                let bits = group.iter().fold(0_u32, |bits, sextet| bits << 6 | u32::from(*sextet));
                // Two characters are one byte and four bits, three are two bytes and two bits.
                let [_, one, two, three] = (bits << (6 * (4 - group.len()))).to_be_bytes();
                bytes.extend([one, two, three].into_iter().take(group.len() * 3 / 4));
            }
            look(&bytes)
        })
    })
}

/// Every row of at least `least` digits, as their values.
fn rows<T>(
    text: &[u8],
    digit: fn(u8) -> Option<u8>,
    least: usize,
    look: &mut dyn FnMut(&[u8]) -> Option<T>,
) -> Option<T> {
    let mut row = Vec::new();
    for byte in text {
        if let Some(value) = digit(*byte) {
            row.push(value);
        } else if !byte.is_ascii_whitespace() {
            if row.len() >= least
                && let Some(found) = look(&row)
            {
                return Some(found);
            }
            row.clear();
        }
    }
    if row.len() >= least { look(&row) } else { None }
}

fn nibble(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
