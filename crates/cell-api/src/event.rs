//! What happened to a cell, in order.

use std::path::PathBuf;

use model::{
    exit::{Cause, Exit},
    secret::SecretName,
};
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
    /// The value of a secret was written into a request. Told the first time for a host, and whenever the number of times
    /// has doubled; each use is in the log of the network.
    KeyUsed {
        /// Which.
        secret: SecretName,
        /// The host.
        host: String,
        /// The TCP port.
        port: u16,
        /// The method of the latest request.
        method: String,
        /// Its path, without the query.
        path: String,
        /// The status of its answer; none where there was none.
        status: Option<u16>,
        /// How often for this host.
        count: u64,
    },
    /// A secret of the cell is another one now.
    SecretChanged {
        /// Which.
        secret: SecretName,
        /// How.
        change: SecretChange,
    },
    /// Nobody tells the cell of changes of its secrets any more; it goes on with what it has.
    SecretsUnwatched {
        /// Why.
        detail: String,
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

/// What became of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretChange {
    /// It has a new value or binding.
    Renewed,
    /// It is no more, or cannot be used as it is now; what used it was cut.
    Removed,
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
