//! What happened to a cell, in order.

use std::path::PathBuf;

use model::exit::{Cause, Exit};
use serde::{Deserialize, Serialize};

/// One line of `GET /v1/cell/events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Counts from 1; a gap means that older events were dropped.
    pub seq: u64,
    /// When, RFC 3339.
    pub time: String,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The closed list of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum EventKind {
    /// The cell was described.
    Created,
    /// The cell was built and its main process runs.
    Started,
    /// A process was started.
    ProcessStarted {
        /// Its number.
        process: u32,
    },
    /// A process ended.
    ProcessExited {
        /// Its number.
        process: u32,
        /// How.
        exit: Exit,
    },
    /// All processes were stopped.
    Frozen,
    /// They run again.
    Thawed,
    /// A ceiling was reached.
    LimitHit {
        /// Which: `memory`, `data`.
        limit: String,
        /// In words.
        detail: String,
    },
    /// The log reached its cap and its older part was dropped.
    LogTruncated {
        /// Bytes dropped since the start of the cell.
        dropped: u64,
    },
    /// In a writable mount a name appeared that some program of the user runs or trusts, or a Unix socket.
    GuardedFile {
        /// Where, on the host.
        path: PathBuf,
        /// Which of the two.
        what: Guarded,
    },
    /// Something was not let out of the cell, or not into it.
    Refused {
        /// The stable code.
        code: String,
        /// What happened, with its object.
        message: String,
        /// What would allow it.
        remedy: String,
        /// How often within a minute; told again whenever it has doubled.
        count: u64,
    },
    /// Nothing of the cell is left.
    Ended {
        /// Why.
        cause: Cause,
        /// How the main process ended, where that is known.
        exit: Option<Exit>,
        /// Both in words.
        detail: String,
    },
}

/// Why a new file in a writable mount is worth a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guarded {
    /// It has one of the names of `model::mount::GUARDED`.
    Name,
    /// It is a Unix socket: a process of the host could be led to connect to it.
    Socket,
}
