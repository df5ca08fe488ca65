//! The record of every call: a chain of rows in one SQLite file, which several processes write, and checkpoints of it that
//! are signed and written to a second place.
//!
//! What has to be on the disk before something is done is [`Audit::commit`]ted; everything else is [`Audit::note`]d. Nothing
//! is dropped: on a full disk notes go to a file beside it, and where that cannot be written either, they wait.
//!
//! **Absent:** arguments, results and secrets. Rows hold digests of them. Only `sqlite` knows which database it is.

mod bound;
mod checkpoint;
mod coalesce;
mod erase;
mod error;
mod event;
mod filter;
mod head;
mod moment;
mod own;
mod place;
mod read;
mod record;
mod row;
mod spill;
mod sql;
mod sqlite;
mod step;
mod tree;
mod verify;
mod writer;

use model::guard;

#[cfg(test)]
mod tests;

pub use checkpoint::{Checkpoint, VerifierKey, VerifierKeyError};
pub use erase::erase;
pub use error::AuditError;
pub use event::{CallId, CallIdError, Event, Kind, KindError, Outcome, Who};
pub use filter::Filter;
pub use read::Log;
pub use record::{Audit, Health, Receipt, Settings};
pub use row::{Head, Row};
pub use verify::{Fault, How, Report, Verification, verify};
