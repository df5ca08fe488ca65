//! Where stderr goes besides the log: to whoever is attached and asked for it, or into a small memory until somebody
//! has been.

use std::cell::RefCell;

use cell_api::order::StderrMode;
use tokio::sync::mpsc;

/// What is remembered of stderr before the first attach, in bytes.
const EARLY: usize = 64 << 10;
/// Pieces on their way to an attach.
const PIECES: usize = 8;

/// The tap of one process.
#[derive(Debug, Default)]
pub(crate) struct StderrTap {
    state: RefCell<State>,
}

#[derive(Debug)]
enum State {
    /// Nobody was attached yet.
    Early(Vec<u8>),
    /// Nobody listens.
    Shut,
    /// Somebody gets all of it, or what it keeps up with.
    Open { to: mpsc::Sender<Vec<u8>>, lossy: bool, missed: usize },
    /// Stderr has ended; what was said before anybody came is still here.
    Ended(Vec<u8>),
}

impl Default for State {
    fn default() -> Self {
        Self::Early(Vec::new())
    }
}

impl StderrTap {
    /// Begins to listen. `None` for somebody who does not want to.
    pub(crate) fn open(&self, mode: StderrMode) -> Option<mpsc::Receiver<Vec<u8>>> {
        let mut state = self.state.borrow_mut();
        let (early, ended) = match std::mem::replace(&mut *state, State::Shut) {
            State::Early(early) => (early, false),
            State::Ended(early) => (early, true),
            State::Shut | State::Open { .. } => (Vec::new(), false),
        };
        let lossy = match mode {
            StderrMode::False if ended => {
                *state = State::Ended(Vec::new());
                return None;
            }
            StderrMode::False => return None,
            StderrMode::True => false,
            StderrMode::Lossy => true,
        };
        let (to, pieces) = mpsc::channel(PIECES);
        if !early.is_empty() {
            // A channel that was just made has room.
            to.try_send(early).ok();
        }
        *state = if ended { State::Ended(Vec::new()) } else { State::Open { to, lossy, missed: 0 } };
        Some(pieces)
    }

    /// The listener has gone.
    pub(crate) fn shut(&self) {
        let mut state = self.state.borrow_mut();
        if matches!(*state, State::Open { .. }) {
            *state = State::Shut;
        }
    }

    /// Stderr has ended.
    pub(crate) fn close(&self) {
        let mut state = self.state.borrow_mut();
        let early = match &mut *state {
            State::Early(early) => std::mem::take(early),
            _ => Vec::new(),
        };
        *state = State::Ended(early);
    }

    /// Passes a piece on. Waits only for a listener that asked for all of it.
    pub(crate) async fn pass(&self, bytes: &[u8]) {
        let waiting = match &mut *self.state.borrow_mut() {
            State::Early(early) => {
                let room = EARLY.saturating_sub(early.len()).min(bytes.len());
                early.extend(bytes.iter().take(room));
                None
            }
            State::Open { to, lossy: true, missed } => {
                pass_lossy(to, missed, bytes);
                None
            }
            State::Open { to, lossy: false, .. } => Some(to.clone()),
            State::Shut | State::Ended(_) => None,
        };
        if let Some(to) = waiting {
            // The listener left meanwhile: the log has it.
            to.send(bytes.to_vec()).await.ok();
        }
    }
}

fn pass_lossy(to: &mpsc::Sender<Vec<u8>>, missed: &mut usize, bytes: &[u8]) {
    let mut piece = Vec::new();
    if *missed > 0 {
        piece.extend_from_slice(format!("\nfumehood: {missed} bytes are in the log only\n").as_bytes());
    }
    piece.extend_from_slice(bytes);
    match to.try_send(piece) {
        Ok(()) => *missed = 0,
        Err(_) => *missed += bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn what_was_said_before_anybody_came_is_not_lost() {
        let tap = StderrTap::default();
        tap.pass(b"one ").await;
        tap.pass(b"two").await;
        tap.close();
        let mut pieces = tap.open(StderrMode::True).unwrap();
        assert_eq!(pieces.recv().await.unwrap(), b"one two");
        assert_eq!(pieces.recv().await, None);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_lossy_listener_that_does_not_read_stops_nobody_and_is_told() {
        let tap = StderrTap::default();
        let mut pieces = tap.open(StderrMode::Lossy).unwrap();
        for _ in 0..PIECES + 3 {
            tap.pass(b"xx").await;
        }
        for _ in 0..PIECES {
            assert_eq!(pieces.recv().await.unwrap(), b"xx");
        }
        tap.pass(b"yy").await;
        assert_eq!(pieces.recv().await.unwrap(), b"\nfumehood: 6 bytes are in the log only\nyy");
    }

    #[tokio::test(flavor = "current_thread")]
    async fn memory_before_the_first_attach_is_bounded_and_freed() {
        let tap = StderrTap::default();
        for _ in 0..10 {
            tap.pass(&vec![1; EARLY]).await;
        }
        assert!(matches!(&*tap.state.borrow(), State::Early(early) if early.len() == EARLY));
        assert!(tap.open(StderrMode::False).is_none());
        assert!(matches!(&*tap.state.borrow(), State::Shut));
    }
}
