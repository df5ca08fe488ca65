//! What stands before hyper on a connection from the cell: it lets a head through only after it was read strictly, a body
//! only to its end, and nothing at all while a request to become a WebSocket is undecided.

use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::chunks::Chunks;
use super::head::{self, Framing, Head, HeadError, Target};

/// Handed to hyper in place of a head that is refused: it makes hyper ask the service, in the order of the requests.
const PLACEHOLDER: &[u8] = b"GET / HTTP/1.1\r\nhost: refused\r\nconnection: close\r\n\r\n";

/// Bytes read from the connection at once.
const READ: usize = 16 * 1024;

/// What a gate allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GateLimits {
    /// Longest head in bytes.
    pub(crate) head: usize,
    /// Most header lines.
    pub(crate) headers: usize,
    /// Time from a head's first byte to its last.
    pub(crate) time: Duration,
    /// Whether CONNECT is taken.
    pub(crate) connect: bool,
}

/// The service's side of a gate.
#[derive(Debug, Clone, Default)]
pub(crate) struct GateKeeper(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    heads: VecDeque<Result<Head, HeadError>>,
    go_on: bool,
    fault: Option<&'static str>,
    waker: Option<Waker>,
}

impl GateKeeper {
    /// The strict reading of the request hyper has just handed over.
    pub(crate) fn next_head(&self) -> Option<Result<Head, HeadError>> {
        self.lock().heads.pop_front()
    }

    /// The request to switch protocols was not granted: what comes now are requests again.
    pub(crate) fn go_on(&self) {
        let mut kept = self.lock();
        kept.go_on = true;
        if let Some(waker) = kept.waker.take() {
            waker.wake();
        }
    }

