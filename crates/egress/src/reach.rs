//! From a permit to a host inside TLS.

use std::sync::Arc;

use crate::edge::Core;
use crate::half::Half;
use crate::policy::Permit;
use crate::refusal::Code;
use crate::registry::{Entry, Stop};
use crate::tls::alpn::Alpn;
use crate::wire::Wire;

/// Dials the permit's host and agrees on what of `offered` is spoken. The host has proved who it is then.
pub(crate) async fn host(
    core: &Core,
    entry: &Entry,
    permit: &Arc<Permit>,
    offered: &[Vec<u8>],
) -> Result<(Wire, Alpn), Stop> {
    let stream = core.connect(entry, permit).await?;
    let half = Half::outer(stream, Arc::clone(&entry.flow.meter)).deep();
    let time = core.limits.hello_time;
    let refused = |why: &str| {
        // Whoever was cut has nobody to tell.
        if entry.flow.is_cut() { Stop::Cut } else { permit.refuse(Code::UpstreamTls, why).into() }
    };
    match tokio::time::timeout(time, core.client.handshake(permit.name(), offered, half)).await {
        Ok(Ok((stream, alpn))) => Ok((Wire::Host(Box::new(stream)), alpn)),
        Ok(Err(error)) => Err(refused(&error.to_string())),
        Err(_) => Err(refused("the TLS handshake took too long")),
    }
}
