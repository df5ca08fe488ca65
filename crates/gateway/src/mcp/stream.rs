//! Answers that come in pieces: server-sent events (HTML, section 9.2), one JSON-RPC message each.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderName, HeaderValue, header};
use serde_json::Value;
use tokio::sync::mpsc;

/// How often something is sent where nothing is to be said, so that nobody on the way takes the connection for dead.
pub(super) const ALIVE: Duration = Duration::from_secs(15);
/// Messages that wait for a slow reader; a sender waits then.
const WAITING: usize = 16;

/// Where the messages of one answer go. When it is dropped, the answer ends.
#[derive(Debug)]
pub(super) struct Out(mpsc::Sender<Bytes>);

/// The reader has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone;

impl Out {
    /// Sends one message.
    ///
    /// # Errors
    ///
    /// [`Gone`].
    pub(super) async fn send(&self, message: &Value) -> Result<(), Gone> {
        self.0.send(event(message)).await.map_err(|_| Gone)
    }

    /// Sends a comment, which says nothing.
    ///
    /// # Errors
    ///
    /// [`Gone`].
    pub(super) async fn keep_alive(&self) -> Result<(), Gone> {
        self.0.send(Bytes::from_static(b":\n\n")).await.map_err(|_| Gone)
    }

    /// Done when the reader has gone.
    pub(super) async fn gone(&self) {
        self.0.closed().await;
    }
}

/// An answer in pieces, and where they come from.
pub(super) fn open() -> (Out, Response) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let pieces = stream::unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async {
        receiver.recv().await.map(|piece| (Ok::<_, Infallible>(piece), receiver))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Keeps nginx from waiting for more (MCP 2026-07-28, streamable HTTP, receiving messages).
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (Out(sender), (headers, Body::from_stream(pieces)).into_response())
}

/// JSON has no line end outside of its strings' escapes as it is written here: one line of data is enough.
fn event(message: &Value) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}
