//! A connection from the cell that speaks HTTP/1.1, from its first request to its end or to a switch of protocols.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::upgrade::OnUpgrade;

use super::gate::GateKeeper;
use super::upstream::{Road, Upstream};
use super::websocket::Talk;
use crate::edge::Core;
use crate::policy::Permit;
use crate::refusal::Refusal;
use crate::registry::Entry;
use crate::wire::Wire;

/// Whose requests a connection may carry.
#[derive(Debug)]
pub(crate) enum Authority {
    /// One host's: the address the connection was made to is that host's.
    Fixed(Arc<Permit>),
    /// Those of any host the policy allows: an explicit proxy.
    Proxy,
    /// Nobody's: every request is answered with this.
    Refused(Box<Refusal>),
}

/// How a connection ended.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one a connection, and taken apart at once")]
pub(crate) enum Outcome {
    /// It is over.
    Over,
    /// It has become a WebSocket.
    WebSocket { inner: Wire, outer: Wire, talk: Talk },
    /// It has become a tunnel to a host (CONNECT), not connected yet.
    Connect { inner: Wire, permit: Arc<Permit> },
}

/// A switch of protocols that was granted and is done when the answer has been written.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one a connection, and taken apart at once")]
pub(super) enum Switch {
    WebSocket { inner: OnUpgrade, outer: OnUpgrade, upstream: Upstream, talk: Talk },
    Connect { inner: OnUpgrade, permit: Arc<Permit> },
}

/// What the requests of one connection share.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) core: &'a Arc<Core>,
    pub(super) entry: &'a Entry,
    pub(super) authority: Authority,
    pub(super) road: Road,
    pub(super) keeper: GateKeeper,
    pub(super) upstream: Mutex<Option<Upstream>>,
    pub(super) switch: Mutex<Option<Switch>>,
}

impl Session<'_> {
    pub(super) fn take_upstream(&self) -> Option<Upstream> {
        self.upstream.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn keep_upstream(&self, upstream: Upstream) {
        *self.upstream.lock().unwrap_or_else(PoisonError::into_inner) = Some(upstream);
    }

    pub(super) fn switch(&self, switch: Switch) {
        *self.switch.lock().unwrap_or_else(PoisonError::into_inner) = Some(switch);
    }
}
