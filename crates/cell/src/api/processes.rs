//! Orders about single processes.

use std::rc::Rc;

use bytes::Bytes;
use cell_api::{
    error::{ErrorBody, ErrorCode},
    frame::PROTOCOL,
    info::{CellState, End, ProcessInfo},
    order::{SignalOrder, Started, StderrMode},
    spec::ProcessSpec,
};
use hyper::{Request, StatusCode, body::Incoming};
use model::exit::Cause;

use super::{
    Reply,
    connect::{must_ask_for, switch, upgraded},
    json, reply,
};
use crate::{attach, cell::Cell, connections::Connections, process::Process, starting, validate};

/// Number of the main process.
const MAIN: u32 = 1;

/// `GET /v1/processes`
pub(super) fn list(cell: &Cell) -> Reply {
    let processes: Vec<ProcessInfo> =
        cell.state.borrow().processes.values().map(|process| process.info()).collect();
    json(StatusCode::OK, &processes)
        .unwrap_or_else(|_| reply(StatusCode::INTERNAL_SERVER_ERROR, Bytes::new()))
}

/// `POST /v1/processes`
pub(super) async fn exec(cell: &Rc<Cell>, spec: &ProcessSpec) -> Result<Reply, ErrorBody> {
    validate::process(spec)?;
    match cell.phase() {
        Some(CellState::Running) => {}
        Some(phase) => {
            let message = format!("the cell is {}", phase.as_str());
            return Err(
                ErrorBody::new(ErrorCode::State, message).hint("only a running cell starts processes")
            );
        }
        None => return Err(ErrorBody::new(ErrorCode::State, "the cell was not created yet")),
    }
    let id = starting::further(cell, spec).await?;
    json(StatusCode::CREATED, &Started { id })
}

/// `POST /v1/processes/{id}/signal`
pub(super) async fn signal(cell: &Cell, process: &Process, order: SignalOrder) -> Result<Reply, ErrorBody> {
    if !(1..=31).contains(&order.signal) {
        return Err(ErrorBody::new(
            ErrorCode::Spec,
            format!("{} is not a signal from 1 to 31", order.signal),
        ));
    }
    let control = cell.state.borrow().control.clone();
    let control = control.ok_or_else(|| ErrorBody::new(ErrorCode::State, "the cell does not run"))?;
    control
        .signal(Some(process.id), order.signal)
        .await
        .map_err(|error| ErrorBody::new(ErrorCode::State, format!("the signal was not sent: {error}")))?;
    json(StatusCode::OK, &process.info())
}

/// `POST /v1/processes/{id}/attach`
pub(super) fn attach(
    cell: &Rc<Cell>,
    connections: &Rc<Connections>,
    process: &Rc<Process>,
    stderr: StderrMode,
    request: Request<Incoming>,
) -> Result<Reply, ErrorBody> {
    must_ask_for(PROTOCOL, &request)?;
    let seat = process.sit(stderr).ok_or_else(|| {
        ErrorBody::new(ErrorCode::Attached, format!("somebody is attached to process {} already", process.id))
    })?;
    let cell = Rc::clone(cell);
    let process = Rc::clone(process);
    let here = connections.enter();
    tokio::task::spawn_local(async move {
        let _here = here;
        let Some((from, to)) = upgraded(request).await else { return };
        let is_main = process.id == MAIN;
        let end = async {
            if is_main {
                return cell.end().await;
            }
            let exit = process.end().await;
            let detail = exit.map_or_else(|| "it ended with the cell".to_owned(), |exit| exit.to_string());
            End { cause: Cause::Finished, exit, detail }
        };
        // Whoever was attached has left or broke the rules; the process is not concerned.
        attach::relay(from, to, seat, end, is_main).await.ok();
    });
    Ok(switch(PROTOCOL))
}

/// The process of that number.
pub(super) fn find(cell: &Cell, id: &str) -> Result<Rc<Process>, ErrorBody> {
    let number = id.parse::<u32>().ok();
    number.and_then(|id| cell.state.borrow().processes.get(&id).cloned()).ok_or_else(|| {
        ErrorBody::new(ErrorCode::Process, format!("no process has the number `{id}`"))
            .hint("`GET /v1/processes` lists them")
    })
}
