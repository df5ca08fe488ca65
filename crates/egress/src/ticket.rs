//! A request on its way, as the registry knows it: what let it through, and whom to wake when it may not go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use model::secret::SecretName;

use crate::batch::Batch;
use crate::credential::Keyring;
use crate::policy::{Allowed, Permit, Policy};
use crate::refusal::Refusal;

/// Who carries a part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party {
    /// The body towards the host.
    Up,
    /// The body towards the cell.
    Down,
    /// Who waits for the answer.
    Head,
}

/// A request on its way.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// Whether its connections carry nothing else, so that they are cut and not the request alone.
    pub(crate) alone: bool,
    cut: AtomicBool,
    state: Mutex<State>,
}

/// INVARIANT: `allowed` and `batch` are written only under the registry's lock.
#[derive(Debug)]
struct State {
    allowed: Option<Allowed>,
    batch: Option<Arc<Batch>>,
    wakers: [Option<Waker>; 3],
}

impl Ticket {
    pub(crate) fn new(number: u64, alone: bool, allowed: Allowed) -> Self {
        let state = State { allowed: Some(allowed), batch: None, wakers: [None, None, None] };
        Self { number, alone, cut: AtomicBool::new(false), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The target of the request as it is sent.
    pub(crate) fn target(&self) -> String {
        self.state().allowed.as_ref().map(Allowed::target).unwrap_or_default()
    }

    /// Notes the keys that are written into it.
    pub(crate) fn uses(&self, names: &[SecretName], ring: &Keyring) {
        let mut state = self.state();
        state.allowed = state.allowed.take().map(|allowed| allowed.using(names, ring));
    }

    /// Judges it by the policy now in force.
    pub(crate) fn judge_again(&self, policy: &Policy, permit: &Permit) -> Result<(), Refusal> {
        let mut state = self.state();
        if let Some(allowed) = &state.allowed {
            state.allowed = Some(allowed.still(policy, permit)?);
        }
        Ok(())
    }

    /// Whether it was cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Ready when it was cut; wakes `party` then.
    pub(crate) fn poll_cut(&self, party: Party, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if self.is_cut() {
            return Poll::Ready(());
        }
        if let Some(slot) = state.wakers.get_mut(party as usize)
            && !slot.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
        {
            *slot = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Cuts it. With a batch, that waits until nobody carries a part of it any more.
    pub(crate) fn cut(&self, batch: Option<&Arc<Batch>>) {
        let mut state = self.state();
        self.cut.store(true, Ordering::Release);
        if let Some(batch) = batch {
            batch.add();
            state.batch = Some(Arc::clone(batch));
        }
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// The cut that waits for its end.
    pub(crate) fn take_batch(&self) -> Option<Arc<Batch>> {
        self.state().batch.take()
    }
}
