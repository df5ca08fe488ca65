//! How long a pool waits for what.

use std::time::Duration;

/// How long a pool waits for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// So long without a call in flight, and a cell is frozen. Zero: never.
    pub idle_freeze: Duration,
    /// So long without one, and it is ended. Zero: never.
    pub idle_stop: Duration,
    /// How long a cell may take to start.
    pub start: Duration,
    /// How long calls in flight have where their cell is to be ended for a reload.
    pub drain: Duration,
    /// A server that ran so long before it ended by itself has not failed to start.
    pub steady: Duration,
    /// How long a server is withheld that has failed to start twice in a row; each further time twice as long.
    pub backoff: Duration,
    /// The longest such pause.
    pub longest_backoff: Duration,
    /// How long a call may take at most, progress or not: as many times its own deadline.
    pub total: u32,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            idle_freeze: Duration::from_mins(1),
            idle_stop: Duration::from_mins(15),
            start: Duration::from_mins(5),
            drain: Duration::from_secs(30),
            steady: Duration::from_secs(10),
            backoff: Duration::from_millis(500),
            longest_backoff: Duration::from_mins(1),
            total: 10,
        }
    }
}
