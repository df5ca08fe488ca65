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
        Ok(Err(error)) => Err(refused(&told(&error))),
        Err(_) => Err(refused("the TLS handshake took too long")),
    }
}

/// The error in words; one that people meet with certificates of their own says what to do.
fn told(error: &std::io::Error) -> String {
    let source = error.get_ref().and_then(|source| source.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(rustls::CertificateError::Other(other))) = source else {
        return error.to_string();
    };
    // webpki's word for a certificate with `CA:TRUE`, as `openssl req -x509` makes it, in a host's place.
    if other.to_string().contains("CaUsedAsEndEntity") {
        "the certificate it shows is that of an authority (`CA:TRUE`), which no host may use as its own; make one for \
         the host with `basicConstraints=CA:FALSE`"
            .to_owned()
    } else {
        error.to_string()
    }
}
