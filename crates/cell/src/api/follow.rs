//! Events as lines, as far as they are known or as they come.

use std::{
    convert::Infallible,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use bytes::Bytes;
use cell_api::{
    error::{ErrorBody, ErrorCode},
    event::{Event, EventKind},
};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::{
    Response,
    body::{Body, Frame},
    header,
};
use serde::Serialize;
use tokio::sync::mpsc;

use super::Reply;
use crate::cell::Cell;

/// `GET /v1/cell/events`
pub(super) fn events(cell: &Rc<Cell>, follow: bool) -> Result<Reply, ErrorBody> {
    let known = cell.events.after(0);
    if follow && !is_over(&known) {
        let (to, lines) = mpsc::channel(1);
        tokio::task::spawn_local(pass_on(Rc::clone(cell), to));
        Ok(flowing(lines))
    } else {
        Ok(whole(lines(&known)?))
    }
}

/// Lines that are all known.
pub(super) fn whole(lines: Bytes) -> Reply {
    ndjson(Full::new(lines).boxed_unsync())
}

/// Lines that are sent as they come.
pub(super) fn flowing(lines: mpsc::Receiver<Bytes>) -> Reply {
    ndjson(Lines(lines).boxed_unsync())
}

fn ndjson(body: UnsyncBoxBody<Bytes, Infallible>) -> Reply {
    let mut reply = Response::new(body);
    let ndjson = header::HeaderValue::from_static("application/x-ndjson");
    reply.headers_mut().insert(header::CONTENT_TYPE, ndjson);
    reply
}

async fn pass_on(cell: Rc<Cell>, to: mpsc::Sender<Bytes>) {
    let mut changes = cell.events.changes();
    let mut seen = 0;
    loop {
        let new = cell.events.after(seen);
        if let Some(last) = new.last() {
            seen = last.seq;
            let Ok(text) = lines(&new) else { return };
            if to.send(text).await.is_err() || is_over(&new) {
                return;
            }
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = to.closed() => return,
        }
    }
}

fn is_over(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event.kind, EventKind::Ended { .. }))
}

/// One JSON value a line.
pub(super) fn lines<T: Serialize>(events: &[T]) -> Result<Bytes, ErrorBody> {
    let mut text = Vec::new();
    for event in events {
        serde_json::to_writer(&mut text, event).map_err(|error| {
            ErrorBody::new(ErrorCode::Internal, format!("writing an event failed: {error}"))
        })?;
        text.push(b'\n');
    }
    Ok(text.into())
}

/// A body that is written while it is sent.
struct Lines(mpsc::Receiver<Bytes>);

impl Body for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
