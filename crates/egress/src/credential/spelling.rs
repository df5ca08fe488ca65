//! In which ways one byte is spelled in texts: as itself, `%67`, `\u0067`, `\x67`, `&#x67;`, `&#103;`, `&amp;`, `\/`, and
//! each of them wrapped in itself a few times (`%2567`, `\\u0067`, `&amp;#x67;`), as happens to a text in a text.

/// One spelling of one byte at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The byte that is meant.
    pub(crate) byte: u8,
    /// How many bytes it takes.
    pub(crate) length: usize,
    digits: Digits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    /// The byte itself.
    Raw,
    /// Something that always means this byte: `\"`, `&amp;`, `+` for a blank.
    Fixed,
    /// Two hexadecimal digits at this offset.
    Hex(usize),
    /// So many decimal digits at this offset.
    Decimal(usize, usize),
}

/// Longest spelling, in bytes: `&amp;amp;#x000067;`.
pub(crate) const LONGEST: usize = 18;

/// Most escapes of an escape that are looked through.
const NESTED: usize = 3;
/// Longest run of backslashes: each text in a text doubles them.
const BACKSLASHES: usize = 8;
/// Most digits of a numeric reference.
const DIGITS: usize = 6;

/// Whether spellings other than the byte itself begin with this one.
pub(crate) fn begins(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'&')
}

/// Appends the spellings other than the byte itself that `bytes` begins with, and says whether more bytes could make
/// another one.
pub(crate) fn escapes(bytes: &[u8], into: &mut Vec<Unit>) -> bool {
    match bytes.first() {
        Some(b'%') => percent(bytes, into),
        Some(b'\\') => backslash(bytes, into),
        Some(b'&') => reference(bytes, into),
        _ => false,
    }
}

impl Unit {
    /// The byte as itself.
    pub(crate) const fn raw(byte: u8) -> Self {
        Self { byte, length: 1, digits: Digits::Raw }
    }

    /// `+` for a blank.
    pub(crate) const PLUS: Self = Self { byte: b' ', length: 1, digits: Digits::Fixed };

