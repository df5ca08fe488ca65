//! What a client wants of a server, and where it waits until the server is ready for it.

use std::collections::VecDeque;

use super::message::Id;

/// One request for the server.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Id,
    pub(super) subject: Subject,
    /// As it came, with its end.
    pub(super) line: Vec<u8>,
}

/// What a request is about, as far as it decides whether it may pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// A tool by name.
    Tool(String),
    /// A prompt by name.
    Prompt(String),
    /// A resource by address: one of the list, one of a template, or one that a result named.
    Resource(String),
    /// A resource or a template by how it stands in a list.
    Reference(String),
    /// Nothing that stands in a list: how much the server logs, how a task goes.
    Session,
}

/// Calls that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    calls: VecDeque<(Call, u32)>,
    bytes: usize,
}

impl Queue {
    /// As many calls may wait; further ones are refused.
    const MOST: usize = 1_024;
    /// As many bytes of them.
    const MOST_BYTES: usize = 64 << 20;

    pub(super) fn has_room(&self, call: &Call) -> bool {
        self.calls.len() < Self::MOST && self.bytes.saturating_add(call.line.len()) <= Self::MOST_BYTES
    }

    pub(super) fn push(&mut self, call: Call) {
        self.bytes = self.bytes.saturating_add(call.line.len());
        self.calls.push_back((call, 0));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn has(&self, id: &Id) -> bool {
        self.calls.iter().any(|(call, _)| call.id == *id)
    }

    /// Forgets one; whether it was there.
    pub(super) fn forget(&mut self, id: &Id) -> bool {
        let before = self.calls.len();
        self.calls.retain(|(call, _)| call.id != *id);
        self.bytes = self.calls.iter().map(|(call, _)| call.line.len()).sum();
        self.calls.len() != before
    }

    /// Everything, in order.
    pub(super) fn take(&mut self) -> Vec<Call> {
        self.bytes = 0;
        std::mem::take(&mut self.calls).into_iter().map(|(call, _)| call).collect()
    }

    /// Lets a while pass. The calls that have waited for `most` of them are taken out.
    pub(super) fn age(&mut self, most: u32) -> Vec<Call> {
        let mut late = Vec::new();
        let mut rest = Self::default();
        for (call, age) in std::mem::take(&mut self.calls) {
            if age + 1 >= most {
                late.push(call);
            } else {
                rest.bytes = rest.bytes.saturating_add(call.line.len());
                rest.calls.push_back((call, age + 1));
            }
        }
        *self = rest;
        late
    }
}
