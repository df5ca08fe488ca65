//! What happened at the edge of a cell: a bounded log in which repeats are counted, and counters for each rule.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::secret::SecretName;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::refusal::Refusal;
use crate::rule::Kind;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// Something was refused.
    Refused(Refusal),
    /// A connection was made to an allowed host.
    Opened {
        /// Number of the flow in this cell.
        flow: u64,
        /// The host.
        host: String,
        /// The TCP port.
        port: u16,
        /// What is spoken.
        kind: Kind,
        /// The rule that let it through.
        rule: String,
        /// The address that was dialled, with its port; none where the operator's proxy resolved the name.
        address: Option<String>,
    },
    /// A connection ended.
    Closed {
        /// Number of the flow in this cell.
        flow: u64,
        /// The host.
        host: String,
        /// The TCP port.
        port: u16,
        /// Bytes that left the cell.
        sent: u64,
        /// Bytes that came into the cell.
        received: u64,
        /// Why.
        end: End,
    },
    /// The value of a key was written into a request; told at the request's end.
    KeyUsed {
        /// Number of the flow in this cell.
        flow: u64,
        /// The key's name.
        secret: SecretName,
        /// The host.
        host: String,
        /// The TCP port.
        port: u16,
        /// The method of the request.
        method: String,
        /// The path as the cell sent it, with placeholders and without the query.
        path: String,
        /// The status of the answer; none where there was no answer.
        status: Option<u16>,
        /// Bytes of the request's body.
        sent: u64,
        /// Bytes of the answer's body.
        received: u64,
    },
    /// The first look-up of a name that only a wildcard covers.
    WildcardName {
        /// The name.
        host: String,
        /// The wildcard.
        rule: String,
    },
    /// The rules were changed; told after the cut.
    PolicyChanged {
        /// The new generation.
        generation: u64,
        /// Rules that were not there before.
        added: Vec<String>,
        /// Rules that are no longer there.
        removed: Vec<String>,
        /// Flows that were cut.
        cut: usize,
        /// Flows that go on.
        kept: usize,
    },
}

/// Why a flow ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Both sides had said all.
    Finished,
    /// A side reset the connection, or went away.
    Lost,
    /// Nothing was said for too long.
    Idle,
    /// A change of the rules cut it.
    Cut,
    /// The cell ended.
    CellEnded,
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Number of the entry; stays when it is counted up.
    pub number: u64,
    /// Grows with every change of the log; an entry that was counted up has a new one. What [`Log::since`] takes.
    pub revision: u64,
    /// How often it happened within the window.
    pub count: u64,
    /// First time, in milliseconds since 1970.
    pub first_ms: u64,
    /// Last time, in milliseconds since 1970.
    pub last_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Bounds of a log.
#[derive(Debug, Clone, Copy)]
pub struct LogSettings {
    /// Entries kept; the oldest go first. Default 2,048.
    pub entries: usize,
    /// How long the same event is counted up rather than told again. Default 60 s.
    pub window: Duration,
    /// Rules whose counters are kept apart; the rest is counted under `other`. Default 1,024.
    pub rules: usize,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { entries: 2048, window: Duration::from_mins(1), rules: 1024 }
    }
}

/// What went through one rule, since the cell began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Connections made.
    pub connections: u64,
    /// Connections open now.
    pub open: u64,
    /// Refusals.
    pub refused: u64,
    /// Bytes that left the cell.
    pub sent: u64,
    /// Bytes that came into the cell.
    pub received: u64,
}

/// The log of one cell.
#[derive(Debug)]
pub struct Log {
    settings: LogSettings,
    kept: Mutex<Kept>,
    revision: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: VecDeque<(Entry, Instant)>,
    next_number: u64,
    revision: u64,
    /// The number of the entry that has a revision. A follower asks with every connection what is new, and must not
    /// have to look at all that is kept.
    revised: BTreeMap<u64, u64>,
    /// The number of the entry that counts repeats of an event.
    counting: HashMap<Event, u64>,
    usage: BTreeMap<String, Usage>,
}

/// Where rules beyond the bound, and refusals without a rule, are counted.
const OTHER: &str = "other";

impl Log {
    /// An empty log.
    pub fn new(settings: LogSettings) -> Self {
        Self { settings, kept: Mutex::default(), revision: watch::Sender::new(0) }
    }

