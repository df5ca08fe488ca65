//! The last things that happened, bounded.

use std::{cell::RefCell, collections::VecDeque};

use cell_api::event::{Event, EventKind};
use tokio::sync::watch;

use crate::clock;

/// How many events are kept.
pub(crate) const KEPT: usize = 1_000;

/// The ring. A reader that comes late sees by the sequence numbers that something is missing.
#[derive(Debug)]
pub(crate) struct Events {
    ring: RefCell<VecDeque<Event>>,
    last: watch::Sender<u64>,
}

impl Default for Events {
    fn default() -> Self {
        Self { ring: RefCell::new(VecDeque::new()), last: watch::Sender::new(0) }
    }
}

impl Events {
    /// Adds one.
    pub(crate) fn push(&self, kind: EventKind) {
        let seq = *self.last.borrow() + 1;
        {
            let mut ring = self.ring.borrow_mut();
            if ring.len() == KEPT {
                ring.pop_front();
            }
            ring.push_back(Event { seq, time: clock::now(), kind });
        }
        self.last.send_replace(seq);
    }

    /// All kept events after `seq`.
    pub(crate) fn after(&self, seq: u64) -> Vec<Event> {
        self.ring.borrow().iter().filter(|event| event.seq > seq).cloned().collect()
    }

    /// Changes whenever an event is added.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_last_thousand_and_their_numbers() {
        let events = Events::default();
        for _ in 0..KEPT + 5 {
            events.push(EventKind::Frozen);
        }
        let kept = events.after(0);
        assert_eq!(kept.len(), KEPT);
        assert_eq!(kept.first().unwrap().seq, 6);
        assert_eq!(events.after(1_004).len(), 1);
        assert_eq!(*events.changes().borrow(), 1_005);
    }
}
