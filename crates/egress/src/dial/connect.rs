//! `CONNECT` through the operator's proxy (RFC 9110 §9.3.6).

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Target;

/// Longest head of an answer, in bytes.
const LONGEST: usize = 8192;

/// Asks the proxy for a connection to `target`. When it has said yes, nothing behind its answer was read.
pub(super) async fn ask(
    stream: &mut TcpStream,
    target: &Target,
    authorization: Option<&str>,
) -> io::Result<()> {
    let authority = match target {
        Target::Address(address) => address.to_string(),
        Target::Name(name, port) => format!("{name}:{port}"),
    };
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(value) = authorization {
        request.push_str("Proxy-Authorization: ");
        request.push_str(value);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    let head = head(stream).await?;
    match status(&head) {
        Some(200..=299) => Ok(()),
        Some(status) => Err(io::Error::other(format!("it answered {status} to CONNECT {authority}"))),
        None => Err(io::Error::other("its answer is not HTTP/1")),
    }
}

/// Reads up to the empty line and not a byte more: what follows is the host's.
async fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    const END: &[u8] = b"\r\n\r\n";
    let mut head = Vec::new();
    let mut ahead = [0; 1024];
    loop {
        let count = stream.peek(&mut ahead).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let known = head.len();
        head.extend(ahead.iter().take(count));
        let end = head.windows(END.len()).position(|window| window == END).map(|at| at + END.len());
        let taken = end.unwrap_or(head.len()).saturating_sub(known);
        head.truncate(known + taken);
        if let Some(seen) = ahead.get_mut(..taken) {
            stream.read_exact(seen).await?;
        }
        if end.is_some() {
            return Ok(head);
        }
        if head.len() > LONGEST {
            return Err(io::Error::other("its answer has no end"));
        }
    }
}

fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let rest = line.strip_prefix(b"HTTP/1.1 ").or_else(|| line.strip_prefix(b"HTTP/1.0 "))?;
    let digits = rest.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    if rest.get(3).is_some_and(|byte| *byte != b' ') {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}
