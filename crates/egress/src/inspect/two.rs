//! HTTP/2 on both sides: each request of the cell is a request to the host, on the one connection there is.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::Request;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};

use super::host::{self, Host};
use super::stream;
use super::watched::{Watched, Written};
use crate::edge::Core;
use crate::event::Event;
use crate::limits::Limits;
use crate::policy::Permit;
use crate::refusal::{Code, Refusal};
use crate::registry::Entry;
use crate::wire::Wire;

/// Requests of one connection at once (RFC 9113 §6.5.2 recommends no fewer).
const STREAMS: u32 = 100;

/// Bytes of one body, and of all of one connection, that may be on their way before somebody takes them.
const WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;

/// Bytes of one body that wait to be written.
const SEND_BUFFER: usize = 256 * 1024;

/// Streams that were reset and are still remembered, and such that the other side reset before anybody looked at them:
/// one more ends the connection (CVE-2023-44487).
const RESETS: usize = 20;

/// Streams that broke the protocol before the connection is ended (CVE-2025-8671).
const BROKEN: usize = 64;

/// Aborts the task that drives a connection, and tells those who wait for what it writes.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells those who wait for what is written that nothing will be any more.
struct EndOnDrop(Arc<Written>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Serves the requests of a connection.
///
/// # Errors
/// If the connection towards the cell broke, or the cell broke the protocol.
pub(crate) async fn run(
    core: &Arc<Core>,
    entry: &Entry,
    permit: &Arc<Permit>,
    inner: Wire,
    outer: Wire,
) -> io::Result<()> {
    let outer = Watched::host(outer, core.limits.head_time);
    let written = outer.written();
    let (sender, mut connection) =
        client(&core.limits).handshake::<_, Bytes>(outer).await.map_err(io::Error::other)?;
    let (watch, end) = (Arc::clone(&written), EndOnDrop(Arc::clone(&written)));
    let mut driving = tokio::spawn(async move {
        let end = end;
        // Its failure is the failure of the requests that wait for it.
        let _lost = std::future::poll_fn(|cx| {
            let done = std::pin::Pin::new(&mut connection).poll(cx);
            watch.driven(cx);
            done
        })
        .await
        .is_err();
        drop(end);
    });
    let driver = Driver(driving.abort_handle());
    let host = Arc::new(Host {
        core: Arc::clone(core),
        flow: Arc::clone(&entry.flow),
        permit: Arc::clone(permit),
        written,
        sender,
        active: AtomicUsize::new(0),
        ended: Notify::new(),
        closing: Notify::new(),
    });
    let inner = Watched::client(inner, core.limits.head_time);
    let mut cell = server(&core.limits).handshake::<_, Bytes>(inner).await.map_err(io::Error::other)?;
    let mut requests = JoinSet::new();
    let mut gone = false;
    let served = loop {
        tokio::select! {
            request = cell.accept() => match request {
                Some(Ok((request, respond))) => {
                    requests.spawn(stream::run(Arc::clone(&host), request, respond));
                }
                Some(Err(error)) => break Err(error),
                None => break Ok(()),
            },
            Some(_) = requests.join_next(), if !requests.is_empty() => {}
            () = host.closing.notified() => cell.graceful_shutdown(),
            _ = &mut driving, if !gone => {
                gone = true;
                cell.graceful_shutdown();
            }
        }
    };
    drop(driver);
    served.map_err(|error| {
        tell(core, permit, &error);
        io::Error::other(error)
    })
}

/// Puts down what the cell did to the protocol.
fn tell(core: &Core, permit: &Permit, error: &h2::Error) {
    if error.is_io() || error.is_remote() {
        return;
    }
    let code = if error.reason() == Some(Reason::ENHANCE_YOUR_CALM) { Code::Limit } else { Code::NotHttp };
    core.log.record(Event::Refused(permit.refuse(code, &error.to_string())));
}

/// Answers every request with a refusal.
///
/// # Errors
/// As [`run`].
pub(crate) async fn refuse(core: &Core, inner: Wire, refusal: &Refusal) -> io::Result<()> {
    let inner = Watched::client(inner, core.limits.head_time);
    let mut cell = server(&core.limits).handshake::<_, Bytes>(inner).await.map_err(io::Error::other)?;
    while let Some(request) = cell.accept().await {
        let (_, mut respond): (Request<RecvStream>, SendResponse<Bytes>) =
            request.map_err(io::Error::other)?;
        core.log.record(Event::Refused(refusal.clone()));
        host::say(&mut respond, refusal, None);
    }
    Ok(())
}

fn server(limits: &Limits) -> h2::server::Builder {
    let mut builder = h2::server::Builder::new();
    builder
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .initial_window_size(WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_concurrent_reset_streams(RESETS);
    if crate::guard::off("h2-resets") {
        builder.max_pending_accept_reset_streams(usize::MAX).max_local_error_reset_streams(None);
    } else {
        builder.max_pending_accept_reset_streams(RESETS).max_local_error_reset_streams(Some(BROKEN));
    }
    builder
}

fn client(limits: &Limits) -> h2::client::Builder {
    let mut builder = h2::client::Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .initial_window_size(WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_concurrent_reset_streams(RESETS)
        .max_local_error_reset_streams(Some(BROKEN));
    builder
}
