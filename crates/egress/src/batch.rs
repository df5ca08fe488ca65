//! What a change of the rules waits for.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// The flows and requests that a cut waits for.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    left: Mutex<usize>,
    ended: Notify,
}

impl Batch {
    pub(crate) fn add(&self) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    /// One of them has ended.
    pub(crate) fn release(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.ended.notify_one();
        }
    }

    /// Those waited for that have not ended yet.
    pub(crate) fn left(&self) -> usize {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends when all have.
    pub(crate) async fn until_ended(&self) {
        while self.left() > 0 {
            self.ended.notified().await;
        }
    }
}
