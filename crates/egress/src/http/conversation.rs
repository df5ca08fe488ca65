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
use super::session::{Authority, Outcome, Session, Switch};
use crate::edge::Core;
use crate::event::Event;
use crate::half::Half;
use crate::refusal::{Code, Refusal};
use crate::registry::{Entry, Stop};

/// The flow was cut: there is nobody left to answer.
#[derive(Debug, thiserror::Error)]
#[error("the flow was cut")]
struct Gone;

/// Serves a connection's requests.
///
/// # Errors
/// If the connection broke, or broke the rules within a message.
pub(crate) async fn run(
    core: &Arc<Core>,
    entry: &Entry,
    authority: Authority,
    half: Half,
) -> io::Result<Outcome> {
    let limits = GateLimits {
        head: core.limits.head_bytes,
        headers: core.limits.headers,
        time: core.limits.head_time,
        connect: matches!(authority, Authority::Proxy),
    };
    let (gate, keeper) = Gate::new(half, limits);
    let session =
        Session { core, entry, authority, keeper, upstream: Mutex::new(None), switch: Mutex::new(None) };
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
        Switch::WebSocket { inner, outer, upstream } => {
            let inner = inner_half(inner).await?;
            let outer = outer.await.map_err(io::Error::other)?;
            let Ok(Parts { io, read_buf, .. }) = outer.downcast::<TokioIo<Half>>() else {
                return Err(io::Error::other("an upgraded connection of another kind"));
            };
            drop(upstream);
            Ok(Outcome::WebSocket { inner, outer: io.into_inner().with_early(&read_buf) })
        }
        Switch::Connect { inner, permit } => Ok(Outcome::Connect { inner: inner_half(inner).await?, permit }),
    }
}

/// The cell's half out of hyper and the gate, with all that was read from it and not used.
async fn inner_half(upgrade: OnUpgrade) -> io::Result<Half> {
    let upgraded = upgrade.await.map_err(io::Error::other)?;
    let Ok(Parts { io, read_buf, .. }) = upgraded.downcast::<TokioIo<Gate<Half>>>() else {
        return Err(io::Error::other("an upgraded connection of another kind"));
    };
    let (half, early) = io.into_inner().into_inner();
    Ok(half.with_early(&early).with_early(&read_buf))
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
