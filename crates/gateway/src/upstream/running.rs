//! A running cell, as whoever speaks to its server knows it, and whoever makes one.

use std::{fmt, sync::Arc};

use access::principal::Principal;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc;

use super::CellKey;

/// Whoever makes cells.
pub trait Cells: Send + Sync + 'static {
    /// Starts one. `who` asked for it first, and is there where the cell is one user's.
    fn start(
        &self,
        key: CellKey,
        who: Option<Arc<Principal>>,
    ) -> BoxFuture<'static, Result<Running, StartError>>;
}

/// A cell with a server in it that can be spoken to. It is ended by [`Control::end`]; whoever hands it out also ends it
/// where this is dropped.
pub struct Running {
    /// For the server: one line at a time, with its end.
    pub say: mpsc::Sender<Vec<u8>>,
    /// What the cell says. It closes after [`Heard::Ended`].
    pub hear: mpsc::Receiver<Heard>,
    /// Stops, continues and ends it.
    pub control: Arc<dyn Control>,
    /// It is spoken to over HTTP, and may know the revision 2026-07-28.
    pub speaks_http: bool,
    /// What the server is told where it asks for roots: the cell's mounts, as the protocol writes roots.
    pub roots: Vec<Value>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("speaks_http", &self.speaks_http).finish_non_exhaustive()
    }
}

/// Something that a cell says.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// One message of the server, without its end.
    Line(Vec<u8>),
    /// Something for the log, of a bounded length.
    Log(String),
    /// Something that happened at the edge of the cell: an entry of its network log.
    Network(Value),
    /// It has ended, and why.
    Ended(String),
}

/// Stops, continues and ends one cell.
pub trait Control: Send + Sync + 'static {
    /// Stops all of its processes.
    fn freeze(&self) -> BoxFuture<'static, Result<(), String>>;
    /// Continues them.
    fn thaw(&self) -> BoxFuture<'static, Result<(), String>>;
    /// Ends it; done when nothing of it runs.
    fn end(&self) -> BoxFuture<'static, ()>;
}

/// A cell that was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct StartError {
    /// Code of the refusal: `FH-…`.
    pub code: &'static str,
    /// Why, in a sentence without a full stop. It names no secret.
    pub reason: String,
    /// Whether it makes no sense to try again before something was changed by a person.
    pub is_final: bool,
}
