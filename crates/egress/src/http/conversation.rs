//! A connection from the cell that speaks HTTP/1.1: its requests, one after the other, and a switch of protocols.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::{OnUpgrade, Parts};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::answer::{self, Body};
use super::exchange;
use super::gate::{Gate, GateLimits};
use super::pace::Paced;
use super::session::{Authority, Outcome, Session, Switch};
use super::upstream::{Road, Upstream};
use crate::edge::Core;
use crate::event::Event;
use crate::refusal::{Code, Refusal};
use crate::registry::{Entry, Stop};
use crate::wire::Wire;

/// The flow was cut: there is nobody left to answer.
#[derive(Debug, thiserror::Error)]
#[error("the flow was cut")]
struct Gone;

/// Serves a connection's requests; `upstream` is the connection to the host, if there is one already.
///
/// # Errors
/// If the connection broke, or broke the rules within a message.
pub(crate) async fn run(
    core: &Arc<Core>,
    entry: &Entry,
    authority: Authority,
    wire: Wire,
    (road, upstream): (Road, Option<Upstream>),
) -> io::Result<Outcome> {
    let limits = GateLimits {
        head: core.limits.head_bytes,
        headers: core.limits.headers,
        time: core.limits.head_time,
        connect: matches!(authority, Authority::Proxy),
    };
    let (gate, keeper) = Gate::new(wire, limits);
    let session = Session {
        core,
        entry,
        authority,
        road,
        keeper,
        upstream: Mutex::new(upstream),
        switch: Mutex::new(None),
    };
    let served = http1::Builder::new()
        .max_headers(core.limits.headers)
        .serve_connection(TokioIo::new(gate), service_fn(|request| answer_to(&session, request)))
        .with_upgrades()
        .await;
    if let Some(fault) = session.keeper.fault() {
        let refusal = session.refuse(Code::NotHttp, fault);
        core.log.record(Event::Refused(refusal));
        return Err(io::Error::other(fault));
    }
    let switch = session.switch.lock().unwrap_or_else(PoisonError::into_inner).take();
    match switch {
        Some(switch) => switched(switch).await,
        None => served.map(|()| Outcome::Over).map_err(io::Error::other),
    }
}

async fn switched(switch: Switch) -> io::Result<Outcome> {
    match switch {
        Switch::WebSocket { inner, outer, upstream, mut talk } => {
            let (inner, early) = inner_wire(inner).await?;
            talk.said_early(&early);
            let outer = outer.await.map_err(io::Error::other)?;
            let Ok(Parts { io, read_buf, .. }) = outer.downcast::<TokioIo<Paced>>() else {
                return Err(io::Error::other("an upgraded connection of another kind"));
            };
            drop(upstream);
            talk.heard_early(&read_buf);
            Ok(Outcome::WebSocket { inner, outer: io.into_inner().into_inner(), talk })
        }
        Switch::Connect { inner, permit } => {
            let (inner, early) = inner_wire(inner).await?;
            let inner = match inner {
                Wire::Plain(half) => Wire::Plain(half.with_early(&early)),
                other => other,
            };
            Ok(Outcome::Connect { inner, permit })
        }
    }
}

/// The cell's connection out of hyper and the gate, and all that was read from it and not used.
async fn inner_wire(upgrade: OnUpgrade) -> io::Result<(Wire, Vec<u8>)> {
    let upgraded = upgrade.await.map_err(io::Error::other)?;
    let Ok(Parts { io, read_buf, .. }) = upgraded.downcast::<TokioIo<Gate<Wire>>>() else {
        return Err(io::Error::other("an upgraded connection of another kind"));
    };
    let (wire, early) = io.into_inner().into_inner();
    Ok((wire, [read_buf.as_ref(), &early].concat()))
}

async fn answer_to(session: &Session<'_>, request: Request<Incoming>) -> Result<Response<Body>, Gone> {
    match exchange::run(session, request).await {
        Ok(response) => Ok(response),
        Err(Stop::Cut) => Err(Gone),
        Err(Stop::Refused(refusal)) => {
            session.core.log.record(Event::Refused(Refusal::clone(&refusal)));
            Ok(answer::refusal(&refusal))
        }
    }
}
