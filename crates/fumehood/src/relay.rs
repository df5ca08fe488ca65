//! Between our own stdio and a cell's: one thread for each direction, so that neither waits for the other.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use cell_api::{
    frame::{self, Channel, HEADER, MAX_PAYLOAD},
    info::End,
};
use model::stdio::{Frame, Framer, Stray};
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver, UnboundedSender};

use crate::relay::stdio::{Stderr, Stdin, Stdout};

pub(crate) mod stdio;

/// What passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Every byte.
    Raw,
    /// JSON-RPC, one message a line.
    JsonRpc,
}

/// What the main thread is told.
#[derive(Debug)]
pub(crate) enum Told {
    /// Our stdin has ended, and the cell was told.
    StdinEnded,
    /// Nobody reads our stdout any more.
    ReaderGone,
    /// The process has ended, and all it said was written.
    Ended(End),
    /// The supervisor went away without saying how the process ended.
    Lost,
}

/// The two ends of what the threads say.
#[derive(Debug)]
pub(crate) struct Relay {
    /// Turns of the story.
    pub(crate) told: UnboundedReceiver<Told>,
    /// Lines of the cell's stdout that are not the protocol. The cell waits while nobody takes them.
    pub(crate) strays: Receiver<String>,
}

/// How many stray lines may wait for being logged.
const STRAYS: usize = 64;
/// How much is read at once, in bytes.
const PIECE: usize = 64 << 10;

/// Starts both threads over an attached, blocking connection.
pub(crate) fn start(stream: UnixStream, early: Vec<u8>, dialect: Dialect) -> io::Result<Relay> {
    let (tell, told) = mpsc::unbounded_channel();
    let (stray, strays) = mpsc::channel(STRAYS);
    let stdout = Arc::new(Mutex::new(Stdout));
    let towards = stream.try_clone()?;
    let answers = Arc::clone(&stdout);
    let ended = tell.clone();
    thread::Builder::new().name("stdin".into()).spawn(move || {
        // An error means that the cell is gone, which the other thread tells.
        if inwards(Stdin, &towards, &answers, dialect).is_ok() {
            ended.send(Told::StdinEnded).ok();
        }
    })?;
    thread::Builder::new().name("stdout".into()).spawn(move || {
        let from = io::Cursor::new(early).chain(stream);
        outwards(from, &stdout, &tell, &stray, dialect);
    })?;
    Ok(Relay { told, strays })
}

/// Our stdin → the cell. Returns when our stdin has ended and the cell was told.
fn inwards(
    mut from: impl Read,
    mut to: &UnixStream,
    answers: &Mutex<impl Write>,
    dialect: Dialect,
) -> io::Result<()> {
    let mut framer = Framer::default();
    let mut piece = vec![0; PIECE];
    loop {
        let read = from.read(&mut piece)?;
        let bytes = piece.get(..read).unwrap_or_default();
        match dialect {
            Dialect::Raw => send(&mut to, bytes)?,
            Dialect::JsonRpc => {
                let frames =
                    if read == 0 { framer.finish().into_iter().collect() } else { framer.push(bytes) };
                for frame in frames {
                    request(&frame, &mut to, answers, framer.cap())?;
                }
            }
        }
        if read == 0 {
            return to.write_all(&frame::header(Channel::Stdin, 0).map_err(io::Error::other)?);
        }
    }
}

/// One line of the client.
fn request(frame: &Frame, to: &mut &UnixStream, answers: &Mutex<impl Write>, cap: usize) -> io::Result<()> {
    match frame {
        Frame::Message(line) => send(to, line),
        // Not JSON-RPC, but the client's own: the server knows best what to say to it.
        Frame::Stray(Stray { text, len }) if u64::try_from(text.len()) == Ok(*len) => {
            send(to, &[text.as_slice(), b"\n"].concat())
        }
        Frame::Stray(Stray { len, .. }) => {
            crate::terminal::say(&format!(
                "a line of {len} bytes that is no message was not passed to the server"
            ));
            Ok(())
        }
        Frame::Oversized(message) => {
            if let Some(answer) = message.answer(cap) {
                let mut out = answers.lock().unwrap_or_else(PoisonError::into_inner);
                // A client that reads no answers is told of by the other thread.
                out.write_all(&answer).ok();
            }
            crate::terminal::say(&format!("a message of {} bytes was not passed to the server", message.len));
            Ok(())
        }
    }
}