    /// Puts down an event, or counts its repeat. Followers hear of a repeat when its count has doubled, so that a tool
    /// that tries a thousand times a second cannot flood them.
    pub fn record(&self, event: Event) {
        let mut guard = self.lock();
        let kept = &mut *guard;
        if let Event::Refused(refusal) = &event {
            self.usage_of(kept, refusal.rule.as_deref().unwrap_or(OTHER)).refused += 1;
        }
        let now_ms = now_ms();
        let revision = kept.revision + 1;
        if let Some(entry) = kept.counting(&event, self.settings.window) {
            entry.count = entry.count.saturating_add(1);
            entry.last_ms = now_ms;
            if !entry.count.is_power_of_two() {
                return;
            }
            let (number, before) = (entry.number, entry.revision);
            entry.revision = revision;
            kept.revised.remove(&before);
            kept.revised.insert(revision, number);
        } else {
            let number = kept.next_number;
            let entry =
                Entry { number, revision, count: 1, first_ms: now_ms, last_ms: now_ms, event: event.clone() };
            kept.next_number += 1;
            kept.revised.insert(revision, number);
            kept.counting.insert(event, number);
            kept.entries.push_back((entry, Instant::now()));
            while kept.entries.len() > self.settings.entries.max(1) {
                kept.forget_oldest();
            }
        }
        kept.revision = revision;
        self.revision.send_replace(revision);
    }

    /// Whether `event` would be counted as a repeat now.
    pub fn repeats(&self, event: &Event) -> bool {
        self.lock().counting(event, self.settings.window).is_some()
    }

    /// Entries that are new or were counted up after `revision`, in the order of their change; 0 for all that are kept.
    pub fn since(&self, revision: u64) -> Vec<Entry> {
        let kept = self.lock();
        let newer = kept.revised.range((Bound::Excluded(revision), Bound::Unbounded));
        newer
            .filter_map(|(_, number)| kept.entries.get(kept.index(*number)?))
            .map(|(entry, _)| entry.clone())
            .collect()
    }

    /// Waits until there is something after `revision`, then the same as [`Log::since`].
    pub async fn follow(&self, revision: u64) -> Vec<Entry> {
        let mut changes = self.revision.subscribe();
        // An error means that the log is gone, which cannot be while it is borrowed here.
        let _gone = changes.wait_for(|now| *now > revision).await.is_err();
        self.since(revision)
    }

    /// Counts a connection that was made by `rule`.
    pub fn opened(&self, rule: &str) {
        let mut kept = self.lock();
        let usage = self.usage_of(&mut kept, rule);
        usage.connections += 1;
        usage.open += 1;
    }

    /// Counts bytes that `rule` let through.
    pub fn carried(&self, rule: &str, sent: u64, received: u64) {
        let mut kept = self.lock();
        let usage = self.usage_of(&mut kept, rule);
        usage.sent = usage.sent.saturating_add(sent);
        usage.received = usage.received.saturating_add(received);
    }

    /// Counts the end of a connection that [`Log::opened`] counted.
    pub fn closed(&self, rule: &str) {
        let mut kept = self.lock();
        let usage = self.usage_of(&mut kept, rule);
        usage.open = usage.open.saturating_sub(1);
    }

    /// The counters of each rule, and `other`.
    pub fn usage(&self) -> BTreeMap<String, Usage> {
        self.lock().usage.clone()
    }

    /// The counters of the cell.
    pub fn total(&self) -> Usage {
        self.lock().usage.values().fold(Usage::default(), |sum, rule| Usage {
            connections: sum.connections.saturating_add(rule.connections),
            open: sum.open.saturating_add(rule.open),
            refused: sum.refused.saturating_add(rule.refused),
            sent: sum.sent.saturating_add(rule.sent),
            received: sum.received.saturating_add(rule.received),
        })
    }

    fn usage_of<'a>(&self, kept: &'a mut Kept, rule: &str) -> &'a mut Usage {
        let known = kept.usage.contains_key(rule);
        let key = if known || kept.usage.len() < self.settings.rules { rule } else { OTHER };
        kept.usage.entry(key.to_owned()).or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// The entry that counts repeats of `event`, if its window is still open.
    fn counting(&mut self, event: &Event, window: Duration) -> Option<&mut Entry> {
        let index = self.index(*self.counting.get(event)?)?;
        let (entry, begun) = self.entries.get_mut(index)?;
        (begun.elapsed() < window).then_some(entry)
    }

    /// Where the entry of a number is, if it is kept.
    fn index(&self, number: u64) -> Option<usize> {
        let oldest = self.entries.front().map(|(entry, _)| entry.number)?;
        usize::try_from(number.checked_sub(oldest)?).ok()
    }

    fn forget_oldest(&mut self) {
        let Some((gone, _)) = self.entries.pop_front() else { return };
        self.revised.remove(&gone.revision);
        if self.counting.get(&gone.event) == Some(&gone.number) {
            self.counting.remove(&gone.event);
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
