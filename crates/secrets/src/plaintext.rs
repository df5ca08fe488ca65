//! The bytes of a secret, for as long as somebody needs them.

use std::io::{self, Read};

use zeroize::Zeroize;

mod sys;

use sys::Pages;

/// The bytes of a secret: on pages of their own that no other secret shares, kept out of swap where the machine allows
/// it, left out of core files, empty in a child that forks, overwritten at the end.
///
/// There is no way to print, copy or serialise them by accident:
///
/// ```compile_fail,E0277
/// let value = secrets::plaintext::Plaintext::new(b"hunter2".to_vec());
/// println!("{value:?}");
/// ```
///
/// ```compile_fail,E0277
/// let value = secrets::plaintext::Plaintext::new(b"hunter2".to_vec());
/// println!("{value}");
/// ```
///
/// ```compile_fail,E0599
/// let value = secrets::plaintext::Plaintext::new(b"hunter2".to_vec());
/// let second = value.clone();
/// ```
///
/// ```compile_fail,E0277
/// let value = secrets::plaintext::Plaintext::new(b"hunter2".to_vec());
/// serde_json::to_string(&value);
/// ```
#[expect(missing_debug_implementations, reason = "what has no Debug is printed by nobody")]
pub struct Plaintext {
    pages: Pages,
    /// How many of the pages' bytes are the secret's.
    len: usize,
}

impl Plaintext {
    /// Takes the bytes; what `source` held is overwritten.
    pub fn new(mut source: Vec<u8>) -> Self {
        let taken = Self::copied(&source);
        source.zeroize();
        taken
    }

    /// A second place for bytes that somebody else keeps.
    pub fn copied(source: &[u8]) -> Self {
        let mut made = Self::room(source.len());
        made.bytes_mut().copy_from_slice(source);
        made
    }

    /// So many zeros, to be written over.
    pub(crate) fn room(len: usize) -> Self {
        Self { pages: Pages::new(len), len }
    }

    /// Reads to the end, without a copy anywhere else.
    ///
    /// # Errors
    /// What the reader says; `InvalidData` where it has more than `most` bytes.
    pub fn read(source: &mut impl Read, most: usize) -> io::Result<Self> {
        let mut room = Self::room(most.saturating_add(1));
        let mut have = 0;
        loop {
            match source.read(room.bytes_mut().get_mut(have..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(more) => have += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if have > most {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("there are more than {most} bytes"),
            ));
        }
        room.truncate(have);
        // Pages are dear where they are locked.
        Ok(if have < most / 2 { Self::copied(room.expose()) } else { room })
    }

    /// The bytes. Whoever calls this answers for where they go.
    pub fn expose(&self) -> &[u8] {
        self.pages.bytes().get(..self.len).unwrap_or_default()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.pages.bytes_mut().get_mut(..self.len).unwrap_or_default()
    }

    /// Overwrites and forgets what lies beyond the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        if let Some(rest) = self.bytes_mut().get_mut(len..) {
            rest.zeroize();
        }
        self.len = self.len.min(len);
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the bytes are kept out of swap.
    pub fn is_locked(&self) -> bool {
        self.pages.is_locked()
    }
}

#[cfg(test)]
mod tests;