/// The cell → our stdout and stderr, until the process has ended.
fn outwards(
    mut from: impl Read,
    stdout: &Mutex<impl Write>,
    tell: &UnboundedSender<Told>,
    strays: &Sender<String>,
    dialect: Dialect,
) {
    let mut framer = Framer::default();
    let mut reader_here = true;
    let last = loop {
        // A connection that ends in the middle of anything is a supervisor that died.
        let Ok((channel, payload)) = receive(&mut from) else { break Told::Lost };
        let frames = match channel {
            Channel::Stdin => break Told::Lost,
            Channel::Exit => match serde_json::from_slice(&payload) {
                Ok(end) => break Told::Ended(end),
                Err(_) => break Told::Lost,
            },
            Channel::Stderr => {
                // Whoever does not read our stderr misses it.
                Stderr.write_all(&payload).ok();
                continue;
            }
            Channel::Stdout if dialect == Dialect::Raw => vec![Frame::Message(payload)],
            Channel::Stdout if payload.is_empty() => framer.finish().into_iter().collect(),
            Channel::Stdout => framer.push(&payload),
        };
        for frame in frames {
            if let Err(()) = response(frame, stdout, strays, framer.cap())
                && std::mem::replace(&mut reader_here, false)
            {
                tell.send(Told::ReaderGone).ok();
            }
        }
    };
    // The main thread may have left already.
    tell.send(last).ok();
}

/// One line of the server; an error when nobody reads our stdout.
fn response(frame: Frame, stdout: &Mutex<impl Write>, strays: &Sender<String>, cap: usize) -> Result<(), ()> {
    let write = |bytes: &[u8]| {
        let mut out = stdout.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(bytes).and_then(|()| out.flush()).map_err(|_| ())
    };
    match frame {
        Frame::Message(line) => write(&line),
        Frame::Stray(Stray { text, len }) => {
            let shown = String::from_utf8_lossy(&text);
            let is_whole = u64::try_from(text.len()) == Ok(len);
            let line = if is_whole { shown.into_owned() } else { format!("{shown}… ({len} bytes)") };
            strays.blocking_send(line).ok();
            Ok(())
        }
        Frame::Oversized(message) => {
            let line = format!("a message of {} bytes was not passed to the client", message.len);
            strays.blocking_send(line).ok();
            message.replacement(cap).map_or(Ok(()), |line| write(&line))
        }
    }
}

fn send(to: &mut &UnixStream, bytes: &[u8]) -> io::Result<()> {
    for chunk in bytes.chunks(MAX_PAYLOAD) {
        let header = frame::header(Channel::Stdin, chunk.len()).map_err(io::Error::other)?;
        if chunk.len() <= PIECE {
            to.write_all(&[&header, chunk].concat())?;
        } else {
            to.write_all(&header)?;
            to.write_all(chunk)?;
        }
    }
    Ok(())
}

fn receive(from: &mut impl Read) -> io::Result<(Channel, Vec<u8>)> {
    let mut header = [0; HEADER];
    from.read_exact(&mut header)?;
    let (channel, len) = frame::parse(header).map_err(io::Error::other)?;
    let mut payload = vec![0; len];
    from.read_exact(&mut payload)?;
    Ok((channel, payload))
}

/// Breaks an attach off, so that both threads end.
pub(crate) fn break_off(stream: &UnixStream) {
    // It may be closed already.
    stream.shutdown(Shutdown::Both).ok();
}

#[cfg(test)]
mod tests;
