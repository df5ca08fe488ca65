//! A conversation that has become a WebSocket's: values are written into what the cell says and taken out of what the host
//! says, where there are keys; else bytes pass unread.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

use crate::credential::request::Messages;
use crate::credential::response::Scrub;
use crate::credential::websocket::{FromHost, ToHost, WebSocketError};
use crate::meter::Way;
use crate::passage::Passage;
use crate::wire::Wire;

/// Bytes read at once.
const PIECE: usize = 16 * 1024;

/// What there is to do between the two ends.
#[derive(Debug)]
pub(crate) struct Talk {
    passage: Arc<Passage>,
    to_host: ToHost,
    from_host: FromHost,
    messages: Option<Messages>,
    /// Whether nothing is replaced, in either direction.
    pub(crate) unread: bool,
    said: Vec<u8>,
    heard: Vec<u8>,
}

impl Talk {
    pub(crate) fn new(passage: &Arc<Passage>, scrub: &Scrub, messages: Option<Messages>) -> Self {
        Self {
            passage: Arc::clone(passage),
            to_host: ToHost::new(messages.as_ref()),
            from_host: FromHost::new(scrub),
            unread: messages.is_none() && scrub.is_empty(),
            messages,
            said: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// Bytes of the cell that came with the request.
    pub(super) fn said_early(&mut self, bytes: &[u8]) {
        self.said = bytes.to_vec();
    }

    /// Bytes of the host that came with its answer.
    pub(super) fn heard_early(&mut self, bytes: &[u8]) {
        self.heard = bytes.to_vec();
    }

    /// Both, for a tunnel.
    pub(crate) fn early(&mut self) -> (Vec<u8>, Vec<u8>) {
        (std::mem::take(&mut self.said), std::mem::take(&mut self.heard))
    }

    /// Carries messages until both ends have said all, or one failed.
    ///
    /// # Errors
    /// If an end fails, or its frames cannot be read.
    pub(crate) async fn run(self, inner: Wire, outer: Wire) -> io::Result<()> {
        let Self { passage, mut to_host, mut from_host, messages, said, heard, .. } = self;
        let (inner_read, inner_write) = tokio::io::split(inner);
        let (outer_read, outer_write) = tokio::io::split(outer);
        let names = messages.map(|messages| messages.names).unwrap_or_default();
        let up = carry(inner_read, outer_write, said, |bytes, out| {
            match bytes {
                Some(bytes) => {
                    passage.count(Way::Up, bytes.len());
                    to_host.push(bytes, out)?;
                }
                None => to_host.finish(out),
            }
            for at in to_host.take_written() {
                if let Some(name) = names.get(at) {
                    passage.used_too(name);
                }
            }
            Ok(())
        });
        let down = carry(outer_read, inner_write, heard, |bytes, out| {
            match bytes {
                Some(bytes) => {
                    passage.count(Way::Down, bytes.len());
                    from_host.push(bytes, out)?;
                }
                None => from_host.finish(out),
            }
            Ok(())
        });
        tokio::try_join!(up, down).map(|((), ())| ())
    }
}

async fn carry(
    mut from: ReadHalf<Wire>,
    mut to: WriteHalf<Wire>,
    early: Vec<u8>,
    mut edit: impl FnMut(Option<&[u8]>, &mut Vec<u8>) -> Result<(), WebSocketError>,
) -> io::Result<()> {
    let mut space = early;
    let mut count = space.len();
    let mut out = Vec::new();
    loop {
        if count > 0 {
            edit(space.get(..count), &mut out).map_err(io::Error::other)?;
            to.write_all(&out).await?;
            to.flush().await?;
            out.clear();
        }
        space.resize(PIECE, 0);
        count = from.read(&mut space).await?;
        if count == 0 {
            edit(None, &mut out).map_err(io::Error::other)?;
            to.write_all(&out).await?;
            return to.shutdown().await;
        }
    }
}
