//! Durable truth about what a person accepted: outside of every project, so that no repository brings it along.
//!
//! Everything is a small file of its own, replaced as a whole and synced, in folders of its owner's alone. A file that is
//! damaged, misplaced, somebody else's or open to others is an error that names it and what to do: never an acceptance, and
//! never silently none.
//!
//! A signature by a reviewer is an acceptance that travels: it lies in the open, and counts for whoever has named the
//! reviewer's key in a file of their own. **Absent:** decisions. Whether two fingerprints are the same surface is not known here.

pub mod audit;
mod entry;
mod error;
mod folder;
mod key_file;
mod record;
mod signature;
mod trust;
mod write;

pub use entry::{Acceptance, How, Pending, Project};
pub use error::TrustError;
pub use key_file::KeyError;
pub use model::reviewer::PublicKey;
pub use signature::{ReviewerKey, Signatures, SignaturesError, SignedAcceptance};
pub use trust::Trust;