    /// Why the connection was ended within a message, if it was.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        self.lock().fault
    }

    /// Ends the connection within a message.
    fn fail(&self, fault: &'static str, kind: io::ErrorKind) -> io::Error {
        self.lock().fault = Some(fault);
        io::Error::new(kind, fault)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection from the cell whose incoming bytes are read strictly before hyper sees them.
#[derive(Debug)]
pub(crate) struct Gate<S> {
    io: S,
    limits: GateLimits,
    keeper: GateKeeper,
    state: State,
    /// Read and not yet judged.
    inbox: Vec<u8>,
    /// Judged and not yet taken by hyper.
    passed: Vec<u8>,
    taken: usize,
}

#[derive(Debug)]
enum State {
    /// Between two messages, or in a head; the clock runs from the head's first byte.
    Head {
        clock: Option<Pin<Box<Sleep>>>,
        searched: usize,
    },
    Length {
        left: u64,
    },
    Chunked {
        chunks: Chunks,
    },
    /// A switch of protocols was asked for. What comes stays with the gate: if the switch is granted the gate is taken
    /// away with it, else it is requests.
    Undecided,
    /// Nothing is read strictly (a control of the tests).
    Open,
    /// After a refused head: nothing more is read.
    Shut,
}

impl<S> Gate<S> {
    pub(crate) fn new(io: S, limits: GateLimits) -> (Self, GateKeeper) {
        let keeper = GateKeeper::default();
        let unguarded = crate::guard::off("http-head");
        let state = if unguarded { State::Open } else { State::Head { clock: None, searched: 0 } };
        let gate = Self {
            io,
            limits,
            keeper: keeper.clone(),
            state,
            inbox: Vec::new(),
            passed: Vec::new(),
            taken: 0,
        };
        (gate, keeper)
    }

    /// The connection itself after a switch, and the bytes that came before the gate was taken away.
    pub(crate) fn into_inner(self) -> (S, Vec<u8>) {
        let mut early = self.passed;
        early.drain(..self.taken.min(early.len()));
        early.extend_from_slice(&self.inbox);
        (self.io, early)
    }

    /// Judges what is in the inbox, and says whether something became of it.
    fn judge(&mut self) -> io::Result<bool> {
        match &mut self.state {
            State::Head { searched, .. } => {
                // RFC 9112 §2.2: an empty line before a request is to be ignored.
                if *searched == 0 && self.inbox.starts_with(b"\r\n") {
                    self.inbox.drain(..2);
                }
                let found = head::end_of_head(&self.inbox, *searched);
                *searched = self.inbox.len();
                let length = found.unwrap_or(self.inbox.len());
                if length > self.limits.head {
                    self.refuse(HeadError::TooLarge);
                    return Ok(true);
                }
                match found {
                    Some(length) => self.pass_head(length),
                    None => match head::check_unfinished(&self.inbox) {
                        Ok(()) => return Ok(false),
                        Err(error) => self.refuse(error),
                    },
                }
                Ok(true)
            }
            State::Length { left } => {
                let here = usize::try_from(*left).unwrap_or(usize::MAX).min(self.inbox.len());
                *left -= here as u64;
                let ended = *left == 0;
                self.pass(here, ended);
                Ok(here > 0 || ended)
            }
            State::Chunked { chunks } => {
                let here = chunks.follow(&self.inbox).map_err(|_| {
                    self.keeper.fail("the chunked body is malformed", io::ErrorKind::InvalidData)
                })?;
                let ended = *chunks == Chunks::Done;
                self.pass(here, ended);
                Ok(here > 0 || ended)
            }
            State::Open => {
                let here = self.inbox.len();
                self.pass(here, false);
                Ok(here > 0)
            }
            State::Undecided | State::Shut => Ok(false),
        }
    }

    fn pass(&mut self, count: usize, ended: bool) {
        if self.passed.is_empty() && count == self.inbox.len() {
            std::mem::swap(&mut self.passed, &mut self.inbox);
        } else {
            self.passed.extend_from_slice(self.inbox.get(..count).unwrap_or_default());
            self.inbox.drain(..count);
        }
        if ended {
            self.state = State::Head { clock: None, searched: 0 };
        }
    }

    fn pass_head(&mut self, length: usize) {
        let bytes = self.inbox.get(..length).unwrap_or_default();
        let head = match Head::parse(bytes, self.limits.headers, self.limits.connect) {
            Ok(head) => head,
            Err(error) => return self.refuse(error),
        };
        let switch = head.websocket || matches!(head.target, Target::Authority(_));
        let next = match head.framing {
            Framing::None if switch => State::Undecided,
            Framing::None => State::Head { clock: None, searched: 0 },
            Framing::Length(left) => State::Length { left },
            Framing::Chunked => State::Chunked { chunks: Chunks::START },
        };
        {
            let mut kept = self.keeper.lock();
            kept.heads.push_back(Ok(head));
            kept.go_on = false;
        }
        self.pass(length, false);
        self.state = next;
    }

    fn refuse(&mut self, error: HeadError) {
        self.keeper.lock().heads.push_back(Err(error));
        self.passed.extend_from_slice(PLACEHOLDER);
        self.inbox = Vec::new();
        self.state = State::Shut;
    }

    /// Bytes before the end of a body of a known length.
    fn left(&self) -> u64 {
        if let State::Length { left } = self.state { left } else { 0 }
    }

    fn poll_decision(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut kept = self.keeper.lock();
        if !std::mem::take(&mut kept.go_on) {
            kept.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(kept);
        self.state = State::Head { clock: None, searched: 0 };
        Poll::Ready(())
    }

    /// Starts the head's clock with its first byte, and fails when it has run out.
    fn poll_clock(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let State::Head { clock, .. } = &mut self.state else { return Ok(()) };
        if self.inbox.is_empty() {
            return Ok(());
        }
        let time = self.limits.time;
        let clock = clock.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + time)));
        match clock.as_mut().poll(cx) {
            Poll::Ready(()) if !crate::guard::off("http-clock") => {
                Err(self.keeper.fail("the request head took too long", io::ErrorKind::TimedOut))
            }
            _ => Ok(()),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.taken < this.passed.len() {
                let waiting = this.passed.get(this.taken..).unwrap_or_default();
                let here = waiting.len().min(out.remaining());
                out.put_slice(waiting.get(..here).unwrap_or_default());
                this.taken += here;
                if this.taken == this.passed.len() {
                    this.passed.clear();
                    this.taken = 0;
                }
                return Poll::Ready(Ok(()));
            }
            if !this.inbox.is_empty() && this.judge()? {
                continue;
            }
            match this.state {
                State::Shut => return Poll::Pending,
                State::Undecided => {
                    ready!(this.poll_decision(cx));
                    continue;
                }
                State::Open => return Pin::new(&mut this.io).poll_read(cx, out),
                State::Head { .. } | State::Length { .. } | State::Chunked { .. } => {}
            }
            if this.inbox.is_empty() && this.left() > 0 {
                return this.poll_body(cx, out);
            }
            this.poll_clock(cx)?;
            if this.inbox.is_empty() {
                // Between messages nothing is held: most connections are idle most of the time.
                this.inbox = Vec::new();
                this.passed = Vec::new();
            }
            if ready!(this.poll_fill(cx))? == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> Gate<S> {
    /// Reads a body of a known length straight into hyper's space: there is nothing in it to judge but its end.
    fn poll_body(&mut self, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = self.left();
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(out.remaining());
        let mut space = ReadBuf::new(out.initialize_unfilled_to(most));
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut space))?;
        let count = space.filled().len();
        out.advance(count);
        let left = left.saturating_sub(count as u64);
        self.state = match left {
            0 => State::Head { clock: None, searched: 0 },
            left => State::Length { left },
        };
        Poll::Ready(Ok(()))
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = [MaybeUninit::uninit(); READ];
        let mut buffer = ReadBuf::uninit(&mut space);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut buffer))?;
        self.inbox.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests;
