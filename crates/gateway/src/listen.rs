//! Listeners: a TCP address and a Unix socket, with the same addresses behind both.
//!
//! Each request carries the [`Connection`] that it came over, as the kernel has it. Connections are bounded in number and
//! in the time that a head may take.

use std::{
    convert::Infallible,
    future::Future,
    io,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};
use tower::ServiceExt;

use crate::identify::Connection;

/// Connections at once, over each listener.
const MOST: usize = 4_096;
/// How long the head of a request may take.
const HEAD: Duration = Duration::from_secs(10);
/// How long is waited after an error of `accept` that is not of one connection (accept(2): `EMFILE`, `ENOMEM`).
const PAUSE: Duration = Duration::from_millis(100);

/// A Unix socket of ours, which is removed when this is dropped.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

/// A Unix socket that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Somebody answers there.
    #[error("somebody answers at `{}` already", .0.display())]
    Taken(PathBuf),
    /// Something else lies there.
    #[error("`{}` is no socket", .0.display())]
    NoSocket(PathBuf),
    /// The kernel refuses.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SocketError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Taken(_) => "end the other service, or name another place: `--socket PATH`",
            Self::NoSocket(_) => "remove it, or name another place: `--socket PATH`",
            Self::Io { .. } => "name a place in a folder that you may write: `--socket PATH`",
        }
    }
}

impl Socket {
    /// Listens there. What is left of a service that was killed is replaced. With `for_all`, every user of the machine may
    /// connect: who that is, and what they may do, is asked of the kernel and of the configuration.
    ///
    /// # Errors
    ///
    /// [`SocketError`]. Within a runtime.
    pub fn bind(path: &Path, for_all: bool) -> Result<Self, SocketError> {
        let failed = |source| SocketError::Io { path: path.to_owned(), source };
        match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.file_type().is_socket() => {
                if std::os::unix::net::UnixStream::connect(path).is_ok() {
                    return Err(SocketError::Taken(path.to_owned()));
                }
                std::fs::remove_file(path).map_err(failed)?;
            }
            Ok(_) => return Err(SocketError::NoSocket(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let mode = if for_all { 0o666 } else { 0o600 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Serves whoever connects until `stopping` says so, then lets requests under way end, however long they take. Dropping
    /// the future ends them.
    pub async fn serve(self, router: Router, stopping: watch::Receiver<bool>) {
        serve(&self.listener, router, stopping).await;
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // One that is gone already needs no removing.
        std::fs::remove_file(&self.path).ok();
    }
}

/// Serves whoever connects to a TCP listener until `stopping` says so, then lets requests under way end, however long they
/// take. Dropping the future ends them.
pub async fn tcp(listener: TcpListener, router: Router, stopping: watch::Receiver<bool>) {
    serve(&listener, router, stopping).await;
}

/// Takes connections.
trait Doorway {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn take(&self) -> impl Future<Output = io::Result<(Self::Stream, Connection)>> + Send;
}

impl Doorway for TcpListener {
    type Stream = TcpStream;

    async fn take(&self) -> io::Result<(TcpStream, Connection)> {
        let (stream, address) = self.accept().await?;
        // Answers are small, and are waited for.
        stream.set_nodelay(true)?;
        Ok((stream, Connection::Tcp(address)))
    }
}

impl Doorway for UnixListener {
    type Stream = UnixStream;

    async fn take(&self) -> io::Result<(UnixStream, Connection)> {
        let (stream, _) = self.accept().await?;
        let uid = stream.peer_cred()?.uid();
        Ok((stream, Connection::Unix { uid }))
    }
}

async fn serve(doorway: &impl Doorway, router: Router, mut stopping: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(MOST));
    let mut connections = JoinSet::new();
    loop {
        let Some((stream, connection, permit)) =
            until(&mut stopping, next(doorway, &room, &mut connections)).await
        else {
            break;
        };
        let (router, stopping) = (router.clone(), stopping.clone());
        connections.spawn(async move {
            attend(stream, connection, router, stopping).await;
            drop(permit);
        });
    }
    while connections.join_next().await.is_some() {}
}

async fn next<D: Doorway>(
    doorway: &D,
    room: &Arc<Semaphore>,
    connections: &mut JoinSet<()>,
) -> (D::Stream, Connection, OwnedSemaphorePermit) {
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(room).acquire_owned().await else { return std::future::pending().await };
        match doorway.take().await {
            Ok((stream, connection)) => return (stream, connection, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn attend<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    connection: Connection,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(connection);
        let router = router.clone();
        async move {
            match router.oneshot(request).await {
                Ok(response) => Ok::<_, Infallible>(response),
                Err(never) => match never {},
            }
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = std::pin::pin!(serving);
    // A client that goes away is no error of ours.
    if until(&mut stopping, serving.as_mut()).await.is_none() {
        serving.as_mut().graceful_shutdown();
        serving.await.ok();
    }
}

/// What comes of a future; none where the service stops before.
async fn until<T>(stopping: &mut watch::Receiver<bool>, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        out = future => Some(out),
        // Whoever would say so is gone: the same.
        _ = stopping.wait_for(|stopping| *stopping) => None,
    }
}
