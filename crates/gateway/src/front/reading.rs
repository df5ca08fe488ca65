//! How often, and for how long, a server's lists are read: a server must not be able to keep its user busy with it.

use std::collections::BTreeSet;

use tools::{fingerprint::Fingerprint, introspect::Introspection};

use crate::guard;

/// The reading of a running server's lists.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) introspection: Introspection,
    /// As many readings may begin at once; one more after every while.
    credit: u32,
    /// Other surfaces than the accepted one that were told of.
    told: BTreeSet<Fingerprint>,
}

/// What a server offers at its start, that is not what was accepted: it may still be adding to its lists.
#[derive(Debug)]
pub(super) struct Unlike {
    last: Fingerprint,
    /// Another one was seen since the while began.
    is_new: bool,
    /// It has kept still and is read once more, since some servers add to their lists without saying so.
    is_last_look: bool,
    /// As many times may a while pass until there has to be a decision.
    patience: u32,
}

/// What to do with a server that is unlike.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Wait,
    LookAgain,
    Refuse,
}

impl Reading {
    /// Most servers that say several times in a row that a list has changed do so for one cause.
    const BURST: u32 = 4;
    /// Other surfaces that are told of in one session, if nothing is newly held for them.
    const MOST_TOLD: usize = 16;

    pub(super) fn of(introspection: Introspection) -> Self {
        Self { introspection, credit: Self::BURST, told: BTreeSet::new() }
    }

    /// Whether the lists, which have changed, may be read anew now.
    pub(super) fn may_begin(&mut self) -> bool {
        let may = self.credit > 0 || guard::off("front-pace");
        self.credit = self.credit.saturating_sub(1);
        may
    }

    /// A while has passed.
    pub(super) fn rest(&mut self) {
        self.credit = (self.credit + 1).min(Self::BURST);
    }

    pub(super) fn is_tired(&self) -> bool {
        self.credit < Self::BURST
    }

    /// Whether a surface that is not the accepted one has to be told of: not for going back and forth.
    pub(super) fn is_to_be_told(&mut self, surface: &Fingerprint, holds_more: bool) -> bool {
        let is_new = self.told.len() < Self::MOST_TOLD && self.told.insert(*surface);
        holds_more || is_new
    }
}

impl Unlike {
    /// About half a minute.
    const PATIENCE: u32 = 20;

    pub(super) fn first(seen: Fingerprint) -> Self {
        Self { last: seen, is_new: false, is_last_look: false, patience: Self::PATIENCE }
    }

    /// It was read again, and is still unlike.
    pub(super) fn seen(&mut self, seen: Fingerprint) -> Next {
        let is_other = std::mem::replace(&mut self.last, seen) != seen;
        self.is_new |= is_other;
        if std::mem::take(&mut self.is_last_look) && !is_other { Next::Refuse } else { Next::Wait }
    }

    /// A while has passed; `has_settled` says that no reading is under way.
    pub(super) fn rest(&mut self, has_settled: bool) -> Next {
        if self.patience == 0 && !guard::off("front-patience") {
            return Next::Refuse;
        }
        self.patience = self.patience.saturating_sub(1);
        if !has_settled || std::mem::take(&mut self.is_new) {
            return Next::Wait;
        }
        self.is_last_look = true;
        Next::LookAgain
    }
}
