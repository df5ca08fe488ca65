//! Bytes between the two halves of a flow, unread.
//!
//! An idle direction holds no buffer: what is read goes through one buffer of the thread and is written at once; only
//! what the other side does not take is kept. A direction in which much flows changes to splice(2), which moves pages
//! and copies nothing.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::net::TcpStream;

use crate::half::{drained, shut};
use crate::meter::{Meter, Way};
use crate::splice::{Moved, Pipes, Splice};

/// Size of the thread's buffer, in bytes: also the most a direction keeps while the other side takes nothing.
const BUFFER: usize = 64 * 1024;

/// Full buffers in a row after which a direction splices. Small exchanges never get there, and copying is cheaper for
/// them.
const FULL_IN_A_ROW: u32 = 4;

/// Turns of one direction before the other one and other tasks have theirs.
const TURNS: u32 = 32;

thread_local! {
    static SPACE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Moves bytes both ways until both sides have ended, one of them failed, or the future is dropped. The end of one
/// side is passed on and the other direction goes on (half-close).
///
/// # Errors
/// The first error of either connection.
pub(crate) async fn run(
    inner: (&Arc<TcpStream>, Vec<u8>),
    outer: (&Arc<TcpStream>, Vec<u8>),
    meter: &Meter,
    pipes: &Arc<Pipes>,
) -> io::Result<()> {
    let mut up = Direction::new(inner.0, outer.0, inner.1, Way::Up, pipes);
    let mut down = Direction::new(outer.0, inner.0, outer.1, Way::Down, pipes);
    poll_fn(|cx| {
        let up = up.poll(cx, meter)?;
        let down = down.poll(cx, meter)?;
        if up.is_ready() && down.is_ready() { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

struct Direction<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    way: Way,
    pipes: &'a Arc<Pipes>,
    /// Read and not yet taken by the other side.
    kept: Vec<u8>,
    sent: usize,
    splice: Option<Splice>,
    full: u32,
    ended: bool,
    done: bool,
}

impl<'a> Direction<'a> {
    fn new(from: &'a TcpStream, to: &'a TcpStream, early: Vec<u8>, way: Way, pipes: &'a Arc<Pipes>) -> Self {
        Self { from, to, way, pipes, kept: early, sent: 0, splice: None, full: 0, ended: false, done: false }
    }

    /// Ready when this direction has ended and the end was passed on.
    fn poll(&mut self, cx: &mut Context<'_>, meter: &Meter) -> Poll<io::Result<()>> {
        if self.done {
            return Poll::Ready(Ok(()));
        }
        for _ in 0..TURNS {
            ready!(self.poll_kept(cx))?;
            if self.ended {
                shut(self.to)?;
                self.done = true;
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_more(cx, meter))?;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Hands on what is kept.
    fn poll_kept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(splice) = &mut self.splice
            && splice.holds() > 0
        {
            ready!(self.to.poll_write_ready(cx))?;
            splice.drain(self.to)?;
        }
        while self.sent < self.kept.len() {
            ready!(self.to.poll_write_ready(cx))?;
            match self.to.try_write(self.kept.get(self.sent..).unwrap_or_default()) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        if !self.kept.is_empty() {
            self.kept = Vec::new();
            self.sent = 0;
        }
        Poll::Ready(Ok(()))
    }

    /// Takes more from the source, by the way that fits how much there is.
    fn poll_more(&mut self, cx: &mut Context<'_>, meter: &Meter) -> Poll<io::Result<()>> {
        ready!(self.from.poll_read_ready(cx))?;
        let Some(splice) = &mut self.splice else { return Poll::Ready(self.copy(meter)) };
        match splice.fill(self.from)? {
            Moved::Bytes(count) => {
                meter.count(self.way, count);
                splice.drain(self.to)?;
            }
            Moved::End => {
                self.ended = true;
                self.splice = None;
            }
            Moved::Nothing if splice.is_worth_it() => {}
            Moved::Nothing => self.splice = None,
        }
        Poll::Ready(Ok(()))
    }

    fn copy(&mut self, meter: &Meter) -> io::Result<()> {
        SPACE.with_borrow_mut(|space| {
            space.resize(BUFFER, 0);
            let count = match self.from.try_read(space) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(());
                }
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.full = 0;
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            meter.count(self.way, count);
            if count < BUFFER {
                drained(self.from);
            }
            let read = space.get(..count).unwrap_or_default();
            let written = match self.to.try_write(read) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            };
            self.kept.extend_from_slice(read.get(written..).unwrap_or_default());
            self.full = if count == BUFFER { self.full + 1 } else { 0 };
            if self.full >= FULL_IN_A_ROW {
                self.full = 0;
                self.splice = self.pipes.take();
            }
            Ok(())
        })
    }
}
