//! Durable truth about what a person accepted: outside of every project, so that no repository brings it along.
//!
//! Everything is a small file of its own, replaced as a whole and synced, in folders of its owner's alone. A file that is
//! damaged, misplaced, somebody else's or open to others is an error that names it and what to do: never an acceptance, and
//! never silently none. **Absent:** decisions. Whether two fingerprints are the same surface is not known here.

mod entry;
mod error;
mod folder;
mod record;
mod trust;
mod write;

pub use entry::{Acceptance, How, Pending, Project};
pub use error::TrustError;
pub use trust::Trust;
