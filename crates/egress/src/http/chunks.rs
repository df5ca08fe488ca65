//! Following a chunked body to its end without taking it apart.

/// Longest trailer section, in bytes.
const MAX_TRAILERS: usize = 8 * 1024;

/// Most hexadecimal digits of a chunk size; more would not fit the arithmetic of every reader.
const MAX_SIZE_DIGITS: usize = 15;

/// A chunked body that is not one (RFC 9112 §7.1); chunk extensions are refused with it, since readers differ on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the chunked body is malformed")]
pub struct ChunkError;

/// Where in a chunked body the bytes seen so far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunks {
    /// In a size, of which so many digits have been read, with this value.
    Size {
        /// Digits so far.
        digits: usize,
        /// Value so far.
        value: u64,
    },
    /// After a size's carriage return.
    SizeEnd {
        /// The size read.
        value: u64,
    },
    /// In data, so many bytes before its end.
    Data {
        /// Bytes left.
        left: u64,
    },
    /// Before the carriage return after data.
    DataEnd,
    /// Before the line feed after data.
    DataLineFeed,
    /// In the trailer section.
    Trailers {
        /// Bytes of the section so far.
        length: usize,
        /// Bytes of the present line so far.
        line: usize,
        /// Whether the last byte was a carriage return.
        returned: bool,
    },
    /// After the end.
    Done,
}

impl Chunks {
    /// Before the first chunk.
    pub const START: Self = Self::Size { digits: 0, value: 0 };

    /// Goes over `bytes` and returns how many of them belong to the body; fewer than all only at its end.
    ///
    /// # Errors
    /// At the first byte that cannot be part of a chunked body.
    pub fn follow(&mut self, bytes: &[u8]) -> Result<usize, ChunkError> {
        let mut at = 0;
        while at < bytes.len() && *self != Self::Done {
            if let Self::Data { left } = self {
                let here = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len() - at);
                at += here;
                *left -= here as u64;
                if *left == 0 {
                    *self = Self::DataEnd;
                }
                continue;
            }
            *self = self.step(*bytes.get(at).ok_or(ChunkError)?)?;
            at += 1;
        }
        Ok(at)
    }

    fn step(self, byte: u8) -> Result<Self, ChunkError> {
        match (self, byte) {
            (Self::Size { digits: 1.., value }, b'\r') => Ok(Self::SizeEnd { value }),
            (Self::Size { digits, value }, _) => {
                let digit =
                    char::from(byte).to_digit(16).filter(|_| digits < MAX_SIZE_DIGITS).ok_or(ChunkError)?;
                Ok(Self::Size { digits: digits + 1, value: value * 16 + u64::from(digit) })
            }
            (Self::SizeEnd { value: 0 }, b'\n') => Ok(Self::Trailers { length: 0, line: 0, returned: false }),
            (Self::SizeEnd { value }, b'\n') => Ok(Self::Data { left: value }),
            (Self::DataEnd, b'\r') => Ok(Self::DataLineFeed),
            (Self::DataLineFeed, b'\n') => Ok(Self::START),
            (Self::Trailers { length, line, returned }, _) => trailer_byte(length, line, returned, byte),
            _ => Err(ChunkError),
        }
    }
}

fn trailer_byte(length: usize, line: usize, returned: bool, byte: u8) -> Result<Chunks, ChunkError> {
    if length == MAX_TRAILERS {
        return Err(ChunkError);
    }
    let length = length + 1;
    match (returned, byte) {
        (true, b'\n') if line == 0 => Ok(Chunks::Done),
        (true, b'\n') => Ok(Chunks::Trailers { length, line: 0, returned: false }),
        (false, b'\r') => Ok(Chunks::Trailers { length, line, returned: true }),
        (true, _) | (false, b'\n' | 0) => Err(ChunkError),
        (false, b' ' | b'\t') if line == 0 => Err(ChunkError),
        (false, _) => Ok(Chunks::Trailers { length, line: line + 1, returned: false }),
    }
}
