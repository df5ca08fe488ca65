//! A request's path in the one form in which rules are compared with it.
//!
//! Two programs that read a path differently are how a rule about paths is passed by: what this machine takes for
//! `/repos/acme/x`, the host takes for `/evil`. So a path that anybody is known to read in a second way has no canonical
//! form at all, and the form that was judged is the form that is sent.

use std::borrow::Cow;
use std::fmt;

/// A request's path and query, as sent and in canonical form.
///
/// Canonical (RFC 3986 §6.2.2): percent-encoded unreserved characters decoded, other escapes with upper-case digits,
/// nothing resolved or dropped.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CanonicalPath {
    sent: Box<str>,
    query: Option<Box<str>>,
    form: Form,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    AsSent,
    Other(Box<str>),
    None(PathFault),
}

/// Why a path has no canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum PathFault {
    /// `OPTIONS *`, or a relative one.
    #[error("it does not begin with `/`")]
    NotAbsolute,
    /// `.` or `..`, also with blanks or more dots behind, which some file systems drop.
    #[error("it holds a segment of dots")]
    DotSegment,
    /// `//`, which some servers take for `/`.
    #[error("it holds an empty segment")]
    EmptySegment,
    /// `%2e`.
    #[error("it holds an encoded dot")]
    EncodedDot,
    /// `%2f` or `%5c`.
    #[error("it holds an encoded `/` or `\\`")]
    EncodedSlash,
    /// `%3b` or `%3f`, which end a segment or the path for servers that decode first.
    #[error("it holds an encoded `;` or `?`")]
    EncodedDelimiter,
    /// `%252e` and the like, for servers that decode twice.
    #[error("it holds an escape of an escape")]
    DoubleEncoding,
    /// A `%` without two hexadecimal digits.
    #[error("it holds a `%` without two hexadecimal digits")]
    Escape,
    /// `;`, behind which some servers read parameters (`/..;/`).
    #[error("it holds a `;`")]
    Parameter,
    /// A backslash, which some servers take for `/`.
    #[error("it holds a `\\`")]
    Backslash,
    /// A control character, `%00` among them.
    #[error("it holds a control character")]
    Control,
    /// Raw bytes beyond ASCII.
    #[error("it holds characters beyond ASCII that are not encoded")]
    NotAscii,
    /// Escapes that are no UTF-8 together, such as the overlong `%c0%af`.
    #[error("its escapes are not UTF-8")]
    NotUtf8,
    /// Another character that has to be encoded in a path (RFC 3986 §3.3).
    #[error("it holds a character that has to be encoded")]
    Character,
}

impl CanonicalPath {
    /// Takes a request's target apart, of the form `/path?query`. A fragment is dropped: none is ever sent.
    pub fn of(target: &str) -> Self {
        let target = target.split_once('#').map_or(target, |(target, _)| target);
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.into())),
            None => (target, None),
        };
        let form = match canonical(path) {
            Ok(Cow::Borrowed(_)) => Form::AsSent,
            Ok(Cow::Owned(other)) => Form::Other(other.into()),
            Err(_) if crate::guard::off("path-form") => Form::AsSent,
            Err(fault) => Form::None(fault),
        };
        Self { sent: path.into(), query, form }
    }

    /// The path as it came, without the query.
    pub fn sent(&self) -> &str {
        &self.sent
    }

    /// The path in canonical form.
    ///
    /// # Errors
    /// If it can be read in more than one way.
    pub fn canonical(&self) -> Result<&str, PathFault> {
        match &self.form {
            Form::AsSent => Ok(&self.sent),
            Form::Other(canonical) => Ok(canonical),
            Form::None(fault) => Err(*fault),
        }
    }

    /// What stands after the first `?`.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// The target of the request that is sent: in canonical form, or as it came.
    pub fn target(&self, canonical: bool) -> String {
        let path = self.canonical().ok().filter(|_| canonical).unwrap_or(&self.sent);
        match &self.query {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        }
    }
}

/// For people: the path as it came, without the query, which may hold what nobody should read.
impl fmt::Display for CanonicalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sent)
    }
}

/// The canonical form of a path without query; borrowed where it is the path itself.
fn canonical(path: &str) -> Result<Cow<'_, str>, PathFault> {
    if !path.starts_with('/') {
        return Err(PathFault::NotAbsolute);
    }
    let decoded = unescaped(path)?;
    let mut segments = decoded.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        if segment.is_empty() && segments.peek().is_some() {
            return Err(PathFault::EmptySegment);
        }
        if segment.contains('.') && segment.replace("%20", "").bytes().all(|byte| byte == b'.') {
            return Err(PathFault::DotSegment);
        }
    }
    Ok(decoded)
}

fn unescaped(path: &str) -> Result<Cow<'_, str>, PathFault> {
    if !path.contains('%') {
        path.bytes().try_for_each(raw)?;
        return Ok(Cow::Borrowed(path));
    }
    let mut out = String::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            raw(*first)?;
            out.push(char::from(*first));
            continue;
        }
        let byte = escaped(tail).ok_or(PathFault::Escape)?;
        rest = tail.get(2..).unwrap_or_default();
        match byte {
            b'.' => return Err(PathFault::EncodedDot),
            b'/' | b'\\' => return Err(PathFault::EncodedSlash),
            b';' | b'?' => return Err(PathFault::EncodedDelimiter),
            0..=0x1f | 0x7f => return Err(PathFault::Control),
            _ if is_unreserved(byte) => out.push(char::from(byte)),
            _ => out.push_str(percent_encoding::percent_encode_byte(byte)),
        }
    }
    // Looked for in the result: the digits may have been escaped too (`%25%32%65`).
    if out.match_indices("%25").any(|(at, _)| out.as_bytes().get(at + 3..).and_then(escaped).is_some()) {
        return Err(PathFault::DoubleEncoding);
    }
    if percent_encoding::percent_decode_str(path).decode_utf8().is_err() {
        return Err(PathFault::NotUtf8);
    }
    Ok(if out == path { Cow::Borrowed(path) } else { Cow::Owned(out) })
}

/// Whether a byte may stand in a path as it is.
fn raw(byte: u8) -> Result<(), PathFault> {
    match byte {
        b';' => Err(PathFault::Parameter),
        b'\\' => Err(PathFault::Backslash),
        0..=0x1f | 0x7f => Err(PathFault::Control),
        0x80.. => Err(PathFault::NotAscii),
        // RFC 3986 §3.3, pchar and `/`.
        _ if is_unreserved(byte) || b"!$&'()*+,=:@/".contains(&byte) => Ok(()),
        _ => Err(PathFault::Character),
    }
}

/// RFC 3986 §2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// The byte that two hexadecimal digits at the start stand for.
fn escaped(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| digits.get(at).and_then(|digit| char::from(*digit).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests;
