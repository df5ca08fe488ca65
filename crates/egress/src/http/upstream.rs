//! The one connection to the host that a connection from the cell has.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;

use super::carried::Carried;
use super::pace::{Awaited, Paced};
use crate::credential::body::Rewritten;
use crate::edge::Core;
use crate::half::Half;
use crate::policy::Permit;
use crate::reach;
use crate::refusal::Code;
use crate::registry::{Entry, Stop};
use crate::wire::Wire;

/// The body of a request as it goes to the host.
pub(crate) type ToHost = Rewritten<Carried<Incoming>>;

/// How the host is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Road {
    /// In the clear.
    Plain,
    /// Inside TLS, offering these protocols, HTTP/2 not among them.
    Tls(Vec<Vec<u8>>),
}

/// A connection to the host and the task that drives it.
#[derive(Debug)]
pub(crate) struct Upstream {
    sender: SendRequest<ToHost>,
    awaited: Arc<Awaited>,
    driver: AbortHandle,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Upstream {
    async fn connect(
        core: &Arc<Core>,
        entry: &Entry,
        permit: &Arc<Permit>,
        road: &Road,
    ) -> Result<Self, Stop> {
        let wire = match road {
            Road::Plain => {
                let stream = core.connect(entry, permit).await?;
                Wire::Plain(Half::outer(stream, Arc::clone(&entry.flow.meter)))
            }
            Road::Tls(offered) => reach::host(core, entry, permit, offered).await?.0,
        };
        Self::over(core, permit, wire).await
    }

    /// Speaks over a connection that there is.
    pub(crate) async fn over(core: &Core, permit: &Permit, wire: Wire) -> Result<Self, Stop> {
        let lost = |error: hyper::Error| lost(permit, &error);
        let (paced, awaited) = Paced::new(wire, core.limits.head_time);
        let (sender, connection) = http1::Builder::new()
            .max_headers(core.limits.headers)
            .handshake(TokioIo::new(paced))
            .await
            .map_err(lost)?;
        // Its failure is the failure of the request that waits for it.
        let driver = tokio::spawn(async move { drop(connection.with_upgrades().await) }).abort_handle();
        Ok(Self { sender, awaited, driver })
    }

    /// Sends a request over `kept`, or over a new connection if that has ended; a request that was not sent at all is
    /// tried again on a new one.
    pub(crate) async fn send(
        core: &Arc<Core>,
        entry: &Entry,
        permit: &Arc<Permit>,
        road: &Road,
        kept: Option<Self>,
        request: Request<ToHost>,
    ) -> Result<(Self, Response<Incoming>), Stop> {
        let mut request = request;
        if let Some(mut upstream) = kept
            && upstream.sender.ready().await.is_ok()
        {
            upstream.awaited.begin();
            match upstream.sender.try_send_request(request).await {
                Ok(response) => {
                    upstream.awaited.end();
                    return Ok((upstream, response));
                }
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(lost(permit, failed.error())),
                },
            }
        }
        let mut upstream = Self::connect(core, entry, permit, road).await?;
        upstream.awaited.begin();
        match upstream.sender.send_request(request).await {
            Ok(response) => {
                upstream.awaited.end();
                Ok((upstream, response))
            }
            Err(error) => Err(lost(permit, &error)),
        }
    }
}

fn lost(permit: &Permit, error: &hyper::Error) -> Stop {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    permit.refuse(Code::Connect, &format!("no complete answer: {error}{cause}")).into()
}
