//! Who knows the passphrase.

use crate::{plaintext::Plaintext, terminal::AskError};

/// Knows passphrases, or whom to ask for them.
pub trait Opener {
    /// The passphrase of something that is locked by one; `of` says of what.
    fn passphrase(&mut self, of: &str) -> Result<Plaintext, AskError>;
    /// A new passphrase, typed twice.
    fn new_passphrase(&mut self) -> Result<Plaintext, AskError>;
}
