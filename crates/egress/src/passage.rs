//! A request on its way, as those who carry it know it: while one of them holds on to it, it is under way.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::secret::SecretName;

use crate::credential::body::Written;
use crate::edge::Core;
use crate::event::Event;
use crate::flow::Flow;
use crate::meter::Way;
use crate::name::shown_long;
use crate::path::CanonicalPath;
use crate::policy::{Permit, Policy};
use crate::registry::{Registry, Stop};
use crate::ticket::{Party, Ticket};

/// A request under way. When the last holder lets go, the use of keys is told and a cut that waits goes on.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) ticket: Arc<Ticket>,
    /// What was in force when it was let through.
    pub(crate) policy: Arc<Policy>,
    pub(crate) permit: Arc<Permit>,
    core: Arc<Core>,
    flow: Arc<Flow>,
    method: String,
    /// As the cell sent it, so with placeholders, and without its query.
    path: String,
    used: Mutex<Used>,
    status: AtomicU16,
    sent: AtomicU64,
    received: AtomicU64,
}

#[derive(Debug, Default)]
struct Used {
    names: Vec<SecretName>,
    body: Option<Written>,
    /// Nothing leaves: the test of a key.
    untold: bool,
}

impl Passage {
    /// Judges a request by the policy in force and enters it. `alone` says whether its connections carry nothing else.
    pub(crate) fn begin(
        core: &Arc<Core>,
        flow: &Arc<Flow>,
        permit: &Arc<Permit>,
        alone: bool,
        method: &str,
        path: &CanonicalPath,
    ) -> Result<Arc<Self>, Stop> {
        let judge = |policy: &Policy| policy.judge_request(permit, method, path);
        let (ticket, policy) = core.registry.begin(flow, alone, judge)?;
        Ok(Arc::new(Self {
            ticket,
            policy,
            permit: Arc::clone(permit),
            core: Arc::clone(core),
            flow: Arc::clone(flow),
            method: method.to_owned(),
            path: path.sent().to_owned(),
            used: Mutex::default(),
            status: AtomicU16::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }))
    }

    /// Notes which keys were written into its head, and which may still be into its body; all of them must be the cell's
    /// now, whatever happened since the request was judged.
    pub(crate) fn uses(
        &self,
        names: Vec<SecretName>,
        later: impl IntoIterator<Item = SecretName>,
        body: Written,
    ) -> Result<(), Stop> {
        let mut all = names.clone();
        all.extend(later);
        if !all.is_empty() {
            self.registry().uses(&self.ticket, &self.permit, &self.policy, &all)?;
            let mut used = self.used();
            used.names = names;
            used.body = Some(body);
        }
        Ok(())
    }

    /// Notes that a key was written after the head.
    pub(crate) fn used_too(&self, name: &SecretName) {
        let mut used = self.used();
        if !used.names.contains(name) {
            used.names.push(name.clone());
        }
    }

    /// Keeps the use of keys to itself: nothing of it leaves.
    pub(crate) fn is_a_test(&self) {
        self.used().untold = true;
    }

    /// Notes the status of the answer.
    pub(crate) fn answered(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// Counts bytes of a body.
    pub(crate) fn count(&self, way: Way, bytes: usize) {
        let counter = match way {
            Way::Up => &self.sent,
            Way::Down => &self.received,
        };
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Ends when it is cut.
    pub(crate) async fn until_cut(&self) {
        poll_fn(|cx| self.ticket.poll_cut(Party::Head, cx)).await;
    }

    fn registry(&self) -> &Registry {
        &self.core.registry
    }

    fn used(&self) -> std::sync::MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.registry().leave(&self.flow, &self.ticket);
        let used = std::mem::take(&mut *self.used());
        let mut names = used.names;
        let written = used.body.map(|body| body.names()).unwrap_or_default();
        names.extend(written.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
        if !used.untold {
            for secret in names {
                self.core.log.record(Event::KeyUsed {
                    flow: self.flow.id.0,
                    secret,
                    host: self.permit.name().to_string(),
                    port: self.permit.port(),
                    method: self.method.clone(),
                    path: shown_long(&self.path),
                    status: Some(self.status.load(Ordering::Relaxed)).filter(|status| *status != 0),
                    sent: self.sent.load(Ordering::Relaxed),
                    received: self.received.load(Ordering::Relaxed),
                });
            }
        }
        if let Some(batch) = self.ticket.take_batch() {
            batch.release();
        }
    }
}
