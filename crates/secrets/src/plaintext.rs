//! The bytes of a secret, for as long as somebody needs them.

use zeroize::Zeroize;

mod sys;

/// The bytes of a secret: kept out of swap where the machine allows it, overwritten at the end. There is no way to print,
/// copy or serialise them by accident.
pub struct Plaintext {
    bytes: Box<[u8]>,
    /// Whether the pages are locked in memory (mlock(2)); a ceiling (`RLIMIT_MEMLOCK`) may forbid it.
    locked: bool,
}

impl Plaintext {
    /// Takes the bytes; what `source` held beyond them is overwritten.
    pub fn new(mut source: Vec<u8>) -> Self {
        let bytes: Box<[u8]> = source.as_slice().into();
        source.zeroize();
        let locked = sys::lock(&bytes);
        Self { bytes, locked }
    }

    /// The bytes. Whoever calls this answers for where they go.
    pub fn expose(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the bytes are kept out of swap.
    pub fn is_locked(&self) -> bool {
        self.locked
    }
}

impl Drop for Plaintext {
    fn drop(&mut self) {
        self.bytes.zeroize();
        if self.locked {
            sys::unlock(&self.bytes);
        }
    }
}
