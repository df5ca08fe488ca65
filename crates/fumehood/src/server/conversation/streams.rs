//! Our own stdin and stdout, each by a thread: nothing else can wait for them.

use std::{
    io::{Read, Write},
    time::Duration,
};

use model::stdio::{Frame, Framer};
use tokio::sync::mpsc::{Receiver, Sender};

use crate::relay::stdio::{Stdin, Stdout};

/// How much is read at once, in bytes.
const PIECE: usize = 64 << 10;
/// How long a client may take to read what was left for it at the end.
const LAST_LINES: Duration = Duration::from_secs(1);

/// What our own stdin and stdout say.
pub(super) enum Ours {
    /// A line of the client.
    Frame(Frame),
    /// The client has left.
    Ended,
}

/// Our stdin, frame by frame, by a thread: nothing else can wait for it.
pub(super) fn read_stdin(frames: &Sender<Ours>) {
    let mut framer = Framer::default();
    let mut piece = vec![0; PIECE];
    loop {
        let read = Stdin.read(&mut piece).unwrap_or(0);
        let found: Vec<Frame> = if read == 0 {
            framer.finish().into_iter().collect()
        } else {
            framer.push(piece.get(..read).unwrap_or_default())
        };
        for frame in found {
            if frames.blocking_send(Ours::Frame(frame)).is_err() {
                return;
            }
        }
        if read == 0 {
            // Whoever listened may have left.
            frames.blocking_send(Ours::Ended).ok();
            return;
        }
    }
}

/// Our stdout, line by line.
pub(super) fn write_stdout(mut lines: Receiver<Vec<u8>>, gone: &Sender<()>) {
    while let Some(line) = lines.blocking_recv() {
        if Stdout.write_all(&line).is_err() {
            gone.blocking_send(()).ok();
            return;
        }
    }
}

/// Waits until everything is written, but not for a client that does not read. `gone` closes with the end of
/// [`write_stdout`], which comes after the last line.
pub(super) async fn written(mut gone: Receiver<()>) {
    tokio::time::timeout(LAST_LINES, gone.recv()).await.ok();
}
