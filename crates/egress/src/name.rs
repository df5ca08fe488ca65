//! Host names: one spelling for each, and nothing that is an address in disguise.

use std::borrow::Borrow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use idna::AsciiDenyList;
use serde::{Deserialize, Serialize};

/// A host name as it is compared everywhere: A-labels (RFC 5890), lower case, no trailing dot, 1 to 253 bytes in labels
/// of 1 to 63 of `a-z 0-9 - _` that neither begin nor end with `-`.
///
/// INVARIANT: no spelling of an IP address, also none that only old parsers take (`0x7f.1`, `2130706433`): the last
/// label is not a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(Arc<str>);

impl HostName {
    /// Longest name, in bytes (RFC 1035 §2.3.4, without the length bytes and the root).
    pub const MAX_LEN: usize = 253;
    /// Longest label, in bytes (RFC 1035 §2.3.4).
    pub const MAX_LABEL: usize = 63;

    /// Reads what a person wrote: any case, international characters (UTS 46), at most one trailing dot.
    pub fn parse(text: &str) -> Result<Self, HostNameError> {
        if let Some(address) = spelled_address(text) {
            return Err(HostNameError::Address { text: shown(text), address: Some(address) });
        }
        let ascii = idna::domain_to_ascii_cow(text.as_bytes(), AsciiDenyList::URL)
            .map_err(|_| HostNameError::Character { text: shown(text) })?;
        Self::checked(&ascii).map_err(|fault| fault.about(text))
    }

    /// Reads what a program sent in a TLS greeting, a `Host` heading or a proxy request: ASCII only, so that nobody on
    /// the way can map it otherwise than this does. At most one trailing dot.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, HostNameError> {
        let text = String::from_utf8_lossy(bytes);
        if let Some(address) = spelled_address(&text) {
            return Err(HostNameError::Address { text: shown(&text), address: Some(address) });
        }
        let ascii = std::str::from_utf8(bytes)
            .ok()
            .filter(|text| text.is_ascii())
            .ok_or_else(|| HostNameError::Character { text: shown(&text) })?;
        Self::checked(ascii).map_err(|fault| fault.about(&text))
    }

    /// Reads the labels of a DNS question. A dot inside a label is a character like any other that is not allowed.
    pub fn from_labels<'a>(labels: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, HostNameError> {
        let mut joined = Vec::new();
        let mut dotted = false;
        for label in labels {
            dotted |= label.contains(&b'.');
            joined.extend_from_slice(label);
            joined.push(b'.');
        }
        joined.pop();
        if dotted || joined.ends_with(b".") {
            return Err(HostNameError::Character { text: shown(&String::from_utf8_lossy(&joined)) });
        }
        Self::from_wire(&joined)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The labels, from left to right.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }

    /// Every name this one lies below, the nearest first: `a.b.c` lies below `b.c` and `c`.
    pub fn parents(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(parent(&self.0), |name| parent(name))
    }

    /// Whether the name is `localhost` or below it: inside a cell this is the cell itself (RFC 6761 §6.3).
    pub fn is_localhost(&self) -> bool {
        self.labels().next_back() == Some("localhost")
    }

    /// What a person would read: U-labels where there are A-labels.
    pub fn to_unicode(&self) -> String {
        idna::domain_to_unicode(&self.0).0
    }

    fn checked(ascii: &str) -> Result<Self, Fault> {
        let name = ascii.strip_suffix('.').unwrap_or(ascii);
        if name.is_empty() {
            return Err(Fault::Empty);
        }
        if name.len() > Self::MAX_LEN {
            return Err(Fault::TooLong);
        }
        for label in name.split('.') {
            check_label(label)?;
        }
        let lower = name.to_ascii_lowercase();
        if lower.rsplit('.').next().is_some_and(is_number) && !crate::guard::off("literals") {
            return Err(Fault::Number);
        }
        if lower.split('.').any(|label| label.starts_with("xn--")) {
            let same = idna::domain_to_ascii_cow(lower.as_bytes(), AsciiDenyList::URL);
            if same.ok().as_deref() != Some(lower.as_str()) {
                return Err(Fault::Punycode);
            }
        }
        Ok(Self(lower.into()))
    }
}

