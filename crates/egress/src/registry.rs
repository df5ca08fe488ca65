//! All flows of a cell and the policy they were let through by, under one lock: so a flow is judged either before a
//! change, and then seen by it, or after.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::secret::SecretName;
use tokio::net::TcpStream;

use crate::account::{Account, FlowId};
use crate::batch::Batch;
use crate::event::{End, Log};
use crate::flow::{Flow, Waits};
use crate::name::HostName;
use crate::policy::{Allowed, Permit, Policy};
use crate::refusal::{Code, Refusal, Subject};
use crate::sink::Sink;
use crate::ticket::Ticket;

/// The flows and the policy.
#[derive(Debug)]
pub(crate) struct Registry {
    book: Mutex<Book>,
    most: usize,
    most_per_name: usize,
}

#[derive(Debug)]
struct Book {
    policy: Arc<Policy>,
    flows: HashMap<FlowId, Arc<Flow>>,
    per_name: HashMap<HostName, usize>,
    next: u64,
}

/// Why a flow does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It was refused.
    Refused(Box<Refusal>),
    /// It was cut while it was on its way.
    Cut,
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Registry {
    pub(crate) fn new(policy: Arc<Policy>, most: usize, most_per_name: usize) -> Self {
        let book = Book { policy, flows: HashMap::new(), per_name: HashMap::new(), next: 0 };
        Self { book: Mutex::new(book), most, most_per_name }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The policy now in force.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.book().policy)
    }

    /// Flows there are.
    pub(crate) fn len(&self) -> usize {
        self.book().flows.len()
    }

    /// Enters a connection from the cell; none if there are too many.
    pub(crate) fn open(self: &Arc<Self>, inner: Arc<TcpStream>) -> Option<Entry> {
        let mut book = self.book();
        if book.flows.len() >= self.most {
            return None;
        }
        let id = FlowId(book.next);
        book.next += 1;
        let flow = Arc::new(Flow::new(id, inner));
        book.flows.insert(id, Arc::clone(&flow));
        Some(Entry { flow, sink: None, registry: Arc::clone(self) })
    }

    /// Puts a policy in force and cuts every flow it does not let through. When this returns all of them are reset; the
    /// batch says when those that were being connected have given up too.
    pub(crate) fn change(&self, policy: Policy) -> Cut {
        let mut book = self.book();
        book.policy = Arc::new(policy);
        let batch = Arc::new(Batch::default());
        let mut refusals = Vec::new();
        let mut flows_cut = 0;
        for flow in book.flows.values() {
            match judge_again(&book.policy, flow, &batch) {
                Again::Goes(mut requests) => refusals.append(&mut requests),
                Again::Cut(refusal) => {
                    flow.cut(&batch, Waits::ForDials);
                    refusals.push(refusal);
                    flows_cut += 1;
                }
            }
        }
        let kept = book.flows.len().saturating_sub(flows_cut);
        let mut left = HashMap::new();
        for flow in book.flows.values() {
            if let Some(permit) = &flow.seat().permit {
                *left.entry(permit.name().clone()).or_insert(0) += 1;
            }
        }
        book.per_name = left;
        Cut { batch, kept, refusals }
    }

    /// Judges a request by the policy in force and enters it among those of its flow.
    pub(crate) fn begin(
        &self,
        flow: &Flow,
        alone: bool,
        judge: impl FnOnce(&Policy) -> Result<Allowed, Refusal>,
    ) -> Result<(Arc<Ticket>, Arc<Policy>), Stop> {
        let mut book = self.book();
        if flow.is_cut() {
            return Err(Stop::Cut);
        }
        let allowed = judge(&book.policy)?;
        let number = book.next;
        book.next += 1;
        let ticket = Arc::new(Ticket::new(number, alone, allowed));
        flow.seat().tickets.push(Arc::clone(&ticket));
        Ok((ticket, Arc::clone(&book.policy)))
    }

    /// Notes that keys of the policy `then` are written into a request. If another is in force by now, it has a say.
    pub(crate) fn uses(
        &self,
        ticket: &Ticket,
        permit: &Permit,
        then: &Arc<Policy>,
        names: &[SecretName],
    ) -> Result<(), Stop> {
        let book = self.book();
        if ticket.is_cut() {
            return Err(Stop::Cut);
        }
        ticket.uses(names, then.keys());
        if !Arc::ptr_eq(&book.policy, then) {
            ticket.judge_again(&book.policy, permit)?;
        }
        Ok(())
    }

    /// Takes a request that has ended from those of its flow.
    pub(crate) fn leave(&self, flow: &Flow, ticket: &Ticket) {
        let book = self.book();
        flow.seat().tickets.retain(|other| other.number != ticket.number);
        drop(book);
    }

    /// Has every flow tell the log what it carried.
    pub(crate) fn settle(&self) {
        for flow in self.book().flows.values() {
            if let Some(account) = &mut flow.seat().account {
                account.settle();
            }
        }
    }

    /// Cuts every flow.
    pub(crate) fn cut_all(&self) -> Arc<Batch> {
        let mut book = self.book();
        let batch = Arc::new(Batch::default());
        for flow in book.flows.values() {
            flow.cut(&batch, Waits::ForAll);
        }
        book.per_name.clear();
        batch
    }
}

