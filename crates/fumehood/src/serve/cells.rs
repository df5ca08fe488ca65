//! The service's cells: started for the pool, each attended by tasks of one thread. What starts them cannot be sent
//! between threads; what is handed out can.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    thread,
};

use access::principal::Principal;
use cell::folders::Folders;
use futures_util::future::BoxFuture;
use gateway::pool::{CellKey, Cells, Running, StartError};
use model::name::ServerName;
use tokio::{
    runtime::Builder,
    sync::{mpsc, oneshot, watch},
    task::{JoinSet, LocalSet},
};

use crate::server::target::Target;

mod attending;
#[cfg(feature = "guard-off")]
pub(crate) mod driving;
mod holding;
mod screen;
mod starting;

pub(crate) use screen::Screening;

/// Makes cells of the servers that are declared now.
#[derive(Debug, Clone)]
pub(crate) struct LiveCells {
    orders: mpsc::UnboundedSender<Order>,
    declared: Arc<RwLock<Arc<Declared>>>,
    /// Closed once the last cell has ended.
    ended: watch::Receiver<()>,
}

/// Servers by the names under which they are asked.
pub(crate) type Declared = BTreeMap<ServerName, Target>;

#[derive(Debug)]
enum Order {
    Start(Box<Start>),
    Close,
}

#[derive(Debug)]
struct Start {
    key: CellKey,
    who: Option<Arc<Principal>>,
    target: Option<Target>,
    answer: oneshot::Sender<Result<Running, StartError>>,
}

impl LiveCells {
    /// Begins to take orders, on a thread of its own.
    ///
    /// # Errors
    /// If there is no such thread to be had.
    pub(crate) fn begin(folders: Folders, declared: Declared) -> anyhow::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (orders, ordered) = mpsc::unbounded_channel();
        let (alive, ended) = watch::channel(());
        thread::Builder::new().name("cells".to_owned()).spawn(move || {
            LocalSet::new().block_on(&runtime, serve(folders, ordered));
            drop(alive);
        })?;
        Ok(Self { orders, declared: Arc::new(RwLock::new(Arc::new(declared))), ended })
    }

    /// From now on these servers are started; cells that run are not touched.
    pub(crate) fn declare(&self, declared: Declared) {
        *self.declared.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(declared);
    }

    /// A server that is declared now.
    pub(crate) fn target(&self, name: &ServerName) -> Option<Target> {
        self.declared.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Takes no more orders, and waits until every cell has ended. Whoever has one ends it, or lets go of it.
    pub(crate) async fn close(&self) {
        self.orders.send(Order::Close).ok();
        let mut ended = self.ended.clone();
        // An error is what is waited for.
        while ended.changed().await.is_ok() {}
    }
}

impl Cells for LiveCells {
    fn start(
        &self,
        key: CellKey,
        who: Option<Arc<Principal>>,
    ) -> BoxFuture<'static, Result<Running, StartError>> {
        let declared = Arc::clone(&self.declared.read().unwrap_or_else(PoisonError::into_inner));
        let target = declared.get(&key.server).cloned();
        let (answer, answered) = oneshot::channel();
        let gone = |()| StartError {
            code: "FH-STOPPING",
            reason: "the service is about to end".to_owned(),
            is_final: true,
        };
        let order = Order::Start(Box::new(Start { key, who, target, answer }));
        let sent = self.orders.send(order).map_err(|_closed| gone(()));
        Box::pin(async move {
            sent?;
            answered.await.map_err(|_dropped| gone(()))?
        })
    }
}

/// Starts what is ordered, side by side, until nobody orders any more and all have ended.
async fn serve(folders: Folders, mut ordered: mpsc::UnboundedReceiver<Order>) {
    let mut cells = JoinSet::new();
    loop {
        tokio::select! {
            order = ordered.recv() => match order {
                Some(Order::Start(start)) => {
                    cells.spawn_local(hold(folders.clone(), *start));
                }
                Some(Order::Close) | None => break,
            },
            Some(_ended) = cells.join_next() => {}
        }
    }
    while cells.join_next().await.is_some() {}
}

/// One cell from its order to its end.
async fn hold(folders: Folders, start: Start) {
    let Start { key, who, target, mut answer } = start;
    let starting = starting::start(&folders, target, &key, who.as_deref());
    let started = tokio::select! {
        started = starting => started,
        // Nobody waits for it any more.
        () = answer.closed() => return,
    };
    match started {
        Ok(cell) => {
            let (running, attended) = attending::begin(cell);
            // Where nobody takes it, it is dropped, and ends by that.
            answer.send(Ok(running)).ok();
            attended.await;
        }
        Err(error) => {
            answer.send(Err(error)).ok();
        }
    }
}
