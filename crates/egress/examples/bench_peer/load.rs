//! Bodies of a known length that cost nothing to make.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// Most bytes handed over at once.
const CHUNK: usize = 64 * 1024;

static BYTES: [u8; CHUNK] = [b'x'; CHUNK];

/// A body of so many bytes.
#[derive(Debug)]
pub(crate) struct Load(pub(crate) u64);

impl Body for Load {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let count = usize::try_from(self.0).unwrap_or(CHUNK).min(CHUNK);
        self.0 -= count as u64;
        let chunk = BYTES.get(..count).filter(|chunk| !chunk.is_empty());
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(Bytes::from_static(chunk)))))
    }

    fn is_end_stream(&self) -> bool {
        self.0 == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0)
    }
}
