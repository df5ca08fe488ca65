//! Looking for a value, in each way of writing it down that a program might use.

use aho_corasick::AhoCorasick;

/// What a value looks like wherever it could lie.
#[derive(Debug)]
pub(crate) struct Needles {
    names: Vec<String>,
    all: AhoCorasick,
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Needles {
    /// As it is, in hexadecimal, and in base64 after any number of other bytes.
    pub(crate) fn of(value: &str) -> Self {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
        let hex: String = value.bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        let mut needles = vec![
            ("as it is".to_owned(), value.as_bytes().to_vec()),
            ("in hexadecimal".to_owned(), hex.to_ascii_uppercase().into_bytes()),
            ("in hexadecimal".to_owned(), hex.into_bytes()),
        ];
        for before in 0..3 {
            let core = base64_core(value.as_bytes(), before);
            let of_urls = core.iter().map(|byte| match byte {
                b'+' => b'-',
                b'/' => b'_',
                byte => *byte,
            });
            let of_urls = of_urls.collect();
            needles.push((format!("in base64 after {before} bytes"), core));
            needles.push((format!("in base64 of URLs after {before} bytes"), of_urls));
        }
        let all = AhoCorasick::new(needles.iter().map(|(_, needle)| needle)).unwrap();
        Self { names: needles.into_iter().map(|(name, _)| name).collect(), all }
    }

    /// How the value stands in these bytes.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<&str> {
        self.all.find(bytes).map(|found| self.names[found.pattern().as_usize()].as_str())
    }
}

/// The letters that depend on nothing but the value, which begins at this place of a group of three bytes.
fn base64_core(value: &[u8], before: usize) -> Vec<u8> {
    let bit = |at: usize| {
        let (byte, bit) = (at / 8, at % 8);
        value.get(byte).map_or(0, |byte| (byte >> (7 - bit)) & 1)
    };
    // The first letter that begins in the value begins this many bits into it.
    let skipped = match before {
        0 => 0,
        1 => 4,
        _ => 2,
    };
    let letters = (value.len() * 8 - skipped) / 6;
    let letter = |number: usize| {
        let bits = (0..6).fold(0_u8, |letter, at| letter << 1 | bit(skipped + number * 6 + at));
        STANDARD[usize::from(bits)]
    };
    (0..letters).map(letter).collect()
}

#[test]
fn a_value_is_found_however_it_is_written() {
    let needles = Needles::of("ghp_R3alValue?>~");
    // As `base64` and `xxd` write it.
    for (text, how) in [
        ("x ghp_R3alValue?>~ y", "as it is"),
        ("6768705F5233616C56616C75653F3E7E", "in hexadecimal"),
        ("..6768705f5233616c56616c75653f3e7e", "in hexadecimal"),
        ("Z2hwX1IzYWxWYWx1ZT8+fg==", "in base64 after 0 bytes"),
        ("Z2hwX1IzYWxWYWx1ZT8-fg", "in base64 of URLs after 0 bytes"),
        ("OmdocF9SM2FsVmFsdWU/Pn4=", "in base64 after 1 bytes"),
        ("bTpnaHBfUjNhbFZhbHVlPz5+", "in base64 after 2 bytes"),
    ] {
        assert_eq!(needles.find(text.as_bytes()), Some(how), "{text}");
    }
    assert_eq!(needles.find(b"ghp_R3alValue?> ~ and Z2hwX1IzYWxWYWx1ZT9+"), None);
}
