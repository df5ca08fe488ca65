//! Stopping all processes of a cell, by its group where it has one, by PID 1 where not.

use std::time::Duration;

use sandbox::{
    cgroup::FreezeError,
    process::{Control, OrderError},
};

use crate::cell::Cell;

/// How long all processes may take to stop. One in the kernel (a slow disk) takes as long as that does.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a cell was neither frozen nor thawed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FreezingError {
    /// By its group.
    #[error(transparent)]
    Group(FreezeError),
    /// By PID 1.
    #[error("stopping by signals: {0}")]
    Signals(OrderError),
    /// By PID 1, not in time.
    #[error("not all processes obeyed within {} ms", PATIENCE.as_millis())]
    Late,
}

/// Freezes or thaws.
pub(crate) async fn set(cell: &Cell, control: &Control, frozen: bool) -> Result<(), FreezingError> {
    let by_group = {
        let state = cell.state.borrow();
        if frozen { state.groups.freeze(PATIENCE) } else { state.groups.thaw(PATIENCE) }
    };
    match by_group {
        Ok(()) => return Ok(()),
        Err(FreezeError::NoGroup) => {}
        Err(error) => return Err(FreezingError::Group(error)),
    }
    let by_signals = async { if frozen { control.freeze().await } else { control.thaw().await } };
    match tokio::time::timeout(PATIENCE, by_signals).await {
        Ok(result) => result.map_err(FreezingError::Signals),
        Err(_) => Err(FreezingError::Late),
    }
}
