//! Orders about the cell as a whole.

use std::rc::Rc;

use cell_api::{
    error::{ErrorBody, ErrorCode},
    event::EventKind,
    info::CellState,
    order::{EndOrder, LogOrder},
    spec::CellSpec,
};
use hyper::StatusCode;
use model::exit::Cause;

use super::{Reply, json};
use crate::{
    cell::{Cell, Wish},
    ending, freezing, starting, validate,
};

/// `PUT /v1/cell`
pub(super) fn create(cell: &Cell, spec: &CellSpec) -> Result<Reply, ErrorBody> {
    validate::cell(spec)?;
    match cell.describe(spec.clone()) {
        Ok(Some(())) => told(StatusCode::CREATED, cell),
        Ok(None) => {
            Err(state("the cell was created already", "each supervisor has one cell; start another one"))
        }
        Err(error) => Err(ErrorBody::new(ErrorCode::Internal, format!("beginning the log failed: {error}"))),
    }
}

/// `GET /v1/cell`
pub(super) fn info(cell: &Cell) -> Result<Reply, ErrorBody> {
    told(StatusCode::OK, cell)
}

/// `POST /v1/cell/start`
pub(super) async fn start(cell: &Rc<Cell>) -> Result<Reply, ErrorBody> {
    match cell.phase() {
        Some(CellState::Created) => {}
        Some(phase) => return Err(state(&format!("the cell is {}", phase.as_str()), "a cell starts once")),
        None => return Err(not_created()),
    }
    cell.set_phase(CellState::Starting);
    // A task of its own: whoever asked may leave, and what was half built must be cleared up all the same.
    let starting = tokio::task::spawn_local(starting::start(Rc::clone(cell)));
    match starting.await {
        Ok(started) => started?,
        Err(error) => {
            return Err(ErrorBody::new(ErrorCode::Internal, format!("starting was broken off: {error}")));
        }
    }
    told(StatusCode::OK, cell)
}

/// `POST /v1/cell/freeze` and `/thaw`
pub(super) async fn freeze(cell: &Cell, frozen: bool) -> Result<Reply, ErrorBody> {
    let (before, after) = if frozen {
        (CellState::Running, CellState::Frozen)
    } else {
        (CellState::Frozen, CellState::Running)
    };
    let control = cell.state.borrow().control.clone();
    match (cell.phase(), control) {
        (Some(phase), _) if phase == after => return told(StatusCode::OK, cell),
        (Some(phase), Some(control)) if phase == before => {
            freezing::set(cell, &control, frozen).await.map_err(|error| {
                ErrorBody::new(ErrorCode::Internal, format!("the cell stays {}: {error}", before.as_str()))
            })?;
        }
        (Some(phase), _) => return Err(state(&format!("the cell is {}", phase.as_str()), "start it first")),
        (None, _) => return Err(not_created()),
    }
    // It may have ended while it was waited for.
    if cell.phase() == Some(before) {
        cell.set_phase(after);
        cell.events.push(if frozen { EventKind::Frozen } else { EventKind::Thawed });
    }
    told(StatusCode::OK, cell)
}

/// `POST /v1/cell/log`
pub(super) fn log(cell: &Cell, order: &LogOrder) -> Result<Reply, ErrorBody> {
    for line in &order.lines {
        cell.log_line(order.mark, line);
    }
    told(StatusCode::OK, cell)
}

/// `DELETE /v1/cell`
pub(super) async fn end(cell: &Cell, order: EndOrder) -> Result<Reply, ErrorBody> {
    match cell.phase() {
        None => return Err(not_created()),
        Some(CellState::Created) => ending::finish(cell, (Cause::Asked, None)),
        Some(CellState::Ended) => {}
        Some(CellState::Starting) => cell.wish(Wish::AtOnce(Cause::Asked)),
        Some(CellState::Running | CellState::Frozen) => cell.wish(Wish::Orderly(order)),
    }
    cell.end().await;
    told(StatusCode::OK, cell)
}

fn told(status: StatusCode, cell: &Cell) -> Result<Reply, ErrorBody> {
    json(status, &cell.info().ok_or_else(not_created)?)
}

fn not_created() -> ErrorBody {
    state("the cell was not created yet", "describe it with `PUT /v1/cell`")
}

fn state(message: &str, hint: &str) -> ErrorBody {
    ErrorBody::new(ErrorCode::State, message).hint(hint)
}
