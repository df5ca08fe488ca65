//! The head of a request, read strictly: whatever two readers could take for different requests is refused.
//!
//! hyper parses the same bytes again and writes the request anew; this reading comes first because hyper forgives what
//! a wall must not (a length beside a transfer coding, bare line feeds).

use std::str;

use hyper::Uri;

/// Most digits of a `Content-Length` taken: 10^18 bytes is beyond any body and within `u64`.
const MAX_LENGTH_DIGITS: usize = 18;

/// What may be named in `Connection`: everything else is a way to have an end-to-end header removed.
const CONNECTION_TOKENS: [&str; 5] = ["close", "keep-alive", "upgrade", "te", "proxy-connection"];

/// Whom the request line speaks to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `/path?query`.
    Origin(String),
    /// `http://authority/path?query`: the authority, and what follows it (at least `/`).
    Absolute {
        /// `host` or `host:port`, as sent.
        authority: String,
        /// Path and query.
        path: String,
    },
    /// `host:port` of a CONNECT, as sent.
    Authority(String),
    /// `*` of an OPTIONS.
    Asterisk,
}

/// How the body's end is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body.
    None,
    /// So many bytes.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// A request head that has one reading only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The method, upper case as sent.
    pub method: String,
    /// The target.
    pub target: Target,
    /// `Host`, as sent.
    pub host: String,
    /// The body's framing.
    pub framing: Framing,
    /// Whether the request asks to become a WebSocket.
    pub websocket: bool,
}

/// Why a request head is refused. Each would let two readers disagree, or escape the reading altogether.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Larger than the limit.
    #[error("the request head is larger than the limit")]
    TooLarge,
    /// More header lines than the limit.
    #[error("the request has more header lines than the limit")]
    TooMany,
    /// A line feed without carriage return, or the reverse.
    #[error("a bare line feed or carriage return in the request head")]
    BareLineEnd,
    /// A header line that begins with white space.
    #[error("a folded header line")]
    Fold,
    /// The request line is not `METHOD target HTTP/1.x`.
    #[error("a malformed request line")]
    RequestLine,
    /// A header line that is not `name: value` in the bytes RFC 9110 allows.
    #[error("a malformed header line")]
    HeaderLine,
    /// No `Host`, or more than one.
    #[error("there must be exactly one Host header")]
    Host,
    /// `Content-Length` twice, as a list, or not a plain number.
    #[error("Content-Length must be there once and be a plain number")]
    Length,
    /// `Content-Length` and `Transfer-Encoding` together.
    #[error("Content-Length together with Transfer-Encoding")]
    LengthAndCoding,
    /// A transfer coding other than a single `chunked`, or one in HTTP/1.0.
    #[error("a transfer coding other than chunked, or in HTTP/1.0")]
    Coding,
    /// `Connection` names an end-to-end header.
    #[error("Connection names a header that is not hop-by-hop")]
    Connection,
    /// The HTTP/2 preface, `Upgrade: h2c`, or `HTTP2-Settings`.
    #[error("HTTP/2 without TLS")]
    H2c,
    /// An upgrade to something else than a WebSocket, or not in the form of RFC 6455.
    #[error("an upgrade that is not a WebSocket's")]
    Upgrade,
    /// TRACE, TRACK, or a CONNECT inside a request.
    #[error("the method is not passed on")]
    Method,
}

impl Head {
    /// Reads a head: everything up to and with the empty line, at most `max_headers` header lines. CONNECT is taken
    /// only if `connect` is set (an explicit proxy).
    ///
    /// # Errors
    /// For everything that is not one HTTP/1.x request head with one reading.
    pub fn parse(bytes: &[u8], max_headers: usize, connect: bool) -> Result<Self, HeadError> {
        let mut lines = Lines { rest: bytes };
        let (method, target, eleven) = request_line(lines.next_line()?, connect)?;
        let mut fields = Fields::default();
        let mut count = 0;
        loop {
            let line = lines.next_line()?;
            if line.is_empty() {
                break;
            }
            count += 1;
            if count > max_headers {
                return Err(HeadError::TooMany);
            }
            fields.take(line)?;
        }
        if !lines.rest.is_empty() {
            return Err(HeadError::HeaderLine);
        }
        let framing = fields.framing(eleven)?;
        let websocket = fields.websocket(&method, eleven, framing)?;
        let host = fields.host.ok_or(HeadError::Host)?;
        if method == "CONNECT" && framing != Framing::None {
            return Err(HeadError::Length);
        }
        Ok(Self { method, target, host, framing, websocket })
    }
}

