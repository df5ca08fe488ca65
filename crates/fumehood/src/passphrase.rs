//! Asking for passphrases at the terminal.

use std::os::fd::{AsFd, OwnedFd};

use secrets::{
    plaintext::Plaintext,
    terminal::{AskError, ask_hidden_for, ask_new},
    vault::Opener,
};

/// Asks whoever sits at the terminal of this process.
#[derive(Debug, Default)]
pub(crate) struct AtTerminal {
    asker: Option<OwnedFd>,
}

impl AtTerminal {
    /// For somebody at the other end of a connection: when they go away nobody is asked any more.
    pub(crate) fn for_peer(connection: OwnedFd) -> Self {
        Self { asker: Some(connection) }
    }
}

impl Opener for AtTerminal {
    fn passphrase(&mut self, of: &str) -> Result<Plaintext, AskError> {
        ask_hidden_for(&format!("fumehood: {of}"), self.asker.as_ref().map(AsFd::as_fd))
    }

    fn new_passphrase(&mut self) -> Result<Plaintext, AskError> {
        ask_new("fumehood: new passphrase")
    }
}
