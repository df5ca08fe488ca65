//! One connection out of the cell, from its acceptance to its end: what let it through, both its halves, and how it is
//! cut.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::connect_unspec;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::account::{Account, FlowId};
use crate::batch::Batch;
use crate::meter::Meter;
use crate::policy::Permit;
use crate::ticket::Ticket;

/// A connection out of the cell. The registry and the flow's own task share it.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) id: FlowId,
    pub(crate) meter: Arc<Meter>,
    cut: AtomicBool,
    woken: Notify,
    seat: Mutex<Seat>,
}

/// What of a flow changes while it lives. INVARIANT: written only under the registry's lock.
#[derive(Debug)]
pub(crate) struct Seat {
    /// What let it through; none before the host is known, and for a flow that is only being told no.
    pub(crate) permit: Option<Arc<Permit>>,
    /// The half towards the cell.
    pub(crate) inner: Arc<TcpStream>,
    /// The half towards the host, once it is connected.
    pub(crate) outer: Option<Arc<TcpStream>>,
    /// Its line in the books, once it is connected.
    pub(crate) account: Option<Account>,
    /// The meter when its last line in the books was closed.
    pub(crate) settled: (u64, u64),
    /// Whether a connection to the host is being made.
    pub(crate) dialling: bool,
    /// The cut whose end waits for this flow's.
    pub(crate) batch: Option<Arc<Batch>>,
    /// Requests on their way.
    pub(crate) tickets: Vec<Arc<Ticket>>,
}

impl Flow {
    pub(crate) fn new(id: FlowId, inner: Arc<TcpStream>) -> Self {
        Self {
            id,
            meter: Arc::new(Meter::new()),
            cut: AtomicBool::new(false),
            woken: Notify::new(),
            seat: Mutex::new(Seat {
                permit: None,
                inner,
                outer: None,
                account: None,
                settled: (0, 0),
                dialling: false,
                batch: None,
                tickets: Vec::new(),
            }),
        }
    }

    pub(crate) fn seat(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the flow was cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Resets both halves now, whatever the flow's task is doing, and tells the task. A flow that is being connected has
    /// nothing to reset there yet; the batch then waits for the task to give the attempt up.
    pub(crate) fn cut(&self, batch: &Arc<Batch>, waits: Waits) {
        let mut seat = self.seat();
        self.cut.store(true, Ordering::Release);
        seat.permit = None;
        if seat.dialling || waits == Waits::ForAll {
            seat.batch = Some(Arc::clone(batch));
            batch.add();
        }
        reset(&seat.inner);
        if let Some(outer) = &seat.outer {
            reset(outer);
        }
        for ticket in &seat.tickets {
            ticket.cut(None);
        }
        self.woken.notify_one();
    }

    /// Ends when the flow is cut.
    pub(crate) async fn until_cut(&self) {
        while !self.is_cut() {
            self.woken.notified().await;
        }
    }

    /// Resets both halves because one of them failed, so that neither end takes what it has for all there is.
    pub(crate) fn abort(&self) {
        let seat = self.seat();
        reset(&seat.inner);
        if let Some(outer) = &seat.outer {
            reset(outer);
        }
    }
}

/// Resets a connection at once, whoever else holds its descriptor: `connect` to no address (connect(2), `AF_UNSPEC`)
/// makes the kernel send RST and drop what is queued, where `SO_LINGER` would wait for the last descriptor's close.
pub(crate) fn reset(stream: &TcpStream) {
    // A connection that is gone already needs no reset.
    let _already_gone = connect_unspec(stream).is_err();
}

/// Which flows' tasks a cut waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Those that could still reach the host.
    ForDials,
    /// All.
    ForAll,
}
