//! What happens at the edge of a cell, and the calls that were in flight then.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;
use store::audit::CallId;
use tokio::{sync::mpsc, time::Instant};

use super::{CellKey, Seen};

/// As many events may wait to be kept; the cell is not listened to any more before one is lost.
const MOST: usize = 1_024;
/// As many calls are named with one event.
const MOST_NAMED: usize = 64;
/// Events come a while after they happened: so long, and so many, calls that have ended are remembered.
const REMEMBERED: Duration = Duration::from_secs(10);
const MOST_REMEMBERED: usize = 256;

/// Events on their way to the record.
#[derive(Debug)]
pub(super) struct Network {
    to: mpsc::Sender<Seen>,
    waiting: VecDeque<Seen>,
    ended: VecDeque<(Instant, CallId, SystemTime, SystemTime)>,
}

impl Network {
    pub(super) fn to(record: mpsc::Sender<Seen>) -> Self {
        Self { to: record, waiting: VecDeque::new(), ended: VecDeque::new() }
    }

    /// A call that the server had from then on has ended.
    pub(super) fn ended(&mut self, call: CallId, sent: SystemTime) {
        let now = Instant::now();
        while self
            .ended
            .front()
            .is_some_and(|(at, ..)| self.ended.len() >= MOST_REMEMBERED || now - *at > REMEMBERED)
        {
            self.ended.pop_front();
        }
        self.ended.push_back((now, call, sent, SystemTime::now()));
    }

    /// Takes an event; `running` are the calls that the server has now, with when it got each.
    pub(super) fn take<'a>(
        &mut self,
        key: &CellKey,
        event: Value,
        running: impl Iterator<Item = (&'a CallId, SystemTime)>,
    ) {
        // The newest time of an entry that counts several.
        let at = event.get("last_ms").and_then(Value::as_u64);
        let began_before = |sent: SystemTime| at.is_none_or(|at| millis(sent) <= at);
        let running = running.filter(|(_, sent)| began_before(*sent)).map(|(call, _)| call.clone());
        let ended = self
            .ended
            .iter()
            .filter(|(_, _, sent, until)| at.is_some_and(|at| millis(*sent) <= at && at <= millis(*until)));
        let calls = running.chain(ended.map(|(_, call, ..)| call.clone())).take(MOST_NAMED).collect();
        self.waiting.push_back(Seen { key: key.clone(), calls, event });
    }

    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < MOST
    }

    pub(super) fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Hands one on, as soon as it is taken.
    pub(super) async fn tell(&mut self) {
        match self.to.reserve().await {
            Ok(permit) => {
                if let Some(seen) = self.waiting.pop_front() {
                    permit.send(seen);
                }
            }
            // Nobody keeps a record any more.
            Err(_) => self.waiting.clear(),
        }
    }
}

fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
