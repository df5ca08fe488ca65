//! A connection of HTTP/2 to a host, as the requests on it share it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::server::SendResponse;
use tokio::sync::Notify;

use super::watched::Written;
use crate::edge::Core;
use crate::flow::Flow;
use crate::http::answer;
use crate::passage::Passage;
use crate::policy::Permit;
use crate::refusal::{Code, Refusal};
use crate::registry::Stop;

/// How often is looked whether the host takes another request, when nothing tells.
const LOOK: Duration = Duration::from_millis(20);

/// A connection to a host, as the requests on it share it.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) core: Arc<Core>,
    pub(super) flow: Arc<Flow>,
    pub(super) permit: Arc<Permit>,
    pub(super) written: Arc<Written>,
    pub(super) sender: SendRequest<Bytes>,
    /// Requests sent and not over.
    pub(super) active: AtomicUsize,
    /// A request has ended.
    pub(super) ended: Notify,
    /// The host takes no more requests.
    pub(super) closing: Notify,
}

impl Host {
    /// Waits until the host takes another request at once: one that is only queued here could not be taken back.
    pub(super) async fn ready(&self, passage: &Passage) -> Result<SendRequest<Bytes>, Stop> {
        let ready = async {
            loop {
                let sender = match self.sender.clone().ready().await {
                    Ok(sender) => sender,
                    Err(error) => return Err(self.lost(&error)),
                };
                if self.take_slot(sender.current_max_send_streams()) {
                    return Ok(sender);
                }
                drop(tokio::time::timeout(LOOK, self.ended.notified()).await);
            }
        };
        tokio::select! {
            biased;
            () = passage.until_cut() => Err(Stop::Cut),
            ready = ready => ready,
        }
    }

    /// The host is gone, or does not want this request.
    pub(super) fn lost(&self, error: &h2::Error) -> Stop {
        self.closing.notify_one();
        if self.flow.is_cut() {
            return Stop::Cut;
        }
        self.permit.refuse(Code::Connect, &format!("no complete answer: {error}")).into()
    }

    fn take_slot(&self, most: usize) -> bool {
        let taken = |now: usize| (now < most).then_some(now + 1);
        self.active.fetch_update(Ordering::AcqRel, Ordering::Acquire, taken).is_ok()
    }

    /// A request that was sent is over.
    pub(super) fn over(&self) {
        self.active.fetch_sub(1, Ordering::AcqRel);
        self.ended.notify_one();
    }
}

/// Answers with a refusal, under another status than its own if one is given.
pub(super) fn say(respond: &mut SendResponse<Bytes>, refusal: &Refusal, status: Option<http::StatusCode>) {
    let (mut parts, body) = answer::said(refusal).into_parts();
    parts.status = status.unwrap_or(parts.status);
    parts.headers.insert(http::header::CONTENT_LENGTH, body.len().into());
    if let Ok(mut stream) = respond.send_response(http::Response::from_parts(parts, ()), false) {
        // Who is gone needs no answer.
        let _gone = stream.send_data(body, true).is_err();
    }
}
