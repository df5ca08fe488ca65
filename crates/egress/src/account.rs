//! What a flow adds to the log: that it was opened, what it carried, and how it ended.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::event::{End, Event, Log};
use crate::meter::Meter;
use crate::policy::Permit;

/// The number of a flow, unique within one egress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FlowId(pub(crate) u64);

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A flow's line in the books while it is connected to one host.
#[derive(Debug)]
pub(crate) struct Account {
    log: Arc<Log>,
    flow: FlowId,
    permit: Arc<Permit>,
    rule: String,
    meter: Arc<Meter>,
    /// The meter when the account before was closed: a flow of an explicit proxy speaks to one host after the other.
    base: (u64, u64),
    /// What of it the log knows.
    told: (u64, u64),
}

impl Account {
    pub(crate) fn open(
        log: &Arc<Log>,
        flow: FlowId,
        permit: &Arc<Permit>,
        meter: &Arc<Meter>,
        address: Option<SocketAddr>,
        base: (u64, u64),
    ) -> Self {
        let rule = permit.rule().to_string();
        log.opened(&rule);
        log.record(Event::Opened {
            flow: flow.0,
            host: permit.name().to_string(),
            port: permit.port(),
            kind: permit.kind(),
            rule: rule.clone(),
            address: address.map(|address| address.to_string()),
        });
        Self {
            log: Arc::clone(log),
            flow,
            permit: Arc::clone(permit),
            rule,
            meter: Arc::clone(meter),
            base,
            told: base,
        }
    }

    /// Adds to the rule's counters what was carried since the last time.
    pub(crate) fn settle(&mut self) {
        let now = (self.meter.up(), self.meter.down());
        let (sent, received) = (now.0 - self.told.0, now.1 - self.told.1);
        if sent > 0 || received > 0 {
            self.log.carried(&self.rule, sent, received);
        }
        self.told = now;
    }

    /// Puts down the flow's end, and returns the meter then.
    pub(crate) fn close(mut self, end: End) -> (u64, u64) {
        self.settle();
        self.log.closed(&self.rule);
        self.log.record(Event::Closed {
            flow: self.flow.0,
            host: self.permit.name().to_string(),
            port: self.permit.port(),
            sent: self.told.0 - self.base.0,
            received: self.told.1 - self.base.1,
            end,
        });
        self.told
    }
}
