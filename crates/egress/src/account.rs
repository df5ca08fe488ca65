//! What a flow adds to the log: that it was opened, what it carried, and how it ended.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::event::{End, Event, Log};
use crate::flow::FlowId;
use crate::meter::Meter;
use crate::policy::Permit;

/// A flow's line in the books while it is connected to one host.
#[derive(Debug)]
pub(crate) struct Account {
    log: Arc<Log>,
    flow: FlowId,
    permit: Arc<Permit>,
    rule: String,
    meter: Arc<Meter>,
    /// The meter when the account was opened: a flow of an explicit proxy speaks to one host after the other.
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
        let base = (meter.up(), meter.down());
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

    /// Puts down the flow's end.
    pub(crate) fn close(mut self, end: End) {
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
    }
}
