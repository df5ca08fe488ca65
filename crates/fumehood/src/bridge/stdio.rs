//! Our own stdin and stdout, each on a thread: a client that does not read must not keep signals from being heard.

use std::{
    io::{self, BufRead, BufReader, Write as _},
    thread::{Builder, JoinHandle},
};

use tokio::sync::mpsc;

use super::MAX_MESSAGE;

/// Lines that wait either way.
const WAITING: usize = 16;

/// What came in.
#[derive(Debug)]
pub(super) enum Line {
    /// A line without its end, never empty.
    Whole(Vec<u8>),
    /// One that was longer than a message may be; it is gone.
    TooLong,
    /// Nothing more can be read.
    Broken(io::Error),
}

/// Begins to read stdin; the channel closes at its end.
pub(super) fn lines() -> io::Result<mpsc::Receiver<Line>> {
    let (sender, lines) = mpsc::channel(WAITING);
    // It is never waited for: a read may never come back.
    Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut stdin = BufReader::with_capacity(64 << 10, io::stdin());
        loop {
            let line = match next_line(&mut stdin) {
                Ok(Some(line)) => line,
                Ok(None) => return,
                Err(error) => Line::Broken(error),
            };
            let last = matches!(line, Line::Broken(_));
            if sender.blocking_send(line).is_err() || last {
                return;
            }
        }
    })?;
    Ok(lines)
}

/// The next line that is not empty; of one that is too long only that it was.
fn next_line(from: &mut impl BufRead) -> io::Result<Option<Line>> {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let buffer = from.fill_buf()?;
        let at_end = buffer.is_empty();
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        if too_long || line.len().saturating_add(piece.len()) > MAX_MESSAGE {
            too_long = true;
            line = Vec::new();
        } else {
            line.extend_from_slice(piece);
        }
        let used = end.map_or(buffer.len(), |end| end.saturating_add(1));
        from.consume(used);
        if end.is_some() || at_end {
            if too_long {
                return Ok(Some(Line::TooLong));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(Line::Whole(line)));
            }
            if at_end {
                return Ok(None);
            }
            line.clear();
        }
    }
}

/// Stdout.
#[derive(Debug)]
pub(super) struct Out {
    sender: mpsc::Sender<Vec<u8>>,
    thread: JoinHandle<()>,
}

impl Out {
    /// Begins to write what is sent to it. Where that fails, nothing more can be sent.
    pub(super) fn new() -> io::Result<Self> {
        let (sender, mut lines) = mpsc::channel::<Vec<u8>>(WAITING);
        let thread = Builder::new().name("stdout".to_owned()).spawn(move || {
            let mut stdout = io::stdout().lock();
            while let Some(line) = lines.blocking_recv() {
                if line.is_empty() {
                    return;
                }
                if stdout.write_all(&line).and_then(|()| stdout.flush()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { sender, thread })
    }

    /// For whoever has something to say.
    pub(super) fn sender(&self) -> mpsc::Sender<Vec<u8>> {
        self.sender.clone()
    }

    /// Waits until everything is written, but not for a client that does not read.
    pub(super) async fn finish(self) {
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);
        const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);
        let written = async {
            // An empty line is no message but the end; others may still hold senders.
            self.sender.send(Vec::new()).await.ok();
            while !self.thread.is_finished() {
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::time::timeout(PATIENCE, written).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Option<Vec<u8>>> {
        let mut from = BufReader::with_capacity(3, text);
        let mut found = Vec::new();
        while let Some(line) = next_line(&mut from).unwrap() {
            found.push(match line {
                Line::Whole(line) => Some(line),
                Line::TooLong => None,
                Line::Broken(error) => panic!("{error}"),
            });
        }
        found
    }

    #[test]
    fn lines_are_cut_at_their_ends_only() {
        let whole = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(all(b"\n{\"a\":1}\r\n\n  \nlast"), [whole("{\"a\":1}\r"), whole("last")]);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut text = vec![b'x'; MAX_MESSAGE + 1];
        text.extend_from_slice(b"\nnext\n");
        assert_eq!(all(&text), [None, Some(b"next".to_vec())]);
    }
}
