//! Asking a person for something that must not be seen on the screen.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::fd::BorrowedFd,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr},
};

use crate::{plaintext::Plaintext, wire::MAX_VALUE};

/// Somebody who could not be asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is nobody.
    #[error("there is no terminal to ask at")]
    NoTerminal,
    /// They broke off.
    #[error("broken off")]
    BrokenOff,
    /// They typed nothing.
    #[error("nothing was typed")]
    Nothing,
    /// They typed two different things.
    #[error("the two are not the same")]
    Different,
    /// It is longer than any value.
    #[error("at most {MAX_VALUE} bytes can be typed")]
    Long,
    /// The terminal failed.
    #[error("the terminal failed: {0}")]
    Io(#[from] io::Error),
}

impl AskError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoTerminal => {
                "run it at a terminal; a program that starts it without one needs a vault whose key is in a file: \
                 `fumehood secret seal --key-file`"
            }
            _ => "",
        }
    }
}

/// Asks at the terminal of this process, whatever its stdin is. What is typed is not shown.
pub fn ask_hidden(question: &str) -> Result<Plaintext, AskError> {
    ask_hidden_for(question, None)
}

/// The same, for somebody who may go away before there is an answer: `asker` is a connection to them, over which they say
/// nothing. Without them the terminal is given back and nothing is read.
pub fn ask_hidden_for(question: &str, asker: Option<BorrowedFd<'_>>) -> Result<Plaintext, AskError> {
    let mut terminal =
        OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|_| AskError::NoTerminal)?;
    let hidden = Hidden::on(&terminal)?;
    write!(terminal, "{question}: ")?;
    let typed = read_line(&mut terminal, asker);
    writeln!(terminal)?;
    drop(hidden);
    typed
}

/// Asks twice.
pub fn ask_new(question: &str) -> Result<Plaintext, AskError> {
    let first = ask_hidden(question)?;
    let again = ask_hidden(&format!("{question}, again"))?;
    if first.expose() == again.expose() { Ok(first) } else { Err(AskError::Different) }
}

fn read_line(terminal: &mut File, asker: Option<BorrowedFd<'_>>) -> Result<Plaintext, AskError> {
    let mut line = Plaintext::room(MAX_VALUE);
    let mut have = 0;
    loop {
        if let Some(asker) = asker {
            wait(terminal, asker)?;
        }
        let mut key = [0];
        match terminal.read(&mut key) {
            Ok(0) => return Err(AskError::BrokenOff),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        }
        match key[0] {
            b'\n' | b'\r' if have == 0 => return Err(AskError::Nothing),
            b'\n' | b'\r' => break,
            // Ctrl-C, Ctrl-D, Ctrl-Z, Ctrl-\.
            3 | 4 | 26 | 28 => return Err(AskError::BrokenOff),
            // Ctrl-U.
            21 => have = 0,
            8 | 127 => have = before_last_character(line.expose().get(..have).unwrap_or_default()),
            byte => {
                *line.bytes_mut().get_mut(have).ok_or(AskError::Long)? = byte;
                have += 1;
            }
        }
    }
    line.truncate(have);
    // Another place, of its own size.
    Ok(Plaintext::copied(line.expose()))
}

/// Waits for a key, but not longer than there is somebody to tell.
fn wait(terminal: &File, asker: BorrowedFd<'_>) -> Result<(), AskError> {
    loop {
        let mut both = [PollFd::new(terminal, PollFlags::IN), PollFd::from_borrowed_fd(asker, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) if both.last().is_some_and(|asker| !asker.revents().is_empty()) => {
                return Err(AskError::BrokenOff);
            }
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(AskError::Io(error.into())),
        }
    }
}

/// Where the last character of UTF-8 begins; 0 where there is none.
fn before_last_character(text: &[u8]) -> usize {
    text.iter().rposition(|byte| !(0x80..0xc0).contains(byte)).unwrap_or(0)
}

/// Keeps what is typed from the screen, until it is dropped. Keys are no signals meanwhile: a process that is ended by one
/// would leave a terminal that shows nothing.
struct Hidden {
    terminal: File,
    before: Termios,
}

impl Hidden {
    fn on(terminal: &File) -> Result<Self, AskError> {
        let terminal = terminal.try_clone()?;
        let before = tcgetattr(&terminal).map_err(|_| AskError::NoTerminal)?;
        let mut quiet = before.clone();
        // The kernel's own line editing holds 4095 bytes (termios(3)), which is less than a value may have.
        quiet
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ISIG | LocalModes::ICANON);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Flush, &quiet).map_err(io::Error::from)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        tcsetattr(&self.terminal, OptionalActions::Flush, &self.before).ok();
    }
}