impl FromStr for HostName {
    type Err = HostNameError;
    fn from_str(text: &str) -> Result<Self, HostNameError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for HostName {
    type Error = HostNameError;
    fn try_from(text: String) -> Result<Self, HostNameError> {
        Self::parse(&text)
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.as_str().to_owned()
    }
}

impl Borrow<str> for HostName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is no host name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostNameError {
    /// Nothing, or only a dot.
    #[error("a host name is empty")]
    Empty,
    /// An IP address in some spelling.
    #[error("`{text}` is an IP address, not a host name")]
    Address {
        /// As it was written, control characters replaced, cut at 80 characters.
        text: String,
        /// Which address, where the spelling is one that can be told.
        address: Option<IpAddr>,
    },
    /// A character that no host name holds (a space, NUL, `@`, `%`, `:`, `/`, a control character …).
    #[error("`{text}` holds a character that no host name has")]
    Character {
        /// As it was written, control characters replaced, cut at 80 characters.
        text: String,
    },
    /// An empty label, one over 63 bytes, or one with `-` at an end.
    #[error("`{text}` has a label that is empty, too long, or has `-` at an end")]
    Label {
        /// As it was written, control characters replaced, cut at 80 characters.
        text: String,
    },
    /// Over 253 bytes.
    #[error("`{text}` is longer than 253 bytes")]
    TooLong {
        /// As it was written, control characters replaced, cut at 80 characters.
        text: String,
    },
    /// A label `xn--…` that does not stand for the characters it claims to.
    #[error("`{text}` holds an `xn--` label that is not valid punycode")]
    Punycode {
        /// As it was written, control characters replaced, cut at 80 characters.
        text: String,
    },
}

impl HostNameError {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Address { .. } => Some(
                "addresses are reached by a name: the operator binds one to an address with \
                 `[upstreams.\"NAME\"] address = \"IP:PORT\"`, then allow that name",
            ),
            Self::Character { .. } => Some("write the bare name, such as `api.example.com`"),
            _ => None,
        }
    }
}

/// A fault before the whole text is put beside it.
enum Fault {
    Empty,
    Character,
    Label,
    TooLong,
    Number,
    Punycode,
}

impl Fault {
    fn about(self, text: &str) -> HostNameError {
        let text = shown(text);
        match self {
            Self::Empty => HostNameError::Empty,
            Self::Character => HostNameError::Character { text },
            Self::Label => HostNameError::Label { text },
            Self::TooLong => HostNameError::TooLong { text },
            Self::Number => HostNameError::Address { address: None, text },
            Self::Punycode => HostNameError::Punycode { text },
        }
    }
}

fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent)
}

fn check_label(label: &str) -> Result<(), Fault> {
    if !label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return Err(Fault::Character);
    }
    if label.is_empty() || label.len() > HostName::MAX_LABEL || label.starts_with('-') || label.ends_with('-')
    {
        return Err(Fault::Label);
    }
    Ok(())
}

/// Whether parsers of URLs take a name with this last label for an IPv4 address (WHATWG URL, "ends in a number").
fn is_number(label: &str) -> bool {
    label.bytes().all(|byte| byte.is_ascii_digit())
        || label.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The address a text spells: dotted, short, decimal, octal, hex, in brackets, with a zone, full-width, percent-encoded.
pub fn spelled_address(text: &str) -> Option<IpAddr> {
    if crate::guard::off("literals") {
        return None;
    }
    let decoded = percent_decoded(text);
    let text = decoded.as_str();
    let text = text.strip_suffix('.').unwrap_or(text);
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let unzoned = inner.split_once('%').map_or(inner, |(address, _)| address);
    if let Ok(address) = unzoned.parse::<Ipv6Addr>() {
        return Some(address.into());
    }
    let mapped = idna::domain_to_ascii_cow(inner.as_bytes(), AsciiDenyList::URL).ok()?;
    spelled_v4(mapped.strip_suffix('.').unwrap_or(&mapped)).map(IpAddr::V4)
}

/// One to four numbers, the last filling what is left (`inet_aton(3)`).
fn spelled_v4(text: &str) -> Option<Ipv4Addr> {
    let numbers = text.split('.').map(number).collect::<Option<Vec<u64>>>()?;
    let (last, leading) = numbers.split_last()?;
    if leading.len() > 3 || leading.iter().any(|byte| *byte > 255) {
        return None;
    }
    let room = 8 * (4 - u32::try_from(leading.len()).ok()?);
    if *last >= 1_u64.checked_shl(room)? {
        return None;
    }
    let high = leading.iter().fold(0_u64, |value, byte| (value << 8) | byte);
    u32::try_from((high << room) | last).ok().map(Ipv4Addr::from_bits)
}

fn number(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return if hex.is_empty() { Some(0) } else { u64::from_str_radix(hex, 16).ok() };
    }
    if !lower.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if lower.len() > 1 && lower.starts_with('0') {
        return u64::from_str_radix(&lower, 8).ok();
    }
    lower.parse().ok()
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let ahead = rest.clone().take(2).collect::<Vec<_>>();
        let decoded = (byte == b'%')
            .then(|| std::str::from_utf8(&ahead).ok())
            .flatten()
            .filter(|digits| digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match decoded {
            Some(decoded) => {
                bytes.push(decoded);
                rest.by_ref().take(2).for_each(drop);
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text of unknown origin, fit for a terminal and a log: 80 characters of it.
pub(crate) fn shown(text: &str) -> String {
    cut(text, 80)
}

/// The same for a sentence that holds such a text.
pub(crate) fn shown_long(text: &str) -> String {
    cut(text, 400)
}

fn cut(text: &str, longest: usize) -> String {
    let mut shown: String = text
        .chars()
        .take(longest)
        .map(
            |character| {
                if character.is_control() || is_direction(character) { '\u{fffd}' } else { character }
            },
        )
        .collect();
    if text.chars().nth(longest).is_some() {
        shown.push('…');
    }
    shown
}

/// Characters that make a terminal show text in another order than it is.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
