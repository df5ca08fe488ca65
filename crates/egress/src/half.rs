//! One half of a flow: a connection, the bytes already read from it, and the meter it counts on.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use crate::meter::{Meter, Way};

/// Bytes taken at once for a reader that asks for less: two full records of TLS and what is around them.
const DEEP: usize = 36 * 1024;

thread_local! {
    static SPACE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A connection that a flow's task reads and writes while the registry can reset it.
#[derive(Debug)]
pub(crate) struct Half {
    stream: Arc<TcpStream>,
    /// Read before this half was handed on; comes first.
    early: Vec<u8>,
    taken: usize,
    meter: Arc<Meter>,
    /// What reading from this half counts as.
    reads: Way,
    /// Whether more is taken from the connection at once than was asked for.
    deep: bool,
}

impl Half {
    /// The half towards the cell: what is read from it goes up.
    pub(crate) const fn inner(stream: Arc<TcpStream>, meter: Arc<Meter>) -> Self {
        Self { stream, early: Vec::new(), taken: 0, meter, reads: Way::Up, deep: false }
    }

    /// The half towards the upstream: what is read from it comes down.
    pub(crate) const fn outer(stream: Arc<TcpStream>, meter: Arc<Meter>) -> Self {
        Self { stream, early: Vec::new(), taken: 0, meter, reads: Way::Down, deep: false }
    }

    /// Puts bytes that were read already in front of what is still to come.
    #[must_use]
    pub(crate) fn with_early(mut self, bytes: &[u8]) -> Self {
        let mut early = bytes.to_vec();
        early.extend_from_slice(self.early.get(self.taken..).unwrap_or_default());
        self.early = early;
        self.taken = 0;
        self
    }

    /// For readers that ask for little at a time, as TLS does: what is there is taken at once, and kept for them.
    #[must_use]
    pub(crate) const fn deep(mut self) -> Self {
        self.deep = true;
        self
    }

    /// The connection, and the bytes that come before what it still holds.
    pub(crate) fn into_parts(self) -> (Arc<TcpStream>, Vec<u8>) {
        let mut early = self.early;
        early.drain(..self.taken.min(early.len()));
        (self.stream, early)
    }
}

impl AsyncRead for Half {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let early = this.early.get(this.taken..).unwrap_or_default();
        if !early.is_empty() {
            let here = early.len().min(out.remaining());
            out.put_slice(early.get(..here).unwrap_or_default());
            this.taken += here;
            if this.taken == this.early.len() {
                this.early = Vec::new();
                this.taken = 0;
            }
            return Poll::Ready(Ok(()));
        }
        if this.deep && out.remaining() < DEEP {
            return this.poll_deep(cx, out);
        }
        loop {
            ready!(this.stream.poll_read_ready(cx))?;
            let space = out.initialize_unfilled();
            let room = space.len();
            match this.stream.try_read(space) {
                Ok(count) => {
                    if count > 0 && count < room {
                        drained(&this.stream);
                    }
                    out.advance(count);
                    this.meter.count(this.reads, count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Half {
    fn poll_deep(&mut self, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        SPACE.with_borrow_mut(|space| {
            space.resize(DEEP, 0);
            loop {
                ready!(self.stream.poll_read_ready(cx))?;
                match self.stream.try_read(space) {
                    Ok(count) => {
                        if count > 0 && count < DEEP {
                            drained(&self.stream);
                        }
                        let read = space.get(..count).unwrap_or_default();
                        let (now, later) = read.split_at(count.min(out.remaining()));
                        out.put_slice(now);
                        self.early.extend_from_slice(later);
                        self.meter.count(self.reads, count);
                        return Poll::Ready(Ok(()));
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        })
    }

    fn poll_written(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match write(&self.stream) {
                Ok(count) => {
                    self.meter.touch();
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Half {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_written(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(cx, |stream| stream.try_write_vectored(bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(shut(&self.stream))
    }
}

/// Notes that a read took everything there was, so that the next waits for news and does not ask the kernel in vain:
/// news after the read are told once more (epoll(7), edge-triggered), and an end stays noted.
pub(crate) fn drained(stream: &TcpStream) {
    let nothing = || -> io::Result<()> { Err(io::ErrorKind::WouldBlock.into()) };
    let _noted = stream.try_io(Interest::READABLE, nothing).is_err();
}

/// Says that nothing more will be sent; a connection that is gone already is no error.
pub(crate) fn shut(stream: &TcpStream) -> io::Result<()> {
    match rustix::net::shutdown(stream, rustix::net::Shutdown::Write) {
        Ok(()) | Err(rustix::io::Errno::NOTCONN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
