//! Orders to a cell's PID 1, and its answers.

use std::{
    collections::{BTreeMap, VecDeque},
    fs::File,
    io::{IoSlice, IoSliceMut, Write},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jail::{
    message::{Failure, MAX_SOCKETS, Order, Report, SocketKind},
    spec,
};
use model::exit::Exit;
use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg, shutdown,
    },
    pipe::{PipeFlags, pipe_with},
};
use tokio::{io::unix::AsyncFd, sync::oneshot};

use super::{Ended, Running, sys};

/// A handle for orders to PID 1. Clones speak to the same cell; dropping the last one ends it.
#[derive(Debug, Clone)]
pub struct Control(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    socket: AsyncFd<OwnedFd>,
    waiting: Mutex<Waiting>,
}

/// Who waits for which answer.
#[derive(Debug, Default)]
struct Waiting {
    last_id: u32,
    started: BTreeMap<u32, oneshot::Sender<Result<i32, Failure>>>,
    exited: BTreeMap<u32, oneshot::Sender<Exit>>,
    frozen: Vec<oneshot::Sender<()>>,
    sockets: VecDeque<oneshot::Sender<Result<Vec<OwnedFd>, Failure>>>,
    memory: Option<u64>,
    closed_by_us: bool,
}

/// An order that was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// The jail could not do it.
    #[error(transparent)]
    Failed(Failure),
    /// The cell has ended.
    #[error("the cell has ended")]
    Gone,
    /// A system call of ours failed.
    #[error("{step} failed")]
    Io {
        /// What was tried.
        step: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

impl Control {
    /// Starts a process with three new pipes.
    pub async fn start(&self, process: &spec::Process) -> Result<Running, OrderError> {
        let io = |step| move |error: Errno| OrderError::Io { step, source: error.into() };
        let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(io("making a pipe"));
        let ((stdin_there, stdin), (stdout, stdout_there), (stderr, stderr_there)) =
            (pipe()?, pipe()?, pipe()?);
        for ours in [&stdin, &stdout, &stderr] {
            rustix::io::ioctl_fionbio(ours, true).map_err(io("making a pipe non-blocking"))?;
        }
        let told = tell(process)?;
        let (started, hears) = oneshot::channel();
        let (exited, exit) = oneshot::channel();
        let id = {
            let mut waiting = self.waiting();
            waiting.last_id = waiting.last_id.saturating_add(1);
            let id = waiting.last_id;
            waiting.started.insert(id, started);
            waiting.exited.insert(id, exited);
            id
        };
        let fds = [stdin_there.as_fd(), stdout_there.as_fd(), stderr_there.as_fd(), told.as_fd()];
        self.send(&Order::Start { id }, &fds).await?;
        match hears.await {
            Ok(Ok(pid)) => Ok(Running { id, pid, stdin, stdout, stderr, exit }),
            Ok(Err(failure)) => Err(OrderError::Failed(failure)),
            Err(_) => Err(OrderError::Gone),
        }
    }

    /// Signals a started process's group, or everything inside. A process that has ended is no error.
    pub async fn signal(&self, id: Option<u32>, signal: i32) -> Result<(), OrderError> {
        self.send(&Order::Signal { id, signal }, &[]).await
    }

    /// Makes unbound, non-blocking sockets in the cell's network namespace, in the order asked for.
    pub async fn sockets(&self, kinds: Vec<SocketKind>) -> Result<Vec<OwnedFd>, OrderError> {
        let mut made = Vec::with_capacity(kinds.len());
        for some in kinds.chunks(MAX_SOCKETS) {
            let (sockets, hears) = oneshot::channel();
            self.waiting().sockets.push_back(sockets);
            self.send(&Order::Sockets { kinds: some.to_vec() }, &[]).await?;
            made.extend(hears.await.map_err(|_| OrderError::Gone)?.map_err(OrderError::Failed)?);
        }
        Ok(made)
    }

    /// Stops everything by `SIGSTOP` through PID 1: for hosts without a v2 hierarchy. Returns once nothing runs.
    pub async fn freeze(&self) -> Result<(), OrderError> {
        self.confirmed(&Order::Freeze).await
    }

    /// Undoes [`Control::freeze`].
    pub async fn thaw(&self) -> Result<(), OrderError> {
        self.confirmed(&Order::Thaw).await
    }

    /// Ends the cell at once: PID 1 sees the end of the socket, and the kernel ends everything inside.
    pub fn close(&self) {
        self.waiting().closed_by_us = true;
        // An error means that the other end is gone already.
        shutdown(self.0.socket.get_ref(), rustix::net::Shutdown::Both).ok();
    }

    /// Tells the launcher that the spec is written.
    pub(super) async fn order_build(&self) -> Result<(), OrderError> {
        self.send(&Order::Build, &[]).await
    }

    pub(super) fn new(socket: OwnedFd) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self(Arc::new(Shared { socket: sys::watched(socket)?, waiting: Mutex::default() })))
    }

    /// The next report; `None` when PID 1 is gone.
    pub(super) async fn receive(&self) -> Option<(Report, Vec<OwnedFd>)> {
        loop {
            let mut ready = self.0.socket.readable().await.ok()?;
            match ready.try_io(|socket| receive(socket.as_fd())) {
                Ok(Ok(Some(report))) => return Some(report),
                Ok(Ok(None) | Err(_)) => return None,
                Err(_would_block) => {}
            }
        }
    }

    /// Hands reports to whoever waits for them until PID 1 is gone; tells why it is.
    pub(super) async fn listen(self) -> Ended {
        while let Some((report, fds)) = self.receive().await {
            self.waiting().hand_out(report, fds);
        }
        let mut waiting = self.waiting();
        waiting.started.clear();
        waiting.exited.clear();
        waiting.frozen.clear();
        waiting.sockets.clear();
        match (waiting.memory, waiting.closed_by_us) {
            (Some(bytes), _) => Ended::MemoryCeiling { bytes },
            (None, true) => Ended::Closed,
            (None, false) => Ended::Lost,
        }
    }

    async fn confirmed(&self, order: &Order) -> Result<(), OrderError> {
        let (frozen, hears) = oneshot::channel();
        self.waiting().frozen.push(frozen);
        self.send(order, &[]).await?;
        hears.await.map_err(|_| OrderError::Gone)
    }

    async fn send(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> Result<(), OrderError> {
        let text = serde_json::to_vec(order)
            .map_err(|error| OrderError::Io { step: "writing an order", source: error.into() })?;
        loop {
            let ready = self.0.socket.writable().await;
            let mut ready = ready.map_err(|source| OrderError::Io { step: "sending an order", source })?;
            match ready.try_io(|socket| send(socket.as_fd(), &text, fds).map_err(Into::into)) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(_)) => return Err(OrderError::Gone),
                Err(_would_block) => {}
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn hand_out(&mut self, report: Report, fds: Vec<OwnedFd>) {
        // A receiver that is gone no longer wants the answer.
        match report {
            Report::Started { id, pid } => {
                if let Some(started) = self.started.remove(&id) {
                    started.send(Ok(pid)).ok();
                }
            }
            Report::Failed(failure) => {
                let Some(id) = failure.id else {
                    // Of the orders without a process, only the one for sockets can fail.
                    if let Some(sockets) = self.sockets.pop_front() {
                        sockets.send(Err(failure)).ok();
                    }
                    return;
                };
                self.exited.remove(&id);
                if let Some(started) = self.started.remove(&id) {
                    started.send(Err(failure)).ok();
                }
            }
            Report::Exited { id, code, signal } => {
                let exit = signal.map_or(Exit::Code(code.unwrap_or(0)), Exit::Signal);
                if let Some(exited) = self.exited.remove(&id) {
                    exited.send(exit).ok();
                }
            }
            Report::Frozen { .. } => {
                if !self.frozen.is_empty() {
                    self.frozen.remove(0).send(()).ok();
                }
            }
            Report::Sockets => {
                if let Some(sockets) = self.sockets.pop_front() {
                    sockets.send(Ok(fds)).ok();
                }
            }
            Report::MemoryCeiling { bytes } => self.memory = Some(bytes),
            // Only before a cell is built; the launcher reads them itself.
            Report::Made { .. } | Report::Ready { .. } => {}
        }
    }
}

/// A value as JSON in a memfd, for what may be longer than a datagram.
fn memfd<T: serde::Serialize>(name: &str, value: &T) -> std::io::Result<OwnedFd> {
    memfd_of(name, &serde_json::to_vec(value)?)
}

/// Bytes in a memfd, to be read from their beginning.
pub(super) fn memfd_of(name: &str, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    std::io::Seek::rewind(&mut file)?;
    Ok(file.into())
}

fn tell(process: &spec::Process) -> Result<OwnedFd, OrderError> {
    memfd("process", process).map_err(|source| OrderError::Io { step: "writing what to start", source })
}

fn send(socket: BorrowedFd<'_>, text: &[u8], fds: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(fds));
    }
    sendmsg(socket, &[IoSlice::new(text)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

fn receive(socket: BorrowedFd<'_>) -> std::io::Result<Option<(Report, Vec<OwnedFd>)>> {
    let mut text = vec![0_u8; jail::MAX_DATAGRAM];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut text)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    match text.get(..got.bytes) {
        Some([]) | None => Ok(None),
        Some(text) => Ok(Some((serde_json::from_slice(text)?, fds))),
    }
}
