//! What a cell's task needs of others: what was accepted, and where the record is kept.

use futures_util::future::BoxFuture;
use model::{name::ServerName, profile::Profile};
use serde_json::Value;
use store::audit::CallId;
use tools::surface::Surface;

use super::CellKey;

/// What is known of servers by whoever keeps what was accepted.
pub trait Changes: Send + Sync + 'static {
    /// What was accepted of a server; or why nothing of it may be used.
    fn accepted(&self, server: &ServerName) -> Result<Accepted, String>;

    /// A running server is another one than was accepted. Where `whole`, nothing of it is used and its cell is ended;
    /// else what has changed is held. `now` is what it offers, or why that cannot be told. Called by the task of
    /// a cell: it must not wait.
    fn held(&self, server: &ServerName, now: &Result<Surface, String>, whole: bool);
}

/// What was accepted of a server.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// What it offers.
    pub surface: Surface,
    /// As which client it is spoken to.
    pub profile: Profile,
    /// What it says passes as it is, sampling included.
    pub is_pass_through: bool,
    /// Stands for everything that a running cell of it depends on: launch, keys, policy. Where it is another one after a
    /// reload, cells of the server are drained and ended.
    pub version: String,
}

/// Where what happens at the edge of cells is written down.
pub trait Record: Send + Sync + 'static {
    /// Writes one event; done when it is kept. It may wait, and holds up nobody's call by that.
    fn network(&self, seen: Seen) -> BoxFuture<'static, ()>;
}

/// Something at the edge of a cell, and the calls that were in flight in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The cell.
    pub key: CellKey,
    /// Calls that the server had at that time: one of them, or nobody's doing but the server's own.
    pub calls: Vec<CallId>,
    /// The entry of the cell's network log.
    pub event: Value,
}
