//! Asking for passphrases at the terminal.

use secrets::{
    plaintext::Plaintext,
    terminal::{AskError, ask_hidden, ask_new},
    vault::Opener,
};

/// Asks whoever sits at the terminal of this process.
#[derive(Debug, Default)]
pub(crate) struct AtTerminal {}

impl Opener for AtTerminal {
    fn passphrase(&mut self, of: &str) -> Result<Plaintext, AskError> {
        ask_hidden(&format!("fumehood: {of}"))
    }

    fn new_passphrase(&mut self) -> Result<Plaintext, AskError> {
        ask_new("fumehood: new passphrase")
    }
}
