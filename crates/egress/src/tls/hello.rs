//! The first message of a TLS client, read from a bounded buffer to learn whom it asks for.
//!
//! Strict on purpose: what a server might read differently from us (a name twice, an extension twice, bytes left over) is
//! refused, since the decision rests on both reading the same name.

use std::ops::ControlFlow;

use super::reader::Reader;

/// Longest ClientHello read, in bytes, record headers included. A post-quantum one has about 1,800; the limit of a
/// record is 16 KiB (RFC 8446 §5.1).
pub const MAX_HELLO: usize = 18 * 1024;

/// Most records a ClientHello may be split into. Clients that split it use two or three.
pub const MAX_RECORDS: usize = 32;

/// Most extensions looked at. Browsers send about twenty.
const MAX_EXTENSIONS: usize = 128;

const RECORD_HANDSHAKE: u8 = 22;
const MESSAGE_CLIENT_HELLO: u8 = 1;
/// RFC 8446 §5.1: 2^14 bytes of plaintext.
const MAX_RECORD: usize = 1 << 14;
/// RFC 6066 §3.
const EXTENSION_SERVER_NAME: u16 = 0;
/// RFC 7301 §3.1.
const EXTENSION_ALPN: u16 = 16;
/// RFC 9849: `encrypted_client_hello`.
const EXTENSION_ECH: u16 = 0xfe0d;
/// The draft name of ECH, `encrypted_server_name`: hides the name just the same.
const EXTENSION_ESNI: u16 = 0xffce;

/// What a ClientHello says that a decision needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The `host_name` of the SNI extension as sent, ASCII; `None` without the extension.
    pub sni: Option<String>,
    /// Protocols offered by ALPN, in the client's order.
    pub alpn: Vec<Vec<u8>>,
    /// Whether an ECH (or ESNI) extension is there. Real and GREASE ones cannot be told apart.
    pub ech: bool,
    /// Bytes of the buffer the message took, record headers included; what follows belongs to later records.
    pub length: usize,
}

/// How far a buffer goes towards a ClientHello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// More is needed: at least so many bytes in all, so a caller need not look again before.
    Incomplete {
        /// Length of the buffer from which looking again makes sense.
        need: usize,
    },
    /// All of it is there.
    Complete(Hello),
}

/// Why bytes are no ClientHello that could be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    /// The first record is no TLS handshake record.
    #[error("not a TLS handshake")]
    NotTls,
    /// The first handshake message is something else.
    #[error("the first TLS message is not a ClientHello")]
    NotHello,
    /// Longer than [`MAX_HELLO`], or in more records than [`MAX_RECORDS`].
    #[error("the ClientHello is longer than {MAX_HELLO} bytes or in more than {MAX_RECORDS} records")]
    TooLong,
    /// A length that does not fit what it is in, or bytes left over.
    #[error("the ClientHello is malformed: {0}")]
    Malformed(&'static str),
    /// More than one name, a name that is no `host_name`, or one that is not ASCII.
    #[error("the server name in the ClientHello is ambiguous or not a host name")]
    Name,
}

/// Reads the ClientHello at the start of `buffer`, which may end anywhere.
///
/// # Errors
/// As soon as the bytes cannot become a ClientHello any more.
pub fn parse(buffer: &[u8]) -> Result<Progress, HelloError> {
    let mut message = Vec::new();
    let mut rest = buffer;
    let mut taken = 0_usize;
    for record in 0_usize.. {
        if record == MAX_RECORDS {
            return Err(HelloError::TooLong);
        }
        let body = match next_record(rest, taken)? {
            ControlFlow::Break(need) => {
                check_message_start(&message)?;
                return Ok(Progress::Incomplete { need });
            }
            ControlFlow::Continue(body) => body,
        };
        rest = rest.get(5 + body.len()..).unwrap_or_default();
        taken += 5 + body.len();
        if taken > MAX_HELLO {
            return Err(HelloError::TooLong);
        }
        message.extend_from_slice(body);
        if let Some(length) = check_message_start(&message)? {
            match message.len().checked_sub(4 + length) {
                None => {}
                Some(0) => {
                    let body = message.get(4..).unwrap_or_default();
                    return Ok(Progress::Complete(read_body(body, taken)?));
                }
                Some(_) => return Err(HelloError::Malformed("another message in the same record")),
            }
        }
    }
    Err(HelloError::TooLong)
}

