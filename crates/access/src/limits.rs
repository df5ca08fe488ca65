//! How often, and how many at once. The time is handed in.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::config::{Rate, ToolRule};
use sha2::{Digest as _, Sha256};

use crate::guard;
use crate::object::Object;
use crate::principal::Principal;
use crate::refusal::{Code, Refusal};

/// What one caller may do with one object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allowance {
    /// How often; without one as often as the caller likes.
    pub rate: Option<Rate>,
    /// How many at once; without one as many as the ceilings have room for.
    pub concurrency: Option<u32>,
}

impl Allowance {
    /// What a tool's rule says.
    pub fn of(rule: &ToolRule) -> Self {
        Self { rate: rule.rate(), concurrency: rule.concurrency().map(NonZeroU32::get) }
    }
}

/// What holds for all objects together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// Calls of everybody at once.
    pub everybody: u32,
    /// Calls of one caller at once, so that no caller has all turns.
    pub caller: u32,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self { everybody: 4096, caller: 256 }
    }
}

/// Counts calls. What it keeps is bounded: at most [`MOST_KEPT`] callers and pairs of caller and object.
#[derive(Debug)]
pub struct Limits {
    counts: Arc<Mutex<Counts>>,
    ceilings: Ceilings,
    began: Instant,
}

/// A call that has begun. It ends when this is dropped.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Turn {
    counts: Arc<Mutex<Counts>>,
    caller: Key,
    pair: Key,
}

/// The most callers, and pairs of caller and object, that are remembered.
pub const MOST_KEPT: usize = 1 << 16;

/// Least time between two looks through everything that is remembered.
const SWEEP_EVERY: Duration = Duration::from_millis(100);

type Key = [u8; 32];

#[derive(Debug, Default)]
struct Counts {
    everybody: u32,
    kept: HashMap<Key, Count>,
    /// From this many on, what says nothing any more is thrown away.
    sweep_at: usize,
    /// But not before this time, so that a full table is not gone through for every call.
    sweep_after: u128,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    running: u32,
    used: Option<Used>,
}

/// How much of a rate is used (the generic cell rate algorithm, ITU-T I.371), in nanoseconds since the beginning times
/// its count, so that no rounding lets a call more through.
#[derive(Debug, Clone, Copy)]
struct Used {
    rate: Rate,
    until: u128,
}

impl Limits {
    /// Nothing runs yet.
    pub fn new(ceilings: Ceilings, now: Instant) -> Self {
        Self { counts: Arc::default(), ceilings, began: now }
    }

    /// Begins a call, where there is room.
    ///
    /// # Errors
    ///
    /// [`Code::LIMIT_CONCURRENCY`] where too many run already, [`Code::LIMIT_RATE`] where too many began lately; the
    /// remedy says when to come again. A call that is refused counts for nothing.
    pub fn enter(
        &self,
        who: &Principal,
        object: &Object,
        now: Instant,
        allowance: &Allowance,
    ) -> Result<Turn, Refusal> {
        let caller: Key = Sha256::digest(who.key()).into();
        let pair = pair(&caller, object);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now.saturating_duration_since(self.began).as_nanos();
        counts.make_room(now)?;
        let running = counts.running(&caller);
        let here = counts.kept.get(&pair).copied().unwrap_or_default();
        if !guard::off("concurrency") {
            let checks = [
                (
                    counts.everybody,
                    self.ceilings.everybody,
                    "the service has as many calls under way as it takes",
                ),
                (running, self.ceilings.caller, "you have as many calls under way as one caller may"),
                (
                    here.running,
                    allowance.concurrency.unwrap_or(u32::MAX),
                    "you have as many calls of this tool under way as it takes",
                ),
            ];
            for (running, most, reason) in checks {
                if running >= most {
                    return Err(Refusal::new(Code::LIMIT_CONCURRENCY, format!("{reason} ({most})"))
                        .remedy("try again when one of them has ended"));
                }
            }
        }
        let used = match allowance.rate {
            Some(rate) if !guard::off("rate") => Some(use_one(here.used, rate, now)?),
            _ => None,
        };
        counts.everybody = counts.everybody.saturating_add(1);
        counts.kept.entry(caller).or_default().running += 1;
        let here = counts.kept.entry(pair).or_default();
        here.running += 1;
        here.used = used;
        Ok(Turn { counts: Arc::clone(&self.counts), caller, pair })
    }

    /// How many calls are under way.
    pub fn running(&self) -> u32 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).everybody
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.everybody = counts.everybody.saturating_sub(1);
        for key in [self.caller, self.pair] {
            if let Some(count) = counts.kept.get_mut(&key) {
                count.running = count.running.saturating_sub(1);
                if count.running == 0 && count.used.is_none() {
                    counts.kept.remove(&key);
                }
            }
        }
    }
}

impl Counts {
    fn running(&self, key: &Key) -> u32 {
        self.kept.get(key).map_or(0, |count| count.running)
    }

    /// Throws away what no longer says anything, now and then; refuses where there is too much of the rest.
    fn make_room(&mut self, now: u128) -> Result<(), Refusal> {
        if self.kept.len() + 2 > self.sweep_at.clamp(1024, MOST_KEPT) && now >= self.sweep_after {
            self.kept.retain(|_, count| {
                count.running > 0 || count.used.is_some_and(|used| used.says_something(now))
            });
            self.sweep_at = self.kept.len().saturating_mul(2);
            self.sweep_after = now.saturating_add(SWEEP_EVERY.as_nanos());
        }
        if self.kept.len() + 2 > MOST_KEPT {
            return Err(Refusal::new(Code::LIMIT_CONCURRENCY, "too many callers are active at once")
                .remedy("try again in a minute"));
        }
        Ok(())
    }
}

impl Used {
    fn says_something(&self, now: u128) -> bool {
        self.until > now.saturating_mul(self.rate.count.get().into())
    }
}

/// One call more of the rate.
fn use_one(used: Option<Used>, rate: Rate, now: u128) -> Result<Used, Refusal> {
    let calls = u128::from(rate.count.get());
    let (per, now) = (rate.per.as_nanos(), now.saturating_mul(calls));
    // Under another rate than now (a reload changed it) nothing has been used yet.
    let before = used.filter(|used| used.rate == rate).map_or(now, |used| used.until.max(now));
    let until = before.saturating_add(per);
    match until.saturating_sub(now).checked_sub(per.saturating_mul(calls)) {
        None | Some(0) => Ok(Used { rate, until }),
        Some(over) => {
            let nanos = u64::try_from(over.div_ceil(calls)).unwrap_or(u64::MAX);
            let wait = Duration::from_nanos(nanos).as_millis().div_ceil(1000).max(1);
            Err(Refusal::new(Code::LIMIT_RATE, format!("no more than {rate} of these calls are let through"))
                .remedy(format!("try again in {wait} s")))
        }
    }
}

fn pair(caller: &Key, object: &Object) -> Key {
    let server = object.server.as_str();
    Sha256::new()
        .chain_update(caller)
        .chain_update(object.verb.as_str())
        .chain_update([0])
        .chain_update(server)
        .chain_update([0])
        .chain_update(&object.name)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests;
