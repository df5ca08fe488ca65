//! A server that ends again and again is not started again and again.

use tokio::time::{Duration, Instant};

use super::{AskError, Times};

/// How a server's starts have gone lately.
#[derive(Debug, Default)]
pub(super) struct Failing {
    /// How often in a row it ended soon after its start, or was not started.
    times: u32,
    why: String,
    /// When it did last.
    last: Option<Instant>,
    until: Option<Instant>,
}

impl Failing {
    /// It has ended by itself, or was not started; it ran for so long before.
    pub(super) fn failed(&mut self, lived: Duration, why: &str, times: &Times, is_final: bool) {
        if lived >= times.steady {
            self.times = 0;
        }
        self.times = self.times.saturating_add(1);
        self.last = Some(Instant::now());
        why.clone_into(&mut self.why);
        // The first time may be an accident.
        let pause = match self.times {
            _ if is_final => times.longest_backoff,
            0 | 1 => return self.until = None,
            more => times.backoff.saturating_mul(1_u32.checked_shl(more - 2).unwrap_or(u32::MAX)),
        };
        self.until = Some(Instant::now() + pause.min(times.longest_backoff));
    }

    /// Something has changed that it may have failed for.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// It is not started before.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.until
    }

    /// From then on its failures are of no account.
    pub(super) fn forgiven(&self, times: &Times) -> Option<Instant> {
        self.last.map(|last| last + times.longest_backoff.saturating_mul(2))
    }

    /// Why it is not started now.
    pub(super) fn objection(&self) -> Option<AskError> {
        let again_in = self.until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        (!crate::guard::off("pool-backoff")).then(|| AskError::Withheld {
            times: self.times,
            again_in: Duration::from_secs(again_in.as_secs() + 1),
            why: self.why.clone(),
        })
    }
}
