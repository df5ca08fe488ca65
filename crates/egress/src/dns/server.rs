//! The sockets on which questions arrive.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::dns::{Answerer, Names};

/// Longest message over UDP that is read or announced, in bytes: what fits into any path without fragments.
pub const LONGEST_UDP: u16 = 1232;
/// Longest message over TCP that is read, in bytes; a question is never longer.
const LONGEST_TCP: u16 = 4096;
/// Pause after a socket said that it cannot go on (no descriptors left).
const PAUSE: Duration = Duration::from_millis(50);

/// Answers on sockets until it is dropped.
#[derive(Debug)]
pub struct DnsServer {
    tasks: JoinSet<()>,
}

impl DnsServer {
    /// Answers on bound sockets. Call it inside a Tokio runtime.
    pub fn start<N: Names>(
        answerer: Answerer<N>,
        udp: impl IntoIterator<Item = UdpSocket>,
        tcp: impl IntoIterator<Item = TcpListener>,
    ) -> Self {
        let answerer = Arc::new(answerer);
        let mut tasks = JoinSet::new();
        let questions = Arc::new(Semaphore::new(answerer.settings().questions));
        let connections = Arc::new(Semaphore::new(answerer.settings().connections));
        for socket in udp {
            tasks.spawn(datagrams(Arc::clone(&answerer), socket, Arc::clone(&questions)));
        }
        for listener in tcp {
            tasks.spawn(streams(Arc::clone(&answerer), listener, Arc::clone(&connections)));
        }
        Self { tasks }
    }

    /// Ends when its sockets are closed.
    pub async fn end(mut self) {
        self.tasks.shutdown().await;
    }
}

async fn datagrams<N: Names>(answerer: Arc<Answerer<N>>, socket: UdpSocket, places: Arc<Semaphore>) {
    let socket = Arc::new(socket);
    let mut running = JoinSet::new();
    let mut buffer = vec![0; usize::from(LONGEST_UDP)];
    loop {
        while running.try_join_next().is_some() {}
        // An answer to somebody who is gone comes back as an error of the next call.
        let Ok((length, sender)) = socket.recv_from(&mut buffer).await else {
            sleep(PAUSE).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let question: Vec<u8> = buffer.iter().take(length).copied().collect();
        let (answerer, socket) = (Arc::clone(&answerer), Arc::clone(&socket));
        running.spawn(async move {
            if let Some(answer) = answerer.answer(&question).await {
                // Who asked may be gone; nobody else misses the answer.
                let _lost = socket.send_to(&answer, sender).await.is_err();
            }
            drop(place);
        });
    }
}

async fn streams<N: Names>(answerer: Arc<Answerer<N>>, listener: TcpListener, places: Arc<Semaphore>) {
    let mut running = JoinSet::new();
    loop {
        while running.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let answerer = Arc::clone(&answerer);
        running.spawn(async move {
            // Whatever went wrong, the connection ends here.
            let _ended = conversation(&answerer, stream).await.is_err();
            drop(place);
        });
    }
}

/// Questions one after the other, each behind its length (RFC 7766 §8).
async fn conversation<N: Names>(answerer: &Answerer<N>, mut stream: TcpStream) -> io::Result<()> {
    let idle = answerer.settings().idle;
    loop {
        let question = timeout(idle, question(&mut stream)).await??;
        let Some(answer) = answerer.answer(&question).await else {
            return Ok(());
        };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        let mut framed = length.to_be_bytes().to_vec();
        framed.extend_from_slice(&answer);
        timeout(idle, stream.write_all(&framed)).await??;
    }
}

async fn question(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let length = stream.read_u16().await?;
    if length > LONGEST_TCP {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut question = vec![0; usize::from(length)];
    stream.read_exact(&mut question).await?;
    Ok(question)
}
