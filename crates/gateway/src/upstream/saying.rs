//! What a server is told, and whether it reads.

use tokio::{
    sync::mpsc::error::TrySendError,
    time::{Duration, Instant},
};

use super::{Upstream, cell::Cell};
use crate::guard;

/// As many lines may a server leave unread; [`super::post::MOST_CALLS`] of them can be calls, the rest are our answers to
/// what it asks.
const MOST_UNREAD: usize = 4_096;
/// How long a server that reads no more may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Upstream {
    /// Whether a line may go to the server.
    pub(super) fn can_say(&self) -> bool {
        match &self.cell {
            Cell::Up(up) => !up.is_frozen && !up.is_done && up.mute.is_none() && self.motion.is_none(),
            _ => false,
        }
    }

    /// Whether the cell is listened to: not while nothing more of it can be kept, nor one that makes us answer and does
    /// not read the answers.
    pub(super) fn may_hear(&self) -> bool {
        self.network.has_room() && (self.to_server.len() < MOST_UNREAD || guard::off("pool-bounds"))
    }

    /// Tells the server what it is to be told, as far as it reads.
    pub(super) fn say(&mut self) {
        while self.can_say() && !self.to_server.is_empty() {
            let Cell::Up(up) = &mut self.cell else { return };
            let room = match up.say.try_reserve() {
                Ok(room) => room,
                Err(TrySendError::Full(())) => return,
                Err(TrySendError::Closed(())) => {
                    up.mute = Some(Instant::now() + LAST_WORDS);
                    return;
                }
            };
            let Some(line) = self.to_server.pop_front() else { return };
            self.unsaid = self.unsaid.saturating_sub(line.len());
            let number = self.ids.number_of_line(&line);
            room.send(line);
            if let Some(number) = number {
                self.is_sent(number);
            }
        }
    }

    /// Nobody reads it any more.
    pub(super) fn forget_unsaid(&mut self) {
        self.to_server.clear();
        self.unsaid = 0;
    }
}
