//! The main process's stdio, over a connection that was attached to it: frames in, frames out, each by a task of its own,
//! so that whoever waits for several things loses none.

use std::io;

use cell_api::{
    client::Attached,
    frame::{self, Channel, HEADER, MAX_PAYLOAD},
    info::End,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
    sync::mpsc::{self, Receiver, Sender},
};

/// Pieces that may wait for being heard.
const WAITING: usize = 64;
/// How much is written at once, in bytes.
const PIECE: usize = 64 << 10;

/// What comes from a process.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Bytes of its stdout; none at its end.
    Stdout(Vec<u8>),
    /// Bytes of its stderr.
    Stderr(Vec<u8>),
    /// It runs, and cannot be spoken to any more: why.
    Broken(String),
    /// It has ended.
    Ended(End),
    /// The supervisor went away without saying how it ended.
    Lost,
}

/// What goes to a process.
#[derive(Debug)]
pub(crate) enum Said {
    /// Bytes of its stdin.
    Bytes(Vec<u8>),
    /// The end of its stdin.
    End,
}

/// Both ends.
#[derive(Debug)]
pub(crate) struct Attachment {
    /// What comes; the last is how it ended.
    pub(crate) heard: Receiver<Heard>,
    /// What goes.
    pub(crate) say: Sender<Said>,
}

impl Attachment {
    /// Takes over a connection. Within a runtime.
    pub(crate) fn begin(attached: Attached) -> Self {
        let (tell, heard) = mpsc::channel(WAITING);
        let (say, said) = mpsc::channel(WAITING);
        let (from, to) = attached.stream.into_split();
        tokio::spawn(async move {
            let last = hear(attached.early.to_vec(), from, &tell).await.unwrap_or(Heard::Lost);
            // Whoever listened may have left.
            tell.send(last).await.ok();
        });
        // An error means that the process is gone, which the other task tells.
        tokio::spawn(async move { speak(said, to).await.ok() });
        Self { heard, say }
    }
}

async fn hear(early: Vec<u8>, from: OwnedReadHalf, tell: &Sender<Heard>) -> io::Result<Heard> {
    let mut from = io::Cursor::new(early).chain(from);
    loop {
        let mut header = [0; HEADER];
        from.read_exact(&mut header).await?;
        let (channel, len) = frame::parse(header).map_err(io::Error::other)?;
        let mut payload = vec![0; len];
        from.read_exact(&mut payload).await?;
        let heard = match channel {
            Channel::Stdin => return Ok(Heard::Lost),
            Channel::Exit => {
                return Ok(serde_json::from_slice(&payload).map_or(Heard::Lost, Heard::Ended));
            }
            Channel::Stdout => Heard::Stdout(payload),
            Channel::Stderr => Heard::Stderr(payload),
        };
        if tell.send(heard).await.is_err() {
            return Ok(Heard::Lost);
        }
    }
}

async fn speak(mut said: Receiver<Said>, mut to: OwnedWriteHalf) -> io::Result<()> {
    while let Some(said) = said.recv().await {
        let bytes = match said {
            Said::Bytes(bytes) => bytes,
            Said::End => {
                to.write_all(&frame::header(Channel::Stdin, 0).map_err(io::Error::other)?).await?;
                continue;
            }
        };
        for chunk in bytes.chunks(MAX_PAYLOAD) {
            let header = frame::header(Channel::Stdin, chunk.len()).map_err(io::Error::other)?;
            if chunk.len() <= PIECE {
                to.write_all(&[&header, chunk].concat()).await?;
            } else {
                to.write_all(&header).await?;
                to.write_all(chunk).await?;
            }
        }
    }
    Ok(())
}
