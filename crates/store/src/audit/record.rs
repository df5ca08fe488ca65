//! The record as its writers see it.

use std::{path::PathBuf, time::Duration};

use model::digest::Digest;

use super::{AuditError, Event};

/// Where a record lies, and how it is written.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its folder, made for its owner alone where it is missing.
    pub folder: PathBuf,
    /// A second place for checkpoints: a file on another volume.
    pub checkpoints: Option<PathBuf>,
    /// How long notes that nobody waits for may be gathered before they are written together. A commit never waits for it.
    pub group: Duration,
}

/// The record. Clones write the same one.
#[derive(Debug, Clone)]
pub struct Audit {
    health: Health,
}

/// Where an event was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Number of its row, from 1.
    pub seq: u64,
    /// The row's hash, which the next row holds.
    pub hash: Digest,
}

/// Whether the record is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It is.
    Ok,
    /// The database does not take rows; notes go to a file beside it, and commits are refused.
    Spilling {
        /// Why.
        reason: String,
    },
    /// Nothing can be written; notes wait, and commits are refused.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Audit {
    /// Opens the record, and makes it where it is missing. What an earlier process left in spill files is written first.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: a folder that is another's or open to others, a record that ends before what is known to have been
    /// written, a database that cannot be opened.
    pub async fn open(settings: Settings) -> Result<Self, AuditError> {
        drop(settings);
        Err(AuditError::Closed)
    }

    /// Records it, and returns once it is on the disk.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: it is not written, so what it is about must not be done.
    pub async fn commit(&self, event: Event) -> Result<Receipt, AuditError> {
        drop(event);
        Err(AuditError::Closed)
    }

    /// Records it soon; waits while too much is waiting. An event whose future is dropped meanwhile is recorded all the same.
    pub async fn note(&self, event: Event) {
        drop(event);
    }

    /// As [`Audit::note`], where nothing can wait: in `Drop`, for the end of a call that was committed before.
    pub fn note_now(&self, event: Event) {
        drop(event);
    }

    /// Whether it is written.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Writes what is waiting and a checkpoint, and ends the writer. Whatever is recorded later is an error, or lost.
    pub async fn close(&self) {}
}
