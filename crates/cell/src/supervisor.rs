//! The supervisor's life: from the connection it was started with to the last one that leaves.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{fs::PermissionsExt, net::UnixStream as StdUnixStream},
    },
    rc::Rc,
    time::Duration,
};

use cell_api::{SOCKET, info::CellState, spec::Lease};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use model::exit::Cause;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use sandbox::process::Launcher;
use tokio::{
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    task::LocalSet,
};

use crate::{
    api,
    cell::{Cell, Wish},
    connections::Connections,
    ending,
    folders::Folders,
    sys,
};

/// How long a cell that has ended still answers, in case somebody is late to ask why.
const LINGER: Duration = Duration::from_secs(5);

/// What a supervisor is started with.
#[derive(Debug)]
pub struct Supervision {
    /// Where things are.
    pub folders: Folders,
    /// How a jail is started.
    pub launcher: Launcher,
    /// The connection to the broker, where the cell uses secrets.
    pub broker: Option<OwnedFd>,
}

/// A supervisor that could not do its work.
#[derive(Debug, thiserror::Error)]
#[error("{step} failed: {source}")]
pub struct SuperviseError {
    step: &'static str,
    #[source]
    source: io::Error,
}

fn failed(step: &'static str) -> impl FnOnce(io::Error) -> SuperviseError {
    move |source| SuperviseError { step, source }
}

/// Supervises one cell: serves its API over `owner`, an accepted connection, and over the socket in the cell's folder,
/// until the cell has ended. Nothing of the cell is left when this returns.
pub fn serve(supervision: Supervision, owner: OwnedFd) -> Result<(), SuperviseError> {
    // The tool's uid may be ours: it must not read this memory, and nobody's core handler should get it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| failed("closing this process to others")(error.into()))?;
    // For whoever looks at a list of processes; the name of the link it was started by says nothing.
    rustix::thread::set_name(c"fumehood-cell").ok();
    raise_open_files();
    // A session of its own, so that a terminal's Ctrl-C reaches whoever runs the cell and not its supervisor.
    // Fails only for the leader of a group, which then has a group of its own already.
    if !sandbox::guard::off("session") {
        rustix::process::setsid().ok();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(failed("starting the runtime"))?;
    LocalSet::new().block_on(&runtime, supervise(supervision, owner))
}

/// Every connection out of the cell takes two descriptors and more; the usual soft limit of 1024 is for programs that use
/// select(2). What the tool may open is set by its own ceiling.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let Some(hard) = most_open_files() else { return };
    let hard = Some(hard);
    // Where it cannot be raised the present limit goes on to hold, and connections beyond it are refused.
    setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard }).ok();
}

/// The hard limit, from proc(5): asking for it by prlimit(2) must not fail, which a filter around this program can make it.
fn most_open_files() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

async fn supervise(supervision: Supervision, owner: OwnedFd) -> Result<(), SuperviseError> {
    let owner = StdUnixStream::from(owner);
    owner.set_nonblocking(true).map_err(failed("preparing the owner's connection"))?;
    let watched = owner.try_clone().map_err(failed("watching the owner's connection"))?;
    let cell = Cell::new(supervision).map_err(failed("making the cell's folder"))?;
    let listener = listen(&cell).map_err(failed("making the API's socket"))?;
    let connections = Rc::new(Connections::default());
    speak(
        &cell,
        &connections,
        UnixStream::from_std(owner).map_err(failed("serving the owner's connection"))?,
    );
    let accepting = tokio::task::spawn_local(accept(Rc::clone(&cell), Rc::clone(&connections), listener));

    let mut terminate = signal(SignalKind::terminate()).map_err(failed("listening for signals"))?;
    tokio::select! {
        () = closed(watched.into()) => {
            if matches!(lease(&cell), Lease::Grace { .. }) {
                tokio::select! {
                    () = expired(&cell, &connections) => {}
                    _ = terminate.recv() => {}
                    _ = cell.end() => {}
                }
            }
            give_up(&cell, Cause::OwnerGone);
        }
        _ = terminate.recv() => give_up(&cell, Cause::Asked),
        _ = cell.end() => {}
    }
    cell.end().await;
    linger(&cell, &connections).await;
    accepting.abort();
    leave(&cell).map_err(failed("removing the cell's folder"))
}

/// Binds below the folder's fd: `sun_path` holds 108 bytes (unix(7)), and a state folder may lie deeper.
fn listen(cell: &Cell) -> io::Result<UnixListener> {
    let folder = File::open(cell.supervision.folders.cell(&cell.id))?;
    folder.set_permissions(std::fs::Permissions::from_mode(0o700))?;
    let path = format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd());
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn accept(cell: Rc<Cell>, connections: Rc<Connections>, listener: UnixListener) {
    let me = rustix::process::geteuid().as_raw();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // The folder is closed to others already; whoever got in all the same is not answered.
                if stream.peer_cred().is_ok_and(|peer| peer.uid() == me || peer.uid() == 0) {
                    speak(&cell, &connections, stream);
                }
            }
            // Out of descriptors: others have to be closed first.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

fn speak(cell: &Rc<Cell>, connections: &Rc<Connections>, stream: UnixStream) {
    let here = connections.enter();
    let cell = Rc::clone(cell);
    let connections = Rc::clone(connections);
    tokio::task::spawn_local(async move {
        let service = service_fn(|request| {
            let answer = api::answer(Rc::clone(&cell), Rc::clone(&connections), request);
            async move { Ok::<_, std::convert::Infallible>(answer.await) }
        });
        let connection =
            http1::Builder::new().max_buf_size(64 << 10).serve_connection(TokioIo::new(stream), service);
        // A peer that breaks off or breaks the rules ends its own connection.
        connection.with_upgrades().await.ok();
        drop(here);
    });
}

/// Waits until the other end is closed, even while nobody reads from the connection.
async fn closed(connection: OwnedFd) {
    let Ok(connection) = sys::watch(connection) else { return };
    loop {
        match connection.readable().await {
            Ok(mut ready) if !ready.ready().is_read_closed() => ready.clear_ready(),
            _ => return,
        }
    }
}

fn lease(cell: &Cell) -> Lease {
    cell.state.borrow().described.as_ref().map_or(Lease::Connection, |described| described.spec.lease)
}

async fn expired(cell: &Cell, connections: &Connections) {
    if let Lease::Grace { ms } = lease(cell) {
        connections.nobody_for(Duration::from_millis(ms)).await;
    }
}

fn give_up(cell: &Cell, cause: Cause) {
    match cell.phase() {
        None | Some(CellState::Created) => ending::finish(cell, (cause, None)),
        Some(CellState::Starting | CellState::Running | CellState::Frozen) => cell.wish(Wish::AtOnce(cause)),
        Some(CellState::Ended) => {}
    }
}

/// Goes on answering while somebody is connected; after a while only while somebody still takes output.
async fn linger(cell: &Cell, connections: &Connections) {
    tokio::select! {
        () = connections.nobody() => {}
        () = async {
            tokio::time::sleep(LINGER).await;
            while cell.is_attached() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        } => {}
    }
}

/// Removes the cell's folder, unless it names groups that could not be removed: the next start reads it there.
fn leave(cell: &Cell) -> io::Result<()> {
    let folder = cell.supervision.folders.cell(&cell.id);
    if cell.has_leftovers() {
        return std::fs::remove_file(folder.join(SOCKET));
    }
    std::fs::remove_dir_all(folder)
}
