//! Texts within texts: base64, hexadecimal, percent signs, escapes.

use base64::{Engine as _, alphabet, engine};
use regex::bytes::Regex;

use super::{Rule, patterns::compile};
use crate::{
    review::{
        finding::{Finding, Severity},
        text::{Own, Role, Text},
    },
    visible::excerpt,
};

const CODE: &str = "encoded";

/// Takes a text's encoded parts apart and lets other rules look at what they say.
#[derive(Debug)]
pub(super) struct Encoded {
    inner: Vec<Box<dyn Rule>>,
    forms: Vec<(Form, Regex)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Base64,
    Hexadecimal,
    Percent,
    Escape,
    /// `l i k e   t h i s`.
    Spaced,
}

/// The shortest that are taken apart: shorter ones say nothing, and words look like them.
const FORMS: [(Form, &str); 5] = [
    (Form::Base64, r"(?-u:[A-Za-z0-9+/_-]{24,}={0,2})"),
    (Form::Hexadecimal, r"\b(?:0x)?[0-9A-Fa-f]{32,}\b|(?:\\x[0-9A-Fa-f]{2}){6,}"),
    (Form::Spaced, r"\b(?:[A-Za-z'](?-u:[\x20._-]{1,4})){8,}[A-Za-z]\b"),
    (Form::Percent, r"(?:[A-Za-z0-9_.~-]{0,40}%[0-9A-Fa-f]{2}){6,}[A-Za-z0-9_.~-]{0,40}"),
    (Form::Escape, r"(?:\\u\{?[0-9A-Fa-f]{4}\}?){6,}|(?:&#(?:x[0-9A-Fa-f]{2,4}|[0-9]{2,5});){6,}"),
];

/// From this length on, what cannot be read is worth a look even where it decodes to nothing.
const LONG: usize = 120;
/// Most parts that are taken apart in one text.
const MOST: usize = 32;

impl Encoded {
    pub(super) fn of(inner: Vec<Box<dyn Rule>>) -> Self {
        Self { inner, forms: FORMS.iter().map(|(form, pattern)| (*form, compile(pattern))).collect() }
    }

    fn judge(&self, text: &Text<'_>, form: Form, part: &str) -> Option<(Severity, String)> {
        if let Some(said) = decode(form, part).and_then(|bytes| readable(&bytes)) {
            let own = Own::default();
            let inner = Text::new(text.place, &said, &own);
            let mut found = Vec::new();
            self.inner.iter().for_each(|rule| rule.look(&inner, &mut found));
            let shown = excerpt(&said, 80);
            return match found.iter().max_by_key(|finding| finding.severity) {
                Some(worst) if worst.severity > Severity::Note => {
                    Some((Severity::Danger, format!("{} and encoded: `{shown}`", worst.message)))
                }
                // Addresses are written with percent signs by everybody.
                _ if form == Form::Percent => None,
                _ if said.split_whitespace().count() >= 3 => {
                    Some((Severity::Warning, format!("has an encoded text in it: `{shown}`")))
                }
                _ => Some((Severity::Note, format!("has an encoded word in it: `{shown}`"))),
            };
        }
        // A list of words with `/` or `-` between them is in base64's alphabet too.
        let is_long = part.len() >= LONG && !is_worded(part);
        is_long
            .then(|| (Severity::Warning, format!("has {} characters in it that nobody can read", part.len())))
    }
}

impl Rule for Encoded {
    fn code(&self) -> &'static str {
        CODE
    }

    fn about(&self) -> &'static str {
        "has an encoded text in it"
    }

    fn look(&self, text: &Text<'_>, out: &mut Vec<Finding>) {
        for (form, pattern) in &self.forms {
            for found in pattern.find_iter(text.text.as_bytes()).take(MOST) {
                let Some(part) = text.text.get(found.range()) else { continue };
                if text.role == Role::Address && is_image(text.text, found.start()) {
                    continue;
                }
                if let Some((severity, message)) = self.judge(text, *form, part) {
                    let place = text.place.clone();
                    out.push(Finding { code: CODE, severity, place, range: found.range(), message });
                }
            }
        }
    }
}

/// Whether what begins here is the data of a picture, which is looked at by nobody but a browser.
fn is_image(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.starts_with("data:image/") && before.ends_with("base64,") && before.len() < 60
}

/// Whether a part is made of short words rather than of noise.
fn is_worded(part: &str) -> bool {
    let words = part.split(['/', '-', '_', '+', '=']);
    let (count, all) = words.fold((0, 0), |(count, all), word| {
        let is_word = word.len() <= 24 && word.chars().skip(1).all(|c| c.is_ascii_lowercase());
        (count + usize::from(is_word), all + 1)
    });
    count * 10 >= all * 9
        || part.bytes().all(|byte| byte == part.as_bytes().first().copied().unwrap_or_default())
}

fn decode(form: Form, part: &str) -> Option<Vec<u8>> {
    match form {
        Form::Base64 => {
            let lax = engine::GeneralPurposeConfig::new()
                .with_decode_padding_mode(engine::DecodePaddingMode::Indifferent)
                .with_decode_allow_trailing_bits(true);
            let part = part.trim_end_matches('=').replace('-', "+").replace('_', "/");
            // One letter too many is of the text around it.
            let part = part.get(..part.len() - usize::from(part.len() % 4 == 1))?;
            engine::GeneralPurpose::new(&alphabet::STANDARD, lax).decode(part).ok()
        }
        Form::Hexadecimal => {
            let digits: Vec<u8> = part
                .trim_start_matches("0x")
                .replace("\\x", "")
                .chars()
                .filter_map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
                .collect();
            Some(
                digits
                    .chunks_exact(2)
                    .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
                    .collect(),
            )
        }
        Form::Spaced => {
            let words = part.split("   ").flat_map(|word| word.split("  ")).map(|word| {
                word.chars().filter(|c| c.is_ascii_alphabetic() || *c == '\'').collect::<String>()
            });
            Some(words.collect::<Vec<_>>().join(" ").into_bytes())
        }
        Form::Percent => {
            let mut bytes = Vec::new();
            let mut rest = part.bytes();
            while let Some(byte) = rest.next() {
                bytes.push(match byte {
                    b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
                    other => other,
                });
            }
            Some(bytes)
        }
        Form::Escape => {
            let numbers =
                part.split(['\\', '&', '#', ';', '{', '}', 'u']).filter(|number| !number.is_empty());
            let text: Option<String> = numbers
                .map(|number| {
                    let decimal = part.starts_with('&') && !number.starts_with('x');
                    let digits = number.trim_start_matches('x');
                    u32::from_str_radix(digits, if decimal { 10 } else { 16 }).ok().and_then(char::from_u32)
                })
                .collect();
            text.map(String::into_bytes)
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The text that bytes are, where they are one that somebody would read.
fn readable(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let letters = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    let is_odd = |c: char| c.is_control() && !c.is_whitespace();
    let all = text.chars().count();
    (all >= 6 && letters * 10 >= all * 7 && !text.chars().any(is_odd)).then(|| text.to_owned())
}
