//! A connection that speaks HTTP/2, below the library that reads it: what has begun and is not data must end in time, and
//! whether all that was to be sent has been taken by the system.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Sleep;

use crate::wire::Wire;

/// RFC 9113 §3.4: what a client says first.
const PREFACE: usize = 24;
/// RFC 9113 §4.1.
const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PUSH_PROMISE: u8 = 5;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// What was written, as others want to know it.
#[derive(Debug, Default)]
pub(super) struct Written {
    blocked: AtomicBool,
    rounds: AtomicU64,
    ended: AtomicBool,
    news: Notify,
    driver: Mutex<Option<Waker>>,
}

impl Written {
    /// Called by who drives the connection, after each time.
    pub(super) fn driven(&self, cx: &Context<'_>) {
        *self.driver.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        if !self.blocked.load(Ordering::Acquire) {
            self.rounds.fetch_add(1, Ordering::AcqRel);
            self.news.notify_waiters();
        }
    }

    /// Called when nobody drives the connection any more.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.news.notify_waiters();
    }

    /// Ends when all that was to be sent at the call has been taken by the system, or the connection has ended.
    pub(super) async fn taken(&self) {
        // The round under way may have begun before the call.
        let enough = self.rounds.load(Ordering::Acquire) + 2;
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if self.ended.load(Ordering::Acquire) || self.rounds.load(Ordering::Acquire) >= enough {
                return;
            }
            let driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(driver) = driver {
                driver.wake();
            }
            news.await;
        }
    }
}

/// Where in the stream of frames reading is.
#[derive(Debug)]
struct Place {
    header: [u8; HEADER],
    have: usize,
    left: usize,
    data: bool,
    block: bool,
}

impl Place {
    /// Whether something has begun that must end soon.
    const fn is_within(&self) -> bool {
        self.block || self.have > 0 || (self.left > 0 && !self.data)
    }

    fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let here = self.left.min(bytes.len());
                self.left -= here;
                bytes = bytes.get(here..).unwrap_or_default();
                continue;
            }
            let here = (HEADER - self.have).min(bytes.len());
            let (part, rest) = bytes.split_at(here);
            if let Some(space) = self.header.get_mut(self.have..self.have + here) {
                space.copy_from_slice(part);
            }
            self.have += here;
            bytes = rest;
            if self.have == HEADER {
                self.have = 0;
                let [a, b, c, kind, flags, ..] = self.header;
                self.left = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
                self.data = kind == DATA;
                match kind {
                    HEADERS | PUSH_PROMISE | CONTINUATION => self.block = flags & END_HEADERS == 0,
                    _ => {}
                }
            }
        }
    }
}

/// The connection.
#[derive(Debug)]
pub(super) struct Watched {
    wire: Wire,
    place: Place,
    time: Duration,
    clock: Option<Pin<Box<Sleep>>>,
    written: Arc<Written>,
}

impl Watched {
    /// Towards a client, which begins with a preface.
    pub(super) fn client(wire: Wire, time: Duration) -> Self {
        Self::new(wire, time, PREFACE)
    }

    /// Towards a host.
    pub(super) fn host(wire: Wire, time: Duration) -> Self {
        Self::new(wire, time, 0)
    }

    fn new(wire: Wire, time: Duration, left: usize) -> Self {
        let place = Place { header: [0; HEADER], have: 0, left, data: false, block: false };
        Self { wire, place, time, clock: None, written: Arc::default() }
    }

    pub(super) fn written(&self) -> Arc<Written> {
        Arc::clone(&self.written)
    }

    fn wrote<T>(&self, result: Poll<T>) -> Poll<T> {
        self.written.blocked.store(result.is_pending(), Ordering::Release);
        result
    }
}

impl AsyncRead for Watched {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = out.filled().len();
        let read = Pin::new(&mut this.wire).poll_read(cx, out);
        this.place.follow(out.filled().get(before..).unwrap_or_default());
        if !this.place.is_within() || crate::guard::off("http-clock") {
            this.clock = None;
            return read;
        }
        if read.is_pending() {
            let time = this.time;
            let clock = this.clock.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
            if clock.as_mut().poll(cx).is_ready() {
                let error = io::Error::new(io::ErrorKind::TimedOut, "a frame that is not data took too long");
                return Poll::Ready(Err(error));
            }
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.wire).poll_write(cx, bytes);
        this.wrote(wrote)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.wire).poll_write_vectored(cx, bytes);
        this.wrote(wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.wire).poll_flush(cx);
        this.wrote(flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().wire).poll_shutdown(cx)
    }
}
