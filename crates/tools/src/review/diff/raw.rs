//! A difference as it is found.

use serde_json::Value;

use super::How;
use crate::review::place::Place;

/// A difference, before it is judged.
#[derive(Debug, Clone)]
pub(super) struct Raw {
    pub(super) place: Place,
    pub(super) how: How,
    pub(super) before: Option<Value>,
    pub(super) after: Option<Value>,
    /// What else there is to say: the name that an entry had, why it is held back.
    pub(super) note: Option<String>,
}

impl Raw {
    pub(super) fn of(
        place: Place,
        how: How,
        before: Option<&Value>,
        after: Option<&Value>,
        note: Option<String>,
    ) -> Self {
        Self { place, how, before: before.cloned(), after: after.cloned(), note }
    }
}
