//! A stand-in for a host within this process: it sends back what it was sent, and says whether a value was in it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use zeroize::Zeroizing;

use crate::credential::search::Needles;

/// Bytes between the two ends at once, and the most that are read.
const ROOM: usize = 64 * 1024;

/// RFC 6455 §5.2: the bit beside the length of a frame with a mask, and the length that stands for two bytes of it. A key
/// is never so long that eight are needed.
const MASKED: u8 = 0x80;
const LONGER: u8 = 126;

/// One stand-in.
#[derive(Debug)]
pub(crate) struct Sink {
    needles: Arc<Needles>,
    saw: AtomicBool,
}

impl Sink {
    /// A stand-in that looks for what `needles` find.
    pub(crate) fn new(needles: Arc<Needles>) -> Arc<Self> {
        Arc::new(Self { needles, saw: AtomicBool::new(false) })
    }

    /// Whether it was sent a value.
    pub(crate) fn saw(&self) -> bool {
        self.saw.load(Ordering::Acquire)
    }

    /// A connection to it. It answers one request.
    pub(crate) fn serve(self: &Arc<Self>) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(ROOM);
        let sink = Arc::clone(self);
        tokio::spawn(async move {
            // Whoever leaves early has seen enough.
            let _left = sink.answer(theirs).await.is_err();
        });
        ours
    }

    async fn answer(&self, mut stream: DuplexStream) -> std::io::Result<()> {
        let mut request = Zeroizing::new(Vec::with_capacity(ROOM));
        let mut length = None;
        while length.is_none_or(|length| request.len() < length) && request.len() < ROOM {
            if stream.read_buf(&mut *request).await? == 0 {
                return Ok(());
            }
            length = length.or_else(|| whole(&request));
        }
        if memchr::memmem::find(&request, b"websocket").is_some() {
            return self.talk(stream, &request, length.unwrap_or_default()).await;
        }
        self.saw.store(self.needles.edited(&request).is_some(), Ordering::Release);
        let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n", request.len());
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&request).await?;
        stream.write_all(b"\r\n0\r\n\r\n").await?;
        stream.shutdown().await
    }
}

impl Sink {
    /// Becomes a WebSocket, and sends the payload of one frame back.
    async fn talk(&self, mut stream: DuplexStream, request: &[u8], head: usize) -> std::io::Result<()> {
        let say = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
        stream.write_all(say).await?;
        let early = Zeroizing::new(request.get(head..).unwrap_or_default().to_vec());
        let mut from = early.chain(&mut stream);
        let (kind, length) = (from.read_u8().await?, from.read_u8().await? & !MASKED);
        let length = if length == LONGER { from.read_u16().await? } else { u16::from(length) };
        let mut mask = [0; 4];
        from.read_exact(&mut mask).await?;
        let mut payload = Zeroizing::new(vec![0; usize::from(length)]);
        from.read_exact(&mut payload).await?;
        payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        self.saw.store(self.needles.edited(&payload).is_some(), Ordering::Release);
        stream.write_all(&frame(kind, &payload, None)).await?;
        stream.shutdown().await
    }
}

/// A frame (RFC 6455 §5.2) with this first byte.
pub(crate) fn frame(kind: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Zeroizing<Vec<u8>> {
    let masked = if mask.is_some() { MASKED } else { 0 };
    let mut frame = Zeroizing::new(vec![kind]);
    if let Ok(length @ ..LONGER) = u8::try_from(payload.len()) {
        frame.push(masked | length);
    } else {
        frame.push(masked | LONGER);
        frame.extend_from_slice(&u16::try_from(payload.len()).unwrap_or(u16::MAX).to_be_bytes());
    }
    let mask = mask.inspect(|mask| frame.extend_from_slice(mask)).unwrap_or_default();
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// The length of the request that begins `bytes`, once its head is all there.
fn whole(bytes: &[u8]) -> Option<usize> {
    let head = memchr::memmem::find(bytes, b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(bytes.get(..head)?).to_ascii_lowercase();
    let body =
        text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    Some(head + body.unwrap_or(0))
}

/// Connections that are to lead to a stand-in, by the address they come from.
#[derive(Debug, Default)]
pub(crate) struct Sinks {
    count: AtomicUsize,
    waiting: Mutex<HashMap<SocketAddr, Arc<Sink>>>,
}

impl Sinks {
    /// The next connection from `address`, a bound socket of ours, leads to `sink`.
    pub(crate) fn expect(&self, address: SocketAddr, sink: Arc<Sink>) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(address, sink);
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    /// Where a connection from the cell leads, if not to its host.
    pub(crate) fn take(&self, stream: &TcpStream) -> Option<Arc<Sink>> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.forget(stream.peer_addr().ok()?)
    }

    /// Nobody comes from `address` any more.
    pub(crate) fn forget(&self, address: SocketAddr) -> Option<Arc<Sink>> {
        let sink = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&address)?;
        self.count.fetch_sub(1, Ordering::AcqRel);
        Some(sink)
    }
}
