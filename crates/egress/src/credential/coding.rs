//! Bodies that come encoded: taken out of their coding as they come, within bounds.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, HeaderValue, TRANSFER_ENCODING};

/// A coding that can be taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or RFC 1951 alone, which some servers send under the same name.
    Deflate,
    /// RFC 7932.
    Brotli,
}

/// A coding that nobody here takes off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its encoding is `{coding}`")]
pub struct EncodingError {
    /// As named by the headers, fit for a terminal.
    pub coding: String,
}

/// Bytes that a body may always become.
const ALWAYS: u64 = 1024 * 1024;
/// Bytes that one more byte of a body may become: about what long runs of one letter come to. Deflate could do 1032,
/// Brotli far more.
const RATIO: u64 = 200;

impl Coding {
    /// The coding of a message with these headers; none where there is none.
    ///
    /// # Errors
    /// If it is another one, or more than one; also a coding of the transfer, or of single messages within the body (gRPC,
    /// Connect).
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, EncodingError> {
        let within = ["grpc-encoding", "connect-content-encoding"];
        let inner =
            within.iter().flat_map(|name| headers.get_all(*name)).chain(headers.get_all(TRANSFER_ENCODING));
        if let Some(coding) =
            inner.flat_map(names).find(|name| !matches!(name.as_str(), "identity" | "chunked"))
        {
            return Err(EncodingError { coding: crate::name::shown(&coding) });
        }
        let all: Vec<String> = headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .flat_map(names)
            .filter(|name| name != "identity")
            .collect();
        match all.as_slice() {
            [] => Ok(None),
            [one] => match one.as_str() {
                "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
                "deflate" => Ok(Some(Self::Deflate)),
                "br" => Ok(Some(Self::Brotli)),
                other => Err(EncodingError { coding: crate::name::shown(other) }),
            },
            more => Err(EncodingError { coding: crate::name::shown(&more.join(", ")) }),
        }
    }
}

/// The codings a header names, in lower case.
fn names(value: &HeaderValue) -> Vec<String> {
    let text = String::from_utf8_lossy(value.as_bytes());
    text.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect()
}

/// Takes one body out of its coding.
pub(crate) struct Decoder {
    inner: Inner,
    taken: u64,
}

enum Inner {
    Gzip(MultiGzDecoder<Sink>),
    /// Deflate before its first two bytes, which tell the two kinds apart.
    Either(Vec<u8>),
    Zlib(ZlibDecoder<Sink>),
    Bare(DeflateDecoder<Sink>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Sink>>),
}

/// What came out, and what may.
#[derive(Default)]
struct Sink {
    out: Vec<u8>,
    total: u64,
    allowed: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.total += bytes.len() as u64;
        if self.total > self.allowed {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the body becomes too large when it is decoded",
            ));
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Decoder {
    /// Bytes that may be pushed at once, so that little comes out at once.
    pub(crate) const PIECE: usize = 4 * 1024;

    pub(crate) fn new(coding: Coding) -> Self {
        let inner = match coding {
            Coding::Gzip => Inner::Gzip(MultiGzDecoder::new(Sink::default())),
            Coding::Deflate => Inner::Either(Vec::new()),
            Coding::Brotli => Inner::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(
                Sink::default(),
                Self::PIECE,
            ))),
        };
        Self { inner, taken: 0 }
    }

    /// What comes out after `piece` went in.
    pub(crate) fn push(&mut self, piece: &[u8]) -> io::Result<Vec<u8>> {
        self.taken += piece.len() as u64;
        let mut early = Vec::new();
        if let Inner::Either(begun) = &mut self.inner {
            begun.extend_from_slice(piece);
            let [first, second, ..] = *begun.as_slice() else { return Ok(Vec::new()) };
            // RFC 1950 §2.2: the method is 8, and the two bytes are a multiple of 31.
            let zlib = first & 15 == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0;
            early = std::mem::take(begun);
            self.inner = if zlib {
                Inner::Zlib(ZlibDecoder::new(Sink::default()))
            } else {
                Inner::Bare(DeflateDecoder::new(Sink::default()))
            };
        }
        let piece = if early.is_empty() { piece } else { &early };
        let allowed = ALWAYS + RATIO * self.taken;
        if let Some(sink) = self.sink() {
            sink.allowed = allowed;
        }
        match &mut self.inner {
            Inner::Gzip(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush())?,
            Inner::Zlib(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush())?,
            Inner::Bare(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush())?,
            Inner::Brotli(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush())?,
            Inner::Either(_) => {}
        }
        Ok(self.take())
    }

    /// What comes out at the end. A body that ends early is an error; an empty one is not, since answers to `HEAD` have
    /// headings of a body they do not have.
    pub(crate) fn finish(&mut self) -> io::Result<Vec<u8>> {
        if self.taken == 0 {
            return Ok(Vec::new());
        }
        match &mut self.inner {
            Inner::Gzip(decoder) => decoder.try_finish()?,
            Inner::Zlib(decoder) => decoder.try_finish()?,
            Inner::Bare(decoder) => decoder.try_finish()?,
            Inner::Brotli(decoder) => decoder.close()?,
            Inner::Either(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(self.take())
    }

    fn sink(&mut self) -> Option<&mut Sink> {
        match &mut self.inner {
            Inner::Gzip(decoder) => Some(decoder.get_mut()),
            Inner::Zlib(decoder) => Some(decoder.get_mut()),
            Inner::Bare(decoder) => Some(decoder.get_mut()),
            Inner::Brotli(decoder) => Some(decoder.get_mut()),
            Inner::Either(_) => None,
        }
    }

    fn take(&mut self) -> Vec<u8> {
        self.sink().map(|sink| std::mem::take(&mut sink.out)).unwrap_or_default()
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("taken", &self.taken).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests;
