//! The supervisor's end of the connection to the broker.

use std::{
    fmt, io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    time::{Duration, Instant},
};

use model::secret::{Binding, SecretName};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{RecvFlags, recv},
};

use crate::{
    plaintext::Plaintext,
    wire::{self, Frame, FrameError, HEADER},
};

/// A connection to the broker.
#[derive(Debug)]
pub struct Link {
    socket: OwnedFd,
    partial: Partial,
}

/// A secret with its value.
pub struct Granted {
    /// Which.
    pub name: SecretName,
    /// Where its value may be written. Without hosts it can only be exposed.
    pub binding: Binding,
    /// The value.
    pub value: Plaintext,
}

/// What has changed since the start.
#[derive(Debug)]
pub enum Notice {
    /// A secret has a new value or another binding.
    Given(Granted),
    /// A secret is no more.
    Taken(SecretName),
}

/// A broker that does not give what was promised.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// It said why.
    #[error("{message}")]
    Refused {
        /// Nothing is wrong but that the cell's user has no value of a secret.
        is_missing: bool,
        /// What happened.
        message: String,
        /// What to do about it; may be empty.
        hint: String,
    },
    /// It has ended.
    #[error("the broker of the vault has ended")]
    Gone,
    /// It took too long.
    #[error("the broker of the vault did not give the secrets within {} s", .0.as_secs())]
    Late(Duration),
    /// It said something that is no frame, or one that cannot come now.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Reading failed.
    #[error("reading from the broker of the vault failed: {0}")]
    Io(#[source] io::Error),
}

impl LinkError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> &str {
        match self {
            Self::Refused { hint, .. } => hint,
            Self::Late(_) => "a `command` of `[secrets]` or a passphrase may be waiting for an answer",
            _ => "",
        }
    }
}

impl fmt::Debug for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Granted")
            .field("name", &self.name)
            .field("binding", &self.binding)
            .finish_non_exhaustive()
    }
}

impl Link {
    /// Over one end of a pair of stream sockets (unix(7)).
    pub fn over(socket: OwnedFd) -> Self {
        Self { socket, partial: Partial::default() }
    }

    /// Waits until everything that was asked for is there. Blocks: meant for before the first connection is served.
    pub fn first(&mut self, timeout: Duration) -> Result<Vec<Granted>, LinkError> {
        let end = Instant::now() + timeout;
        let mut all: Vec<Granted> = Vec::new();
        loop {
            match self.next_frame()? {
                Some(Frame::Given { name, binding, value }) => {
                    // Changed while the others were being given.
                    all.retain(|granted| granted.name != name);
                    all.push(Granted { name, binding, value });
                }
                Some(Frame::Taken(name)) => all.retain(|granted| granted.name != name),
                Some(Frame::Complete) => return Ok(all),
                Some(Frame::Refused { is_missing, message, hint }) => {
                    return Err(LinkError::Refused { is_missing, message, hint });
                }
                None => {
                    let left = end.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(LinkError::Late(timeout));
                    }
                    wait(&self.socket, left)?;
                }
            }
        }
    }

    /// What has changed, if anything has; never waits. To be called until it is `None` whenever the socket is readable.
    pub fn try_next(&mut self) -> Result<Option<Notice>, LinkError> {
        loop {
            match self.next_frame()? {
                Some(Frame::Given { name, binding, value }) => {
                    return Ok(Some(Notice::Given(Granted { name, binding, value })));
                }
                Some(Frame::Taken(name)) => return Ok(Some(Notice::Taken(name))),
                Some(Frame::Complete) => {}
                Some(Frame::Refused { is_missing, message, hint }) => {
                    return Err(LinkError::Refused { is_missing, message, hint });
                }
                None => return Ok(None),
            }
        }
    }

    /// The next whole frame, where it is there.
    fn next_frame(&mut self) -> Result<Option<Frame>, LinkError> {
        loop {
            let room = self.partial.room()?;
            match recv(&self.socket, room, RecvFlags::DONTWAIT) {
                Ok((0, _)) | Err(rustix::io::Errno::CONNRESET) => return Err(LinkError::Gone),
                Ok((more, _)) => {
                    if let Some(body) = self.partial.grown(more)? {
                        return Ok(Some(Frame::read(body.expose())?));
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(LinkError::Io(error.into())),
            }
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// A frame of which a part is there.
#[derive(Default)]
struct Partial {
    header: [u8; HEADER],
    body: Option<Plaintext>,
    /// Bytes of the header, or of the body where that is made.
    have: usize,
}

impl Partial {
    /// Where the next bytes go; never empty.
    fn room(&mut self) -> Result<&mut [u8], FrameError> {
        let have = self.have;
        if self.body.is_none() && have == HEADER {
            self.body = Some(Plaintext::room(wire::body_length(self.header)?));
            self.have = 0;
        }
        let have = self.have;
        let whole = match &mut self.body {
            Some(body) => body.bytes_mut(),
            None => &mut self.header,
        };
        Ok(whole.get_mut(have..).unwrap_or_default())
    }

    /// Takes note of `more` bytes; the body, where it is whole.
    fn grown(&mut self, more: usize) -> Result<Option<Plaintext>, FrameError> {
        self.have += more;
        if self.body.is_none() {
            // A length that cannot be is told at once, not when more comes.
            if self.have == HEADER {
                wire::body_length(self.header)?;
            }
            return Ok(None);
        }
        if self.body.as_ref().is_some_and(|body| body.len() == self.have) {
            self.have = 0;
            return Ok(self.body.take());
        }
        Ok(None)
    }
}

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial").finish_non_exhaustive()
    }
}

fn wait(socket: &OwnedFd, left: Duration) -> Result<(), LinkError> {
    let timeout = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 });
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(LinkError::Io(error.into())),
    }
}

#[cfg(test)]
mod tests;