    /// Writes `byte` in the way in which `source` spells another one, in as many bytes.
    pub(crate) fn write(self, source: &[u8], byte: u8, out: &mut Vec<u8>) {
        let start = out.len();
        match self.digits {
            Digits::Raw => out.push(byte),
            Digits::Fixed if byte == self.byte => out.extend_from_slice(source),
            Digits::Fixed => out.resize(start + self.length, byte),
            Digits::Hex(offset) => {
                out.extend_from_slice(source);
                let old = source.get(offset..offset + 2).unwrap_or_default();
                let upper = old.iter().any(u8::is_ascii_uppercase)
                    || (source.first() == Some(&b'%') && !old.iter().any(u8::is_ascii_lowercase));
                put(out, start + offset, &hex(byte, upper));
            }
            Digits::Decimal(offset, count) => {
                out.extend_from_slice(source);
                // Where the old number had two digits and the new one needs three, another letter stands for it.
                let number = if count == 2 && byte > 99 { 97 + byte % 3 } else { byte };
                let three = [b'0' + number / 100, b'0' + number / 10 % 10, b'0' + number % 10];
                let (zeros, places) =
                    if count == 2 { (0, three.get(1..)) } else { (count - 3, Some(&three[..])) };
                for at in 0..zeros {
                    put(out, start + offset + at, b"0");
                }
                put(out, start + offset + zeros, places.unwrap_or_default());
            }
        }
    }
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// The two hexadecimal digits of a byte.
pub(crate) fn hex(byte: u8, upper: bool) -> [u8; 2] {
    let digit = |nibble: u8| match nibble {
        0..=9 => b'0' + nibble,
        _ if upper => b'A' + nibble - 10,
        _ => b'a' + nibble - 10,
    };
    [digit(byte >> 4), digit(byte & 15)]
}

/// The byte that two hexadecimal digits stand for.
fn unhex(digits: &[u8]) -> Option<u8> {
    let &[high, low] = digits else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Whether `bytes` are the beginning of two hexadecimal digits, and no more.
fn unfinished_hex(bytes: &[u8]) -> bool {
    bytes.len() < 2 && bytes.iter().all(u8::is_ascii_hexdigit)
}

fn tail(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}

fn percent(bytes: &[u8], into: &mut Vec<Unit>) -> bool {
    let mut at = 1;
    for _ in 0..=NESTED {
        let rest = tail(bytes, at);
        if unfinished_hex(rest) {
            return true;
        }
        let Some(byte) = rest.get(..2).and_then(unhex) else { return false };
        into.push(Unit { byte, length: at + 2, digits: Digits::Hex(at) });
        if byte != b'%' {
            return false;
        }
        at += 2;
    }
    false
}

fn backslash(bytes: &[u8], into: &mut Vec<Unit>) -> bool {
    let run = bytes.iter().take(BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    for length in 2..=run {
        into.push(Unit { byte: b'\\', length, digits: Digits::Fixed });
    }
    let rest = tail(bytes, run + 1);
    let offset = match bytes.get(run) {
        None => return true,
        Some(b'u') => {
            if rest.len() < 2 && rest.iter().all(|byte| *byte == b'0') {
                return true;
            }
            if !rest.starts_with(b"00") {
                return false;
            }
            run + 3
        }
        Some(b'x') => run + 1,
        Some(byte) if byte.is_ascii_punctuation() && *byte != b'\\' => {
            into.push(Unit { byte: *byte, length: run + 1, digits: Digits::Fixed });
            return false;
        }
        Some(_) => return false,
    };
    let rest = tail(bytes, offset);
    if let Some(byte) = rest.get(..2).and_then(unhex) {
        into.push(Unit { byte, length: offset + 2, digits: Digits::Hex(offset) });
    }
    unfinished_hex(rest)
}

/// Named references of HTML that stand for printable ASCII.
const NAMED: [(&[u8], u8); 12] = [
    (b"amp;", b'&'),
    (b"lt;", b'<'),
    (b"gt;", b'>'),
    (b"quot;", b'"'),
    (b"apos;", b'\''),
    (b"sol;", b'/'),
    (b"bsol;", b'\\'),
    (b"plus;", b'+'),
    (b"equals;", b'='),
    (b"lowbar;", b'_'),
    (b"period;", b'.'),
    (b"colon;", b':'),
];

fn reference(bytes: &[u8], into: &mut Vec<Unit>) -> bool {
    let (mut at, mut unfinished) = (1, false);
    for _ in 0..NESTED {
        let rest = tail(bytes, at);
        if rest.first() == Some(&b'#') {
            return number(bytes, at + 1, into) || unfinished;
        }
        for (name, byte) in NAMED {
            if rest.starts_with(name) {
                into.push(Unit { byte, length: at + name.len(), digits: Digits::Fixed });
            }
            unfinished |= rest.len() < name.len() && name.starts_with(rest);
        }
        if !rest.starts_with(b"amp;") {
            break;
        }
        at += 4;
    }
    unfinished
}

fn number(bytes: &[u8], at: usize, into: &mut Vec<Unit>) -> bool {
    let hexadecimal = matches!(bytes.get(at), Some(b'x' | b'X'));
    let first = at + usize::from(hexadecimal);
    let is_digit = |byte: &&u8| if hexadecimal { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    let digits = tail(bytes, first);
    let count = digits.iter().take(DIGITS).take_while(is_digit).count();
    match digits.get(count) {
        None => return true,
        Some(b';') if count >= 2 => {}
        Some(_) => return false,
    }
    let digits = digits.get(..count).unwrap_or_default();
    let value = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, if hexadecimal { 16 } else { 10 }).ok());
    if let Some(byte) = value.and_then(|value| u8::try_from(value).ok()) {
        let digits = if hexadecimal { Digits::Hex(first + count - 2) } else { Digits::Decimal(first, count) };
        into.push(Unit { byte, length: first + count + 1, digits });
    }
    false
}

#[cfg(test)]
mod tests;
