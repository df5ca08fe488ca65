//! A connection in the clear or inside TLS, towards the cell or a host.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio_rustls::{client, server};

use crate::half::Half;

/// What messages are read from and written to.
#[derive(Debug)]
pub(crate) enum Wire {
    /// In the clear.
    Plain(Half),
    /// TLS in which we are the server: towards the cell.
    Cell(Box<server::TlsStream<Half>>),
    /// TLS in which we are the client: towards a host.
    Host(Box<client::TlsStream<Half>>),
    /// Within this process: the stand-in for a host.
    Inside(DuplexStream),
}

macro_rules! each {
    ($wire:expr, $io:ident => $do:expr) => {
        match $wire {
            Self::Plain(half) => {
                let $io = Pin::new(half);
                $do
            }
            Self::Cell(stream) => {
                let $io = Pin::new(stream.as_mut());
                $do
            }
            Self::Host(stream) => {
                let $io = Pin::new(stream.as_mut());
                $do
            }
            Self::Inside(stream) => {
                let $io = Pin::new(stream);
                $do
            }
        }
    };
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = each!(this, io => io.poll_read(cx, out));
        match (this, read) {
            // Many clients close without saying so (RFC 8446 §6.1). What a request lacks then, its framing tells.
            (Self::Cell(_), Poll::Ready(Err(error))) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Poll::Ready(Ok(()))
            }
            (_, read) => read,
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self.get_mut(), io => io.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self.get_mut(), io => io.poll_write_vectored(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), io => io.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), io => io.poll_shutdown(cx))
    }
}
