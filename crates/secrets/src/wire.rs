//! What the broker says to a supervisor: frames of bytes, since a text format would copy values while it reads them.
//!
//! A frame is the length of its body (four bytes, big-endian), then the body: one byte for the kind, then
//!
//! | kind | is | holds |
//! |---|---|---|
//! | 1 | given | name (one byte of length), binding (four bytes of length, JSON), the value to the end |
//! | 2 | taken | name to the end |
//! | 3 | complete | nothing: all that the cell was promised has been given |
//! | 4 | refused | what happened (four bytes of length), what to do about it to the end |
//! | 5 | missing | the same, where all that is wrong is that the user has no value |

use std::io::{self, Write};

use model::secret::{Binding, SecretName};

use crate::plaintext::Plaintext;

/// Longest value of a secret, in bytes.
pub const MAX_VALUE: usize = 16 << 10;
/// Longest body of a frame: a value, a binding of many hosts and paths, a name.
pub(crate) const MAX_BODY: usize = MAX_VALUE + (256 << 10);
/// Bytes before a body.
pub(crate) const HEADER: usize = 4;

const GIVEN: u8 = 1;
const TAKEN: u8 = 2;
const COMPLETE: u8 = 3;
const REFUSED: u8 = 4;
const MISSING: u8 = 5;

/// A frame that was read.
#[expect(missing_debug_implementations, reason = "it holds a value")]
pub enum Frame {
    /// A secret, new or changed.
    Given {
        /// Which.
        name: SecretName,
        /// Where its value may be written.
        binding: Binding,
        /// The value.
        value: Plaintext,
    },
    /// A secret that is no more.
    Taken(SecretName),
    /// Everything that was asked for has been given.
    Complete,
    /// The broker cannot give what was asked for.
    Refused {
        /// Nothing is wrong but that a user has no value of a secret.
        is_missing: bool,
        /// What happened.
        message: String,
        /// What to do about it; may be empty.
        hint: String,
    },
}

/// Bytes that are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the broker's message is not understood: {0}")]
pub struct FrameError(&'static str);

/// The length of the body that follows.
pub(crate) fn body_length(header: [u8; HEADER]) -> Result<usize, FrameError> {
    let length = usize::try_from(u32::from_be_bytes(header)).unwrap_or(usize::MAX);
    if (1..=MAX_BODY).contains(&length) { Ok(length) } else { Err(FrameError("its length cannot be")) }
}

impl Frame {
    /// Reads a body.
    pub fn read(body: &[u8]) -> Result<Self, FrameError> {
        let (kind, rest) = body.split_first().ok_or(FrameError("it is empty"))?;
        match *kind {
            GIVEN => {
                let (length, rest) = rest.split_first().ok_or(FrameError("it ends early"))?;
                let (name, rest) = split(rest, usize::from(*length))?;
                let (binding, value) = prefixed(rest)?;
                if value.len() > MAX_VALUE {
                    return Err(FrameError("its value is too long"));
                }
                let binding =
                    serde_json::from_slice(binding).map_err(|_| FrameError("it has no readable binding"))?;
                Ok(Self::Given { name: named(name)?, binding, value: Plaintext::copied(value) })
            }
            TAKEN => Ok(Self::Taken(named(rest)?)),
            COMPLETE if rest.is_empty() => Ok(Self::Complete),
            REFUSED | MISSING => {
                let (message, hint) = prefixed(rest)?;
                Ok(Self::Refused { is_missing: *kind == MISSING, message: text(message)?, hint: text(hint)? })
            }
            _ => Err(FrameError("its kind is unknown")),
        }
    }
}

/// Writes a secret. The value goes from its own pages into the socket.
pub(crate) fn give(
    to: &mut impl Write,
    name: &SecretName,
    binding: &Binding,
    value: &Plaintext,
) -> io::Result<()> {
    let binding = serde_json::to_vec(binding)?;
    let mut start = vec![GIVEN, u8::try_from(name.as_str().len()).map_err(|_| too_long())?];
    start.extend(name.as_str().as_bytes());
    start.extend(u32::try_from(binding.len()).map_err(|_| too_long())?.to_be_bytes());
    start.extend(&binding);
    write(to, &start, value.expose())
}

/// Writes that a secret is no more.
pub(crate) fn take(to: &mut impl Write, name: &SecretName) -> io::Result<()> {
    write(to, &[TAKEN], name.as_str().as_bytes())
}

/// Writes that everything has been given.
pub(crate) fn complete(to: &mut impl Write) -> io::Result<()> {
    write(to, &[COMPLETE], &[])
}

/// Writes that nothing will be given, and why.
pub(crate) fn refuse(to: &mut impl Write, is_missing: bool, message: &str, hint: &str) -> io::Result<()> {
    let mut start = vec![if is_missing { MISSING } else { REFUSED }];
    start.extend(u32::try_from(message.len()).map_err(|_| too_long())?.to_be_bytes());
    start.extend(message.as_bytes());
    write(to, &start, hint.as_bytes())
}

fn write(to: &mut impl Write, start: &[u8], end: &[u8]) -> io::Result<()> {
    let length = start.len() + end.len();
    if length > MAX_BODY {
        return Err(too_long());
    }
    let header = u32::try_from(length).map_err(|_| too_long())?.to_be_bytes();
    to.write_all(&[header.as_slice(), start].concat())?;
    to.write_all(end)
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a message to the supervisor would be too long")
}

fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), FrameError> {
    bytes.split_at_checked(at).ok_or(FrameError("it ends early"))
}

fn prefixed(bytes: &[u8]) -> Result<(&[u8], &[u8]), FrameError> {
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or(FrameError("it ends early"))?;
    split(rest, usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX))
}

fn named(bytes: &[u8]) -> Result<SecretName, FrameError> {
    SecretName::new(text(bytes)?).map_err(|_| FrameError("it names no secret"))
}

fn text(bytes: &[u8]) -> Result<String, FrameError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| FrameError("it is not UTF-8"))
}

#[cfg(test)]
mod tests;