/// The body of the record at the start of `rest`, or how long the whole buffer must become for it.
fn next_record(rest: &[u8], taken: usize) -> Result<ControlFlow<usize, &[u8]>, HelloError> {
    if let Some(kind) = rest.first()
        && *kind != RECORD_HANDSHAKE
    {
        return Err(HelloError::NotTls);
    }
    if let Some(major) = rest.get(1)
        && *major != 3
    {
        return Err(HelloError::NotTls);
    }
    let Some(&[_, _, _, high, low]) = rest.first_chunk::<5>() else {
        return Ok(ControlFlow::Break(taken + 5));
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length == 0 {
        return Err(HelloError::Malformed("an empty record"));
    }
    if length > MAX_RECORD || taken + 5 + length > MAX_HELLO {
        return Err(HelloError::TooLong);
    }
    Ok(match rest.get(5..5 + length) {
        Some(body) => ControlFlow::Continue(body),
        None => ControlFlow::Break(taken + 5 + length),
    })
}

/// The length the message's header states, once it is there and is a ClientHello's.
fn check_message_start(message: &[u8]) -> Result<Option<usize>, HelloError> {
    if let Some(kind) = message.first()
        && *kind != MESSAGE_CLIENT_HELLO
    {
        return Err(HelloError::NotHello);
    }
    let Some(&[_, a, b, c]) = message.first_chunk::<4>() else { return Ok(None) };
    let length = usize::try_from(u32::from_be_bytes([0, a, b, c])).map_err(|_| HelloError::TooLong)?;
    if length > MAX_HELLO {
        return Err(HelloError::TooLong);
    }
    Ok(Some(length))
}

/// Reads `ClientHello` of RFC 8446 §4.1.2 to its last byte.
fn read_body(body: &[u8], length: usize) -> Result<Hello, HelloError> {
    let mut hello = Hello { sni: None, alpn: Vec::new(), ech: false, length };
    let mut reader = Reader::new(body);
    reader.take(2 + 32).ok_or(HelloError::Malformed("cut in the random"))?;
    let session = reader.vec8().ok_or(HelloError::Malformed("cut in the session id"))?;
    if session.len() > 32 {
        return Err(HelloError::Malformed("a session id above 32 bytes"));
    }
    let ciphers = reader.vec16().ok_or(HelloError::Malformed("cut in the cipher suites"))?;
    if ciphers.is_empty() || !ciphers.len().is_multiple_of(2) {
        return Err(HelloError::Malformed("cipher suites of no or odd length"));
    }
    let compression = reader.vec8().ok_or(HelloError::Malformed("cut in the compression methods"))?;
    if compression.is_empty() {
        return Err(HelloError::Malformed("no compression method"));
    }
    if reader.is_empty() {
        return Ok(hello);
    }
    let extensions = reader.vec16().ok_or(HelloError::Malformed("cut in the extensions"))?;
    if !reader.is_empty() {
        return Err(HelloError::Malformed("bytes after the extensions"));
    }
    read_extensions(extensions, &mut hello)?;
    Ok(hello)
}

fn read_extensions(bytes: &[u8], hello: &mut Hello) -> Result<(), HelloError> {
    let mut reader = Reader::new(bytes);
    let mut seen: Vec<u16> = Vec::new();
    while !reader.is_empty() {
        let kind = reader.u16().ok_or(HelloError::Malformed("cut in an extension"))?;
        let value = reader.vec16().ok_or(HelloError::Malformed("cut in an extension"))?;
        if seen.contains(&kind) {
            return Err(HelloError::Malformed("an extension twice"));
        }
        if seen.len() == MAX_EXTENSIONS {
            return Err(HelloError::Malformed("too many extensions"));
        }
        seen.push(kind);
        match kind {
            EXTENSION_SERVER_NAME => hello.sni = Some(read_server_name(value)?),
            EXTENSION_ALPN => hello.alpn = read_alpn(value)?,
            EXTENSION_ECH | EXTENSION_ESNI => hello.ech = true,
            _ => {}
        }
    }
    Ok(())
}

/// RFC 6066 §3: a list which, in a ClientHello we accept, holds exactly one name of type `host_name`.
fn read_server_name(value: &[u8]) -> Result<String, HelloError> {
    let mut reader = Reader::new(value);
    let list = reader.vec16().ok_or(HelloError::Name)?;
    let mut names = Reader::new(list);
    let kind = names.u8().ok_or(HelloError::Name)?;
    let name = names.vec16().ok_or(HelloError::Name)?;
    if kind != 0 || name.is_empty() || !names.is_empty() || !reader.is_empty() {
        return Err(HelloError::Name);
    }
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if !name.iter().all(plain) {
        return Err(HelloError::Name);
    }
    String::from_utf8(name.to_vec()).map_err(|_| HelloError::Name)
}

fn read_alpn(value: &[u8]) -> Result<Vec<Vec<u8>>, HelloError> {
    let malformed = HelloError::Malformed("the ALPN list");
    let mut reader = Reader::new(value);
    let list = reader.vec16().ok_or(malformed)?;
    if list.is_empty() || !reader.is_empty() {
        return Err(malformed);
    }
    let mut names = Reader::new(list);
    let mut out = Vec::new();
    while !names.is_empty() {
        let name = names.vec8().filter(|name| !name.is_empty()).ok_or(malformed)?;
        out.push(name.to_vec());
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
