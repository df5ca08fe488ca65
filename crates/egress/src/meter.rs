//! What a flow moved and when it last moved something.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Out of the cell.
    Up,
    /// Into the cell.
    Down,
}

/// Bytes in both directions, and the time of the last one.
#[derive(Debug)]
pub(crate) struct Meter {
    since: Instant,
    up: AtomicU64,
    down: AtomicU64,
    /// Milliseconds after `since`.
    last: AtomicU64,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            since: Instant::now(),
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            last: AtomicU64::new(0),
        }
    }

    /// Counts bytes, and the present as the time of the last.
    pub(crate) fn count(&self, way: Way, bytes: usize) {
        let counter = match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        };
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
        self.touch();
    }

    /// Takes the present as the time of the last movement.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    /// Bytes out of the cell so far.
    pub(crate) fn up(&self) -> u64 {
        self.up.load(Ordering::Relaxed)
    }

    /// Bytes into the cell so far.
    pub(crate) fn down(&self) -> u64 {
        self.down.load(Ordering::Relaxed)
    }

    /// Time since anything moved.
    pub(crate) fn still(&self) -> Duration {
        self.since.elapsed().saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }

    /// Ends when nothing has moved for `limit`.
    pub(crate) async fn idle(&self, limit: Duration) {
        loop {
            let still = self.still();
            if still >= limit {
                return;
            }
            tokio::time::sleep(limit.saturating_sub(still)).await;
        }
    }
}
