//! The body of a request or an answer while it is carried: counted, and ended when the request is cut.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::go::Go;
use crate::credential::body::BodyError;
use crate::meter::Way;
use crate::passage::Passage;
use crate::ticket::Party;

/// A request was cut: it, or what it was let through by, is not allowed any more.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the request was cut")]
pub(crate) struct Cut;

/// A body on its way.
#[derive(Debug)]
pub(crate) struct Carried<B> {
    body: B,
    passage: Arc<Passage>,
    way: Way,
    /// What its first byte waits for.
    go: Option<Go>,
}

impl<B> Carried<B> {
    /// The body of a request.
    pub(crate) const fn up(body: B, passage: Arc<Passage>, go: Option<Go>) -> Self {
        Self { body, passage, way: Way::Up, go }
    }

    /// The body of an answer.
    pub(crate) const fn down(body: B, passage: Arc<Passage>) -> Self {
        Self { body, passage, way: Way::Down, go: None }
    }
}

impl<B> Body for Carried<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let party = if this.way == Way::Up { Party::Up } else { Party::Down };
        if this.passage.ticket.poll_cut(party, cx).is_ready() {
            return Poll::Ready(Some(Err(Cut.into())));
        }
        if let Some(go) = &mut this.go {
            ready!(Pin::new(go).poll(cx));
            this.go = None;
        }
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            this.passage.count(this.way, data.len());
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