/// What a change of policy means for one flow.
enum Again {
    /// It goes on, without the requests that were refused.
    Goes(Vec<Refusal>),
    Cut(Refusal),
}

fn judge_again(policy: &Policy, flow: &Flow, batch: &Arc<Batch>) -> Again {
    let mut seat = flow.seat();
    let mut refused = Vec::new();
    let Some(permit) = &seat.permit else { return Again::Goes(refused) };
    match policy.judge_again(permit) {
        Ok(again) => seat.permit = Some(Arc::new(again)),
        Err(_) if crate::guard::off("cut") => return Again::Goes(refused),
        Err(refusal) => return Again::Cut(refusal),
    }
    let Some(permit) = &seat.permit else { return Again::Goes(refused) };
    for ticket in &seat.tickets {
        match ticket.judge_again(policy, permit) {
            Ok(()) => {}
            Err(_) if crate::guard::off("cut") => {}
            Err(refusal) if ticket.alone => return Again::Cut(refusal),
            Err(refusal) => {
                ticket.cut(Some(batch));
                refused.push(refusal);
            }
        }
    }
    Again::Goes(refused)
}

/// What a change of policy did to the flows.
#[derive(Debug)]
pub(crate) struct Cut {
    /// Those of the flows cut that could still reach their host, until their ends.
    pub(crate) batch: Arc<Batch>,
    /// How many go on.
    pub(crate) kept: usize,
    /// One refusal for each flow cut, and for each request cut on a flow that goes on.
    pub(crate) refusals: Vec<Refusal>,
}

/// A flow's place in the registry, held by its task; dropping it is the flow's end.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) flow: Arc<Flow>,
    /// What stands in for the host: for the test of a key.
    pub(crate) sink: Option<Arc<Sink>>,
    registry: Arc<Registry>,
}

impl Entry {
    /// Judges the flow for a host, by the policy in force. A flow of an explicit proxy may come here again for another.
    pub(crate) fn enter(&self, name: &HostName, port: u16) -> Result<Arc<Permit>, Stop> {
        let mut book = self.registry.book();
        if self.flow.is_cut() {
            return Err(Stop::Cut);
        }
        leave(&mut book, &self.flow);
        self.close(End::Finished);
        let permit = Arc::new(book.policy.judge(name, port)?);
        let there = book.per_name.get(name).copied().unwrap_or_default();
        if there >= self.registry.most_per_name {
            return Err(too_many(&permit).into());
        }
        book.per_name.insert(name.clone(), there + 1);
        let mut seat = self.flow.seat();
        if let Some(outer) = seat.outer.take() {
            crate::flow::reset(&outer);
        }
        seat.permit = Some(Arc::clone(&permit));
        Ok(permit)
    }

    /// Notes that a connection to the host is being made, or was given up, unless the flow was cut.
    pub(crate) fn dialling(&self, now: bool) -> Result<(), Stop> {
        let book = self.registry.book();
        if self.flow.is_cut() {
            return Err(Stop::Cut);
        }
        self.flow.seat().dialling = now;
        drop(book);
        Ok(())
    }

    /// Adds the half towards the host, unless the flow was cut while it was being connected.
    pub(crate) fn attach(
        &self,
        permit: &Arc<Permit>,
        outer: Arc<TcpStream>,
        address: Option<SocketAddr>,
        log: &Arc<Log>,
    ) -> Result<(), Stop> {
        let book = self.registry.book();
        if self.flow.is_cut() {
            crate::flow::reset(&outer);
            return Err(Stop::Cut);
        }
        let flow = &self.flow;
        let mut seat = flow.seat();
        let settled = seat.settled;
        seat.outer = Some(outer);
        seat.dialling = false;
        seat.account
            .get_or_insert_with(|| Account::open(log, flow.id, permit, &flow.meter, address, settled));
        drop(book);
        Ok(())
    }

    /// Closes the flow's line in the books, if it has one.
    pub(crate) fn close(&self, end: End) {
        let mut seat = self.flow.seat();
        if let Some(account) = seat.account.take() {
            seat.settled = account.close(end);
        }
    }

    /// The policy now in force.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.registry.policy()
    }
}

fn too_many(permit: &Permit) -> Refusal {
    let subject: Subject<'_> = permit.subject();
    Refusal::new(Code::Limit, subject, "too many connections to this host at once")
}

fn leave(book: &mut Book, flow: &Flow) {
    let Some(permit) = flow.seat().permit.take() else { return };
    if let Some(there) = book.per_name.get_mut(permit.name()) {
        *there -= 1;
        if *there == 0 {
            book.per_name.remove(permit.name());
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.close(End::Lost);
        let mut book = self.registry.book();
        leave(&mut book, &self.flow);
        book.flows.remove(&self.flow.id);
        let batch = self.flow.seat().batch.take();
        drop(book);
        if let Some(batch) = batch {
            batch.release();
        }
    }
}
