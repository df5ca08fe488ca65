//! The small request bodies, and what is answered to them.

use serde::{Deserialize, Serialize};

/// The body of `DELETE /v1/cell`: an orderly end. Stdin of the main process is closed, then `SIGTERM`, then `SIGKILL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EndOrder {
    /// How long the main process has after its stdin was closed, ms.
    pub grace_ms: u64,
    /// How long it has after `SIGTERM`, ms.
    pub term_ms: u64,
    /// Whoever is attached ends stdin itself, after what it has still to say: this order comes over another connection, and
    /// could overtake that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stdin_ends_itself: bool,
}

impl EndOrder {
    /// Longest accepted wait of either kind: ten minutes.
    pub const MAX_MS: u64 = 600_000;
}

impl Default for EndOrder {
    fn default() -> Self {
        Self { grace_ms: 5_000, term_ms: 2_000, stdin_ends_itself: false }
    }
}

/// The body of `POST /v1/processes/{id}/signal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalOrder {
    /// Signal number, 1 to 31.
    pub signal: i32,
}

/// The body of `POST /v1/cell/log`: lines for the cell's log that did not come by its stderr.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogOrder {
    /// What each line is marked with.
    pub mark: LogMark,
    /// The lines, without line ends.
    pub lines: Vec<String>,
}

/// Where a logged line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogMark {
    /// Stdout, but not the protocol.
    StrayStdout,
    /// A remark of Fumehood's.
    Fumehood,
}

/// The answer to `POST /v1/processes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Number of the process within the cell.
    pub id: u32,
}

/// What an attach gets of a process's stderr (`?stderr=`). The log gets all of it in every case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StderrMode {
    /// Nothing.
    #[default]
    False,
    /// All of it; a reader that stops reading stops the process, as a terminal would.
    True,
    /// What the reader keeps up with: the process is never stopped, and what was left out is said in its place.
    Lossy,
}

impl StderrMode {
    /// The word in the query.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::False => "false",
            Self::True => "true",
            Self::Lossy => "lossy",
        }
    }
}
