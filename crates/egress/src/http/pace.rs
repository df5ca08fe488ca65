//! A connection to a host over which HTTP/1.1 is spoken: the head of an answer must not dribble.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::wire::Wire;

/// Whether the head of an answer is awaited. A host may take any time before its first byte.
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    head: AtomicBool,
    again: AtomicBool,
}

impl Awaited {
    /// A request was sent.
    pub(crate) fn begin(&self) {
        self.again.store(true, Ordering::Relaxed);
        self.head.store(true, Ordering::Release);
    }

    /// The head is there.
    pub(crate) fn end(&self) {
        self.head.store(false, Ordering::Release);
    }
}

/// The connection; reading fails when a head has begun and does not end within `time`.
#[derive(Debug)]
pub(crate) struct Paced {
    wire: Wire,
    awaited: Arc<Awaited>,
    time: Duration,
    clock: Option<Pin<Box<Sleep>>>,
    begun: bool,
}

impl Paced {
    pub(crate) fn new(wire: Wire, time: Duration) -> (Self, Arc<Awaited>) {
        let awaited = Arc::<Awaited>::default();
        (Self { wire, awaited: Arc::clone(&awaited), time, clock: None, begun: false }, awaited)
    }

    pub(crate) fn into_inner(self) -> Wire {
        self.wire
    }

    fn poll_clock(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if !self.awaited.head.load(Ordering::Acquire) || self.awaited.again.swap(false, Ordering::Relaxed) {
            self.clock = None;
            self.begun = false;
        }
        if !self.begun || crate::guard::off("http-clock") {
            return Ok(());
        }
        let time = self.time;
        let clock = self.clock.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        match clock.as_mut().poll(cx) {
            Poll::Ready(()) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the head of the answer took too long"))
            }
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Paced {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.poll_clock(cx)?;
        let before = out.filled().len();
        let read = Pin::new(&mut this.wire).poll_read(cx, out);
        this.begun |= out.filled().len() > before;
        read
    }
}

impl AsyncWrite for Paced {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}