/// Length of the head at the start of `bytes` with its empty line, if it is all there. A bare line feed never ends it.
pub fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let start = from.saturating_sub(3);
    let at = memchr::memmem::find(bytes.get(start..)?, b"\r\n\r\n")?;
    Some(start + at + 4)
}

/// What of a head without its end can never become right: so that one with bare line feeds is answered, and not
/// waited for.
///
/// # Errors
/// [`HeadError::BareLineEnd`], [`HeadError::H2c`].
pub fn check_unfinished(bytes: &[u8]) -> Result<(), HeadError> {
    if bytes.starts_with(b"PRI * HTTP/2.0\r\n") {
        return Err(HeadError::H2c);
    }
    for at in memchr::memchr_iter(b'\n', bytes) {
        if at.checked_sub(1).and_then(|before| bytes.get(before)) != Some(&b'\r') {
            return Err(HeadError::BareLineEnd);
        }
    }
    Ok(())
}

struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// The next line without its CRLF. A carriage return or line feed anywhere else is an error.
    fn next_line(&mut self) -> Result<&'a [u8], HeadError> {
        let end = memchr::memchr2(b'\r', b'\n', self.rest).ok_or(HeadError::HeaderLine)?;
        let (line, rest) = self.rest.split_at_checked(end).ok_or(HeadError::HeaderLine)?;
        self.rest = rest.strip_prefix(b"\r\n").ok_or(HeadError::BareLineEnd)?;
        Ok(line)
    }
}

fn request_line(line: &[u8], connect: bool) -> Result<(String, Target, bool), HeadError> {
    let line = str::from_utf8(line).map_err(|_| HeadError::RequestLine)?;
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(HeadError::RequestLine);
    };
    if method == "PRI" || version == "HTTP/2.0" {
        return Err(HeadError::H2c);
    }
    let eleven = match version {
        "HTTP/1.1" => true,
        "HTTP/1.0" => false,
        _ => return Err(HeadError::RequestLine),
    };
    let plain = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_');
    if method.is_empty() || method.len() > 32 || !method.bytes().all(plain) {
        return Err(HeadError::RequestLine);
    }
    if matches!(method, "TRACE" | "TRACK") && !crate::guard::off("http-method") {
        return Err(HeadError::Method);
    }
    if method == "CONNECT" && !connect {
        return Err(HeadError::Method);
    }
    // What the parser behind the gate cannot read it would refuse without a word of why.
    if target.parse::<Uri>().is_err() {
        return Err(HeadError::RequestLine);
    }
    if method == "CONNECT" {
        return Ok((method.to_owned(), Target::Authority(authority(target)?), eleven));
    }
    Ok((method.to_owned(), read_target(method, target)?, eleven))
}

fn read_target(method: &str, target: &str) -> Result<Target, HeadError> {
    if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(HeadError::RequestLine);
    }
    if target == "*" {
        return if method == "OPTIONS" { Ok(Target::Asterisk) } else { Err(HeadError::RequestLine) };
    }
    if target.starts_with('/') {
        return Ok(Target::Origin(target.to_owned()));
    }
    let (scheme, rest) = target.split_once("://").ok_or(HeadError::RequestLine)?;
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(HeadError::RequestLine);
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (name, path) = rest.split_at_checked(end).ok_or(HeadError::RequestLine)?;
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok(Target::Absolute { authority: authority(name)?, path })
}

/// An authority without user information and in plain bytes; whether it is the right one is judged later.
fn authority(text: &str) -> Result<String, HeadError> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\\"<>^`{|},".contains(&byte);
    if text.is_empty() || !text.bytes().all(plain) {
        return Err(HeadError::RequestLine);
    }
    Ok(text.to_owned())
}

