//! The one connection to the host that a connection from the cell has.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;

use crate::edge::Core;
use crate::half::Half;
use crate::policy::Permit;
use crate::refusal::Code;
use crate::registry::{Entry, Stop};

/// A connection to the host and the task that drives it.
#[derive(Debug)]
pub(crate) struct Upstream {
    sender: SendRequest<Incoming>,
    driver: AbortHandle,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Upstream {
    async fn connect(core: &Arc<Core>, entry: &Entry, permit: &Arc<Permit>) -> Result<Self, Stop> {
        let stream = core.connect(entry, permit).await?;
        let half = Half::outer(stream, Arc::clone(&entry.flow.meter));
        let lost = |error: hyper::Error| lost(permit, &error);
        let (sender, connection) = http1::Builder::new()
            .max_headers(core.limits.headers)
            .handshake(TokioIo::new(half))
            .await
            .map_err(lost)?;
        // Its failure is the failure of the request that waits for it.
        let driver = tokio::spawn(async move { drop(connection.with_upgrades().await) }).abort_handle();
        Ok(Self { sender, driver })
    }

    /// Sends a request over `kept`, or over a new connection if that has ended; a request that was not sent at all is
    /// tried again on a new one.
    pub(crate) async fn send(
        core: &Arc<Core>,
        entry: &Entry,
        permit: &Arc<Permit>,
        kept: Option<Self>,
        request: Request<Incoming>,
    ) -> Result<(Self, Response<Incoming>), Stop> {
        let mut request = request;
        if let Some(mut upstream) = kept
            && upstream.sender.ready().await.is_ok()
        {
            match upstream.sender.try_send_request(request).await {
                Ok(response) => return Ok((upstream, response)),
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(lost(permit, failed.error())),
                },
            }
        }
        let mut upstream = Self::connect(core, entry, permit).await?;
        match upstream.sender.send_request(request).await {
            Ok(response) => Ok((upstream, response)),
            Err(error) => Err(lost(permit, &error)),
        }
    }
}

fn lost(permit: &Permit, error: &hyper::Error) -> Stop {
    permit.refuse(Code::Connect, &format!("no complete answer: {error}")).into()
}
