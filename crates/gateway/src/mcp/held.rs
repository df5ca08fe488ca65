//! Calls that wait for a person's answer between two requests of their client.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use serde_json::Value;

use super::{exchange::Exchange, state::LIFE};
use crate::pool::Question;

/// Most calls that wait at once.
const MOST: usize = 1_024;
/// Most calls of one caller that wait at once.
const MOST_OF_ONE: usize = 32;

/// All of them, by the ids of their calls.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<HashMap<String, Waiting>>);

/// One that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Whose it is: [`access::principal::Principal::key`].
    pub(super) principal: String,
    /// The call.
    pub(super) exchange: Exchange,
    /// What its server wants to know.
    pub(super) question: Question,
    /// The question as it was put.
    pub(super) put: Value,
    /// Until then it is kept.
    pub(super) until: Instant,
}

impl Held {
    /// Keeps one.
    ///
    /// # Errors
    ///
    /// Gives it back where too many wait.
    pub(super) fn keep(&self, call: String, waiting: Waiting, now: Instant) -> Result<(), Box<Waiting>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|_, other| other.until > now);
        let own = held.values().filter(|other| other.principal == waiting.principal).count();
        if held.len() >= MOST || own >= MOST_OF_ONE {
            return Err(Box::new(waiting));
        }
        held.insert(call, waiting);
        Ok(())
    }

    /// Takes one out.
    pub(super) fn take(&self, call: &str, principal: &str, now: Instant) -> Option<Waiting> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.get(call).is_none_or(|waiting| waiting.principal != principal) {
            return None;
        }
        held.remove(call).filter(|waiting| waiting.until > now)
    }

    /// Lets go of those for which nobody came.
    pub(super) fn expire(&self, now: Instant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, waiting| waiting.until > now);
    }
}

/// Until when a call waits that begins to do so now.
pub(super) fn until(now: Instant) -> Instant {
    now + LIFE
}