/// The headers that decide how a request is read.
#[derive(Debug, Default)]
struct Fields {
    host: Option<String>,
    length: Option<u64>,
    chunked: bool,
    upgrade: Option<String>,
    connection_upgrade: bool,
}

impl Fields {
    fn take(&mut self, line: &[u8]) -> Result<(), HeadError> {
        if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(HeadError::Fold);
        }
        let colon = memchr::memchr(b':', line).ok_or(HeadError::HeaderLine)?;
        let (name, value) = line.split_at_checked(colon).ok_or(HeadError::HeaderLine)?;
        let value = trim(value.get(1..).unwrap_or_default());
        let visible = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) || !value.iter().all(visible) {
            return Err(HeadError::HeaderLine);
        }
        let name = name.to_ascii_lowercase();
        match name.as_slice() {
            b"host" => self.take_host(value),
            b"content-length" => self.take_length(value),
            b"transfer-encoding" => self.take_coding(value),
            b"connection" => self.take_connection(value),
            b"upgrade" => self.take_upgrade(value),
            b"http2-settings" => Err(HeadError::H2c),
            _ => Ok(()),
        }
    }

    fn take_host(&mut self, value: &[u8]) -> Result<(), HeadError> {
        let value = str::from_utf8(value).map_err(|_| HeadError::Host)?;
        let value = authority(value).map_err(|_| HeadError::Host)?;
        if self.host.replace(value).is_some() {
            return Err(HeadError::Host);
        }
        Ok(())
    }

    fn take_length(&mut self, value: &[u8]) -> Result<(), HeadError> {
        let digits =
            !value.is_empty() && value.len() <= MAX_LENGTH_DIGITS && value.iter().all(u8::is_ascii_digit);
        let number = str::from_utf8(value).ok().filter(|_| digits).and_then(|text| text.parse().ok());
        if self.length.replace(number.ok_or(HeadError::Length)?).is_some() {
            return Err(HeadError::Length);
        }
        Ok(())
    }

    fn take_coding(&mut self, value: &[u8]) -> Result<(), HeadError> {
        if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(HeadError::Coding);
        }
        self.chunked = true;
        Ok(())
    }

    fn take_connection(&mut self, value: &[u8]) -> Result<(), HeadError> {
        for token in value.split(|byte| *byte == b',') {
            let token = trim(token).to_ascii_lowercase();
            if token == b"http2-settings" {
                return Err(HeadError::H2c);
            }
            let known = CONNECTION_TOKENS.iter().any(|known| known.as_bytes() == token);
            if !known && !token.is_empty() && !crate::guard::off("http-connection") {
                return Err(HeadError::Connection);
            }
            self.connection_upgrade |= token == b"upgrade";
        }
        Ok(())
    }

    fn take_upgrade(&mut self, value: &[u8]) -> Result<(), HeadError> {
        let value = str::from_utf8(value).map_err(|_| HeadError::Upgrade)?.to_ascii_lowercase();
        if value.split(',').any(|protocol| protocol.trim().starts_with("h2c")) {
            return Err(HeadError::H2c);
        }
        if self.upgrade.replace(value).is_some() {
            return Err(HeadError::Upgrade);
        }
        Ok(())
    }

    fn framing(&self, eleven: bool) -> Result<Framing, HeadError> {
        match (self.length, self.chunked) {
            (Some(_), true) => Err(HeadError::LengthAndCoding),
            (_, true) if !eleven => Err(HeadError::Coding),
            (None, true) => Ok(Framing::Chunked),
            (Some(0) | None, false) => Ok(Framing::None),
            (Some(length), false) => Ok(Framing::Length(length)),
        }
    }

    fn websocket(&self, method: &str, eleven: bool, framing: Framing) -> Result<bool, HeadError> {
        let Some(protocol) = &self.upgrade else { return Ok(false) };
        let shape = method == "GET" && eleven && framing == Framing::None && self.connection_upgrade;
        if protocol == "websocket" && shape { Ok(true) } else { Err(HeadError::Upgrade) }
    }
}

/// Without the white space RFC 9110 §5.6.3 allows around a value, and no other.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// `tchar` of RFC 9110 §5.6.2.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}
