//! Moving bytes between two connections through a pipe, without copying them (splice(2)).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Capacity asked for a pipe, in bytes. The kernel gives less to a user with many pipes (pipe(7),
/// `pipe-user-pages-soft`), and less is slower and nothing else.
const CAPACITY: usize = 512 * 1024;

/// Most bytes moved by one call.
const MOST: usize = 1024 * 1024;

/// Most pipes at once; directions beyond copy.
const PIPES: usize = 64;

/// Most empty pipes kept for the next direction.
const SPARE: usize = 8;

/// Bytes a direction must move between two moments of nothing for its pipe to stay.
const WORTH: usize = 128 * 1024;

/// The pipes of one egress.
#[derive(Debug, Default)]
pub(crate) struct Pipes(Mutex<Stock>);

#[derive(Debug, Default)]
struct Stock {
    out: usize,
    spare: Vec<(OwnedFd, OwnedFd)>,
}

impl Pipes {
    /// A pipe for one direction; `None` when there are enough of them, or the system has none.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Splice> {
        let mut stock = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stock.out >= PIPES {
            return None;
        }
        let ends = stock.spare.pop().or_else(make_pipe)?;
        stock.out += 1;
        Some(Splice { ends: Some(ends), pipes: Arc::clone(self), holds: 0, moved: 0 })
    }
}

fn make_pipe() -> Option<(OwnedFd, OwnedFd)> {
    let ends = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
    // A pipe of the ordinary size moves bytes too.
    let _smaller = fcntl_setpipe_size(&ends.0, CAPACITY).is_err();
    Some(ends)
}

/// What filling a pipe came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    /// So many bytes.
    Bytes(usize),
    /// Nothing is there now.
    Nothing,
    /// The source has ended.
    End,
}

/// A pipe in use by one direction.
#[derive(Debug)]
pub(crate) struct Splice {
    ends: Option<(OwnedFd, OwnedFd)>,
    pipes: Arc<Pipes>,
    holds: usize,
    moved: usize,
}

impl Splice {
    /// Bytes in the pipe.
    pub(crate) const fn holds(&self) -> usize {
        self.holds
    }

    /// Whether enough moved since the last time this was asked.
    pub(crate) fn is_worth_it(&mut self) -> bool {
        std::mem::take(&mut self.moved) >= WORTH
    }

    /// Moves what the source has into the pipe, which must be empty: in a full pipe "no room" would look like "nothing
    /// there", and the wake-up be lost.
    pub(crate) fn fill(&mut self, from: &TcpStream) -> io::Result<Moved> {
        let Some((_, writer)) = self.ends.as_ref().filter(|_| self.holds == 0) else {
            return Ok(Moved::Nothing);
        };
        match moved(from, Interest::READABLE, || one_way(from, writer, MOST)) {
            Ok(0) => Ok(Moved::End),
            Ok(count) => {
                self.holds = count;
                self.moved += count;
                Ok(Moved::Bytes(count))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Moved::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Moves what the pipe holds to the other side, as far as that takes it.
    pub(crate) fn drain(&mut self, to: &TcpStream) -> io::Result<()> {
        let Some((reader, _)) = &self.ends else { return Ok(()) };
        while self.holds > 0 {
            match moved(to, Interest::WRITABLE, || one_way(reader, to, self.holds)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.holds -= count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn moved(
    stream: &TcpStream,
    interest: Interest,
    call: impl Fn() -> Result<usize, Errno>,
) -> io::Result<usize> {
    stream.try_io(interest, || {
        loop {
            match call() {
                Err(Errno::INTR) => {}
                other => return other.map_err(io::Error::from),
            }
        }
    })
}

fn one_way(from: impl AsFd, to: impl AsFd, count: usize) -> Result<usize, Errno> {
    splice(from, None, to, None, count, SpliceFlags::MOVE | SpliceFlags::NONBLOCK)
}

impl Drop for Splice {
    fn drop(&mut self) {
        let mut stock = self.pipes.0.lock().unwrap_or_else(PoisonError::into_inner);
        stock.out = stock.out.saturating_sub(1);
        // A pipe that still holds bytes of one flow must never reach another.
        if self.holds == 0
            && stock.spare.len() < SPARE
            && let Some(ends) = self.ends.take()
        {
            stock.spare.push(ends);
        }
    }
}
