//! Connections whose TLS is taken off: one towards the host, which proves who it is, and one towards the cell, for which
//! an authority of the cell vouches. Both speak the same.

use std::io;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

use crate::edge::Core;
use crate::event::Event;
use crate::half::Half;
use crate::http::session::Authority;
use crate::http::upstream::{Road, Upstream};
use crate::policy::Permit;
use crate::reach;
use crate::refusal::{Code, Refusal};
use crate::registry::{Entry, Stop};
use crate::tls::alpn::Alpn;
use crate::tls::hello::Hello;
use crate::wire::Wire;

mod host;
mod pump;
mod stream;
pub(crate) mod two;
mod watched;

/// Both connections, and what is spoken.
pub(crate) enum Opened {
    /// HTTP/1.1.
    One { inner: Wire, authority: Authority, road: Road, upstream: Option<Upstream> },
    /// HTTP/2.
    Two { inner: Wire, outer: Wire },
    /// HTTP/2 with somebody who is only told why there is no host.
    TwoRefused { inner: Wire, refusal: Box<Refusal> },
}

/// Connects to the permit's host, then answers the cell's greeting. Where the host is not reached, the cell is told so
/// inside TLS, which people can read; a handshake that fails they cannot.
pub(crate) async fn open(
    core: &Arc<Core>,
    entry: &Entry,
    permit: &Arc<Permit>,
    half: Half,
    hello: &Hello,
) -> Result<Opened, Stop> {
    let Some(authority) = &core.authority else {
        return Err(permit.refuse(Code::UpstreamTls, "this cell has no certificate authority").into());
    };
    let reached = match &entry.sink {
        Some(sink) => Ok((Wire::Inside(sink.serve()), Alpn::alone(&hello.alpn))),
        None => reach::host(core, entry, permit, &hello.alpn).await,
    };
    let (spoken, host) = match reached {
        Ok((wire, alpn)) => (alpn, Ok(wire)),
        Err(Stop::Refused(refusal)) => (Alpn::alone(&hello.alpn), Err(refusal)),
        Err(Stop::Cut) => return Err(Stop::Cut),
    };
    let accept = TlsAcceptor::from(authority.server(spoken)).accept(half.deep());
    let accepted: io::Result<_> = match tokio::time::timeout(core.limits.hello_time, accept).await {
        Ok(accepted) => accepted,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    let Ok(inner) = accepted.map(|stream| Wire::Cell(Box::new(stream))) else {
        // Who cannot be told in a body is told in the log.
        if let Err(refusal) = host {
            core.log.record(Event::Refused(*refusal));
        }
        return Err(Stop::Cut);
    };
    match (spoken, host) {
        (Alpn::Two, Ok(outer)) => Ok(Opened::Two { inner, outer }),
        (Alpn::Two, Err(refusal)) => Ok(Opened::TwoRefused { inner, refusal }),
        (_, Ok(outer)) => {
            let upstream = Upstream::over(core, permit, outer).await?;
            let road = Road::Tls(if spoken == Alpn::One { vec![b"http/1.1".to_vec()] } else { Vec::new() });
            let authority = Authority::Fixed(Arc::clone(permit));
            Ok(Opened::One { inner, authority, road, upstream: Some(upstream) })
        }
        (_, Err(refusal)) => {
            let road = Road::Tls(Vec::new());
            Ok(Opened::One { inner, authority: Authority::Refused(refusal), road, upstream: None })
        }
    }
}
