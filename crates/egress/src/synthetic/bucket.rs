//! So many at once, then one each so often.

use std::time::Duration;

use tokio::time::Instant;

/// A token bucket.
#[derive(Debug)]
pub struct Bucket {
    burst: u32,
    every: Duration,
    left: u32,
    filled: Instant,
}

impl Bucket {
    /// A full bucket: `burst` at once, then one more after each `every`.
    pub fn new(burst: u32, every: Duration) -> Self {
        Self { burst, every, left: burst, filled: Instant::now() }
    }

    /// Takes one, if there is one.
    pub fn take(&mut self) -> bool {
        let now = Instant::now();
        let earned = now.duration_since(self.filled).as_nanos() / self.every.as_nanos().max(1);
        let earned = u32::try_from(earned).unwrap_or(u32::MAX);
        if earned >= self.burst - self.left {
            self.left = self.burst;
            self.filled = now;
        } else {
            self.left += earned;
            self.filled += self.every * earned;
        }
        let some = self.left > 0;
        self.left -= u32::from(some);
        some
    }
}
