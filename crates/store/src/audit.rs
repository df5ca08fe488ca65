//! The record of every call: a chain of rows in one SQLite file, which several processes write, and checkpoints of it that
//! are signed and written to a second place.
//!
//! What has to be on the disk before something is done is [`Audit::commit`]ted; everything else is [`Audit::note`]d. Nothing
//! is dropped: on a full disk notes go to a file beside it, and where that cannot be written either, they wait.
//!
//! **Absent:** arguments, results and secrets. Rows hold digests of them. Only `sqlite.rs` knows which database it is.

mod error;
mod event;
mod record;

pub use error::AuditError;
pub use event::{CallId, CallIdError, Event, Kind, Outcome, Who};
pub use record::{Audit, Health, Receipt, Settings};
