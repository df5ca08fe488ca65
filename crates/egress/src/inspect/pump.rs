//! Bodies of HTTP/2: read from one connection, written to the other, at the pace of the slower.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream};
use http_body::{Body, Frame};

use crate::credential::body::BodyError;

/// A body that comes over HTTP/2.
#[derive(Debug)]
pub(super) struct Received {
    stream: RecvStream,
    data: bool,
}

impl Received {
    pub(super) const fn new(stream: RecvStream) -> Self {
        Self { stream, data: true }
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let this = self.get_mut();
        if this.data {
            match ready!(this.stream.poll_data(cx)) {
                Some(Ok(bytes)) => {
                    // Whoever takes a piece takes the next only when this one has room on the other side.
                    this.stream.flow_control().release_capacity(bytes.len())?;
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => this.data = false,
            }
        }
        let trailers = ready!(this.stream.poll_trailers(cx))?;
        Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }
}

/// Why a body did not get to its end.
#[derive(Debug)]
pub(super) enum PumpError {
    /// The one it goes to wants no more of it.
    Unwanted(Reason),
    /// The one it comes from gave up.
    Ended(Reason),
}

/// Writes a body to a stream of HTTP/2.
#[derive(Debug)]
pub(super) struct Pump<B> {
    body: B,
    to: SendStream<Bytes>,
    piece: Bytes,
    last: bool,
    done: bool,
}

impl<B> Pump<B>
where
    B: Body<Data = Bytes, Error = BodyError> + Unpin,
{
    pub(super) fn new(body: B, to: SendStream<Bytes>) -> Self {
        Self { body, to, piece: Bytes::new(), last: false, done: false }
    }

    /// Ready when all was handed over, or no more will be.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), PumpError>> {
        while !self.done {
            if let Poll::Ready(reset) = self.to.poll_reset(cx) {
                return Poll::Ready(Err(PumpError::Unwanted(reset.unwrap_or(Reason::INTERNAL_ERROR))));
            }
            if !self.piece.is_empty() {
                ready!(self.poll_send(cx))?;
                continue;
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => self.finish(Bytes::new())?,
                Some(Err(error)) => return Poll::Ready(Err(PumpError::Ended(reason(&error)))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        self.last = self.body.is_end_stream();
                        if data.is_empty() && self.last {
                            self.finish(data)?;
                        } else {
                            self.piece = data;
                        }
                    }
                    Err(frame) => {
                        if let Ok(trailers) = frame.into_trailers() {
                            self.to.send_trailers(trailers).map_err(unwanted)?;
                            self.done = true;
                        }
                    }
                },
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Hands over as much of the piece as there is room for.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), PumpError>> {
        self.to.reserve_capacity(self.piece.len());
        if self.to.capacity() == 0 {
            match ready!(self.to.poll_capacity(cx)) {
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Err(unwanted(error))),
                None => return Poll::Ready(Err(PumpError::Unwanted(Reason::CANCEL))),
            }
        }
        let part = self.piece.split_to(self.to.capacity().min(self.piece.len()));
        if part.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let end = self.last && self.piece.is_empty();
        self.done = end;
        Poll::Ready(self.to.send_data(part, end).map_err(unwanted))
    }

    fn finish(&mut self, data: Bytes) -> Result<(), PumpError> {
        self.done = true;
        self.to.send_data(data, true).map_err(unwanted)
    }

    /// Ends the stream, and throws away what of it is still to be sent.
    pub(super) fn reset(&mut self, reason: Reason) {
        self.to.send_reset(reason);
    }

    pub(super) const fn is_done(&self) -> bool {
        self.done
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn unwanted(error: h2::Error) -> PumpError {
    PumpError::Unwanted(error.reason().unwrap_or(Reason::INTERNAL_ERROR))
}

/// The reason a body's error stands for.
fn reason(error: &BodyError) -> Reason {
    let of_h2 = error.downcast_ref::<h2::Error>().and_then(h2::Error::reason);
    of_h2.unwrap_or(if error.is::<crate::http::carried::Cut>() {
        Reason::CANCEL
    } else {
        Reason::INTERNAL_ERROR
    })
}
