//! Turning a connection into one of bytes: what an attach and a connect have in common, and the connect.

use std::rc::Rc;

use bytes::Bytes;
use cell_api::{
    error::{ErrorBody, ErrorCode},
    network::TCP_PROTOCOL,
};
use http_body_util::{BodyExt, Empty};
use hyper::{Request, Response, StatusCode, body::Incoming, header};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::Reply;
use crate::{cell::Cell, connections::Connections, network};

/// `POST /v1/cell/connect?port=`
pub(super) async fn inside(
    cell: &Rc<Cell>,
    connections: &Rc<Connections>,
    port: u16,
    request: Request<Incoming>,
) -> Result<Reply, ErrorBody> {
    must_ask_for(TCP_PROTOCOL, &request)?;
    let mut there = network::connect_inside(cell, port).await?;
    let cell = Rc::clone(cell);
    let here = connections.enter();
    tokio::task::spawn_local(async move {
        let _here = here;
        let Some((from, to)) = upgraded(request).await else { return };
        let mut us = tokio::io::join(from, to);
        tokio::select! {
            // Either side may break off; the other one is closed with it.
            _ = tokio::io::copy_bidirectional(&mut us, &mut there) => {}
            _ = cell.end() => {}
        }
    });
    Ok(switch(TCP_PROTOCOL))
}

/// Refuses a request that does not ask for `protocol`.
pub(super) fn must_ask_for(protocol: &str, request: &Request<Incoming>) -> Result<(), ErrorBody> {
    let wanted = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
    if wanted == Some(protocol) {
        return Ok(());
    }
    Err(ErrorBody::new(ErrorCode::Upgrade, "this needs an upgrade of the connection")
        .hint(format!("send `Connection: upgrade` and `Upgrade: {protocol}`")))
}

/// Both directions of the connection, once the answer was sent.
pub(super) async fn upgraded(
    request: Request<Incoming>,
) -> Option<(impl AsyncRead + Unpin + use<>, OwnedWriteHalf)> {
    let upgraded = hyper::upgrade::on(request).await.ok()?;
    let parts = upgraded.downcast::<TokioIo<UnixStream>>().ok()?;
    let (from, to): (OwnedReadHalf, _) = parts.io.into_inner().into_split();
    Some((std::io::Cursor::new(parts.read_buf).chain(from), to))
}

/// The answer after which the connection speaks `protocol`.
pub(super) fn switch(protocol: &'static str) -> Reply {
    let mut switch = Response::new(Empty::<Bytes>::new().boxed_unsync());
    *switch.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    switch.headers_mut().insert(header::UPGRADE, header::HeaderValue::from_static(protocol));
    switch.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("upgrade"));
    switch
}
