//! Bytes to lines, lines to frames.

use super::oversized::Oversized;
use super::probe::is_json_rpc;
use super::scanner::{Scanner, Verdict};
use super::{DEFAULT_CAP, Frame, Stray};

/// Bytes kept of a stray line over the cap.
pub const STRAY_PREFIX: usize = 200;

/// Cuts a stream of bytes into frames. The frames do not depend on how the bytes were cut into chunks.
///
/// INVARIANT: what it holds between two calls is at most the cap and a constant, whatever comes in.
#[derive(Debug)]
pub struct Framer {
    cap: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The line so far, at most the cap.
    Within(Vec<u8>),
    /// A line over the cap.
    Over(Over),
}

#[derive(Debug, Default)]
struct Over {
    prefix: Vec<u8>,
    len: u64,
    /// A carriage return that may belong to the line's end.
    held_return: bool,
    scanner: Scanner,
}

impl Default for Framer {
    fn default() -> Self {
        Self::new(DEFAULT_CAP)
    }
}

impl Framer {
    /// A framer that lets lines of at most `cap` bytes pass, their ends (`\n` or `\r\n`) not counted.
    pub fn new(cap: usize) -> Self {
        Self { cap, state: State::Within(Vec::new()) }
    }

    /// The cap, in bytes.
    pub fn cap(&self) -> usize {
        self.cap
    }

    /// Bytes reserved between two calls.
    pub fn held(&self) -> usize {
        match &self.state {
            State::Within(line) => line.capacity(),
            State::Over(over) => over.prefix.capacity() + over.scanner.held(),
        }
    }

    /// Takes in the next bytes and gives the frames they complete.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut rest = chunk;
        while let Some((line, after)) =
            memchr::memchr(b'\n', rest).and_then(|at| rest.split_at_checked(at.saturating_add(1)))
        {
            self.extend(line.strip_suffix(b"\n").unwrap_or(line));
            frames.extend(self.end_line());
            rest = after;
        }
        self.extend(rest);
        frames
    }

    /// Takes in the end of the stream and gives the frame of a last line without an end. Afterwards the framer is as
    /// new.
    pub fn finish(&mut self) -> Option<Frame> {
        self.end_line()
    }

    fn extend(&mut self, bytes: &[u8]) {
        match &mut self.state {
            // One byte more is kept, in case the line is exactly at the cap and ends in `\r\n`.
            State::Within(line) if line.len().saturating_add(bytes.len()) <= self.cap.saturating_add(1) => {
                let needed = line.len() + bytes.len();
                if needed > line.capacity() {
                    // Doubling, but never beyond what the invariant allows; one byte for the line's end.
                    let target =
                        needed.max(line.capacity().saturating_mul(2)).min(self.cap.saturating_add(1));
                    line.reserve_exact(target + 1 - line.len());
                }
                line.extend_from_slice(bytes);
            }
            State::Within(line) => {
                let mut over = Over::default();
                over.extend(line);
                over.extend(bytes);
                self.state = State::Over(over);
            }
            State::Over(over) => over.extend(bytes),
        }
    }

    fn end_line(&mut self) -> Option<Frame> {
        match std::mem::replace(&mut self.state, State::Within(Vec::new())) {
            State::Within(line) => {
                let content = line.strip_suffix(b"\r").unwrap_or(&line);
                if content.len() > self.cap {
                    let mut over = Over::default();
                    over.extend(content);
                    return over.finish();
                }
                within(line)
            }
            State::Over(over) => over.finish(),
        }
    }
}

/// The frame of a whole line within the cap, given without its newline.
fn within(mut line: Vec<u8>) -> Option<Frame> {
    if line.iter().all(|byte| is_blank(*byte)) {
        return None;
    }
    if is_json_rpc(&line) {
        line.push(b'\n');
        return Some(Frame::Message(line));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Some(Frame::Stray(Stray { len: u64::try_from(line.len()).unwrap_or(u64::MAX), text: line }))
}

impl Over {
    fn extend(&mut self, bytes: &[u8]) {
        let Some((last, body)) = bytes.split_last() else { return };
        if std::mem::replace(&mut self.held_return, *last == b'\r') {
            self.take(b"\r");
        }
        self.take(if *last == b'\r' { body } else { bytes });
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = STRAY_PREFIX.saturating_sub(self.prefix.len());
        self.prefix.extend(bytes.iter().take(room));
        self.len = self.len.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.scanner.feed(bytes);
    }

    fn finish(self) -> Option<Frame> {
        match self.scanner.finish() {
            Verdict::Blank => None,
            Verdict::Message(found) => Some(Frame::Oversized(Oversized {
                id: found.id,
                method: found.method,
                is_response: found.is_response,
                is_batch: found.is_batch,
                len: self.len,
            })),
            Verdict::Other => Some(Frame::Stray(Stray { text: self.prefix, len: self.len })),
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}
