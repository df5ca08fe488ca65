//! Orders and questions about the network of the cell.

use std::rc::Rc;

use bytes::Bytes;
use cell_api::{
    error::{ErrorBody, ErrorCode},
    network::{CheckOrder, NetworkOrder},
};
use hyper::StatusCode;
use tokio::sync::mpsc;

use super::{Reply, follow, json};
use crate::{cell::Cell, network};

/// `PUT /v1/cell/network`: answered after the cut.
pub(super) async fn change(cell: &Cell, order: &NetworkOrder) -> Result<Reply, ErrorBody> {
    json(StatusCode::OK, &network::change(cell, order).await?)
}

/// `GET /v1/cell/network`
pub(super) fn info(cell: &Cell) -> Result<Reply, ErrorBody> {
    json(StatusCode::OK, &network::info(cell)?)
}

/// `POST /v1/cell/network/check`
pub(super) async fn check(cell: &Cell, order: &CheckOrder) -> Result<Reply, ErrorBody> {
    let verdict = network::running(cell)?.check_request(&order.url, order.method.as_deref()).await;
    let verdict = verdict.map_err(|error| ErrorBody::new(ErrorCode::Spec, error.to_string()))?;
    json(StatusCode::OK, &verdict)
}

/// `GET /v1/cell/network/log`
pub(super) fn log(cell: &Rc<Cell>, follow: bool) -> Result<Reply, ErrorBody> {
    let log = cell.state.borrow().egress_log.clone();
    let log = log.ok_or_else(|| ErrorBody::new(ErrorCode::State, "the cell was not started yet"))?;
    let known = log.since(0);
    if !follow || cell.state.borrow().egress.is_none() {
        return Ok(follow::whole(follow::lines(&known)?));
    }
    let (to, lines) = mpsc::channel::<Bytes>(1);
    let cell = Rc::clone(cell);
    tokio::task::spawn_local(async move {
        let mut seen = 0;
        loop {
            let new = tokio::select! {
                new = log.follow(seen) => new,
                // The last ones may have come with the end.
                _ = cell.end() => {
                    if let Ok(text) = follow::lines(&log.since(seen)) {
                        to.send(text).await.ok();
                    }
                    return;
                }
                () = to.closed() => return,
            };
            seen = new.last().map_or(seen, |last| last.revision);
            let Ok(text) = follow::lines(&new) else { return };
            if to.send(text).await.is_err() {
                return;
            }
        }
    });
    Ok(follow::flowing(lines))
}
