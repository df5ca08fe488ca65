//! Following frames (RFC 6455 §5.2) and replacing in what they carry.

use std::sync::Arc;

use super::WebSocketError;
use crate::credential::search::Needles;

/// Whose frames they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Masked; only text is replaced in.
    Cell,
    /// Not masked; all is replaced in.
    Host,
}

/// Follows the frames of one side.
#[derive(Debug)]
pub(crate) struct Frames {
    side: Side,
    /// None: bytes pass as they are.
    needles: Option<Arc<Needles>>,
    state: State,
    /// The message that is open, and whether it is replaced in.
    message: Option<bool>,
    /// As they will be sent, and not sent yet because of what is held.
    queue: Vec<u8>,
    /// What is held of the open message, without its mask.
    held: Vec<u8>,
    /// Where in `queue` the held bytes are, in order.
    runs: Vec<Run>,
    seen: Vec<usize>,
}

#[derive(Debug)]
enum State {
    /// In the header of a frame, of which this is known.
    Header(Vec<u8>),
    Payload(Payload),
}

#[derive(Debug)]
struct Payload {
    left: u64,
    mask: [u8; 4],
    /// Which byte of the mask is next.
    phase: usize,
    last: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Looked at as a whole.
    Control(Vec<u8>),
    Data,
}

/// A run of bytes of a message in the queue.
#[derive(Debug, Clone, Copy)]
struct Run {
    queued: usize,
    length: usize,
    mask: [u8; 4],
    phase: usize,
}

/// Most bytes kept because of a beginning of a value: room for the longest value in its longest spelling, and for as many
/// control frames.
const QUEUE: usize = 1024 * 1024;

/// Longest payload of a control frame (RFC 6455 §5.5).
const CONTROL: u64 = 125;

impl Frames {
    pub(crate) fn new(side: Side, needles: Option<Arc<Needles>>) -> Self {
        Self {
            side,
            needles,
            state: State::Header(Vec::new()),
            message: None,
            queue: Vec::new(),
            held: Vec::new(),
            runs: Vec::new(),
            seen: Vec::new(),
        }
    }

    pub(crate) fn take_seen(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.seen)
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<(), WebSocketError> {
        if self.needles.is_none() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        while !bytes.is_empty() {
            let taken = match std::mem::replace(&mut self.state, State::Header(Vec::new())) {
                State::Header(known) => self.header(known, bytes)?,
                State::Payload(payload) => self.payload(payload, bytes),
            };
            bytes = bytes.get(taken..).unwrap_or_default();
            self.release(out);
            if self.queue.len() > QUEUE {
                return Err(WebSocketError::Interleaved);
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Header(Vec::new())) {
            State::Header(known) => self.queue.extend(known),
            State::Payload(payload) if matches!(payload.kind, Kind::Control(_)) => self.end(payload),
            State::Payload(_) => {}
        }
        self.replace(true);
        self.release(out);
    }

    /// Takes bytes of a header, as many as it needs.
    fn header(&mut self, mut known: Vec<u8>, bytes: &[u8]) -> Result<usize, WebSocketError> {
        let mut taken = 0;
        loop {
            let wanted = length_of_header(&known);
            if known.len() == wanted {
                break;
            }
            let Some(byte) = bytes.get(taken) else {
                self.state = State::Header(known);
                return Ok(taken);
            };
            known.push(*byte);
            taken += 1;
        }
        let payload = self.read_header(&known)?;
        self.queue.extend_from_slice(&known);
        if payload.left == 0 {
            self.end(payload);
        } else {
            self.state = State::Payload(payload);
        }
        Ok(taken)
    }

    fn read_header(&mut self, header: &[u8]) -> Result<Payload, WebSocketError> {
        let &[first, second, ..] = header else { return Err(WebSocketError::Length) };
        if first & 0x70 != 0 {
            return Err(WebSocketError::Extension);
        }
        let (last, masked) = (first & 0x80 != 0, second & 0x80 != 0);
        let more = header.get(2..).unwrap_or_default();
        let (left, more) = match second & 0x7f {
            126 => (number(more, 2), more.get(2..)),
            127 => (number(more, 8), more.get(8..)),
            short => (u64::from(short), Some(more)),
        };
        if left >> 63 != 0 {
            return Err(WebSocketError::Length);
        }
        if masked != (self.side == Side::Cell) {
            return Err(WebSocketError::Mask);
        }
        let mask =
            more.and_then(|more| more.get(..4)).and_then(|mask| mask.try_into().ok()).unwrap_or_default();
        let kind = match first & 0x0f {
            0 if self.message.is_some() => Kind::Data,
            1 | 2 if self.message.is_none() => {
                self.message = Some(self.side == Side::Host || first & 0x0f == 1);
                Kind::Data
            }
            0..=2 => return Err(WebSocketError::Order),
            8..=10 if last && left <= CONTROL => Kind::Control(Vec::new()),
            8..=10 => return Err(WebSocketError::Control),
            _ => return Err(WebSocketError::Opcode),
        };
        Ok(Payload { left, mask, phase: 0, last, kind })
    }

    /// Takes bytes of a payload, as many as there are.
    fn payload(&mut self, mut payload: Payload, bytes: &[u8]) -> usize {
        let taken = usize::try_from(payload.left).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = bytes.get(..taken).unwrap_or_default();
        payload.left -= taken as u64;
        let run = Run { queued: self.queue.len(), length: taken, mask: payload.mask, phase: payload.phase };
        payload.phase = (payload.phase + taken) % 4;
        match &mut payload.kind {
            Kind::Control(whole) => whole.extend(unmasked(bytes, run)),
            Kind::Data => {
                self.queue.extend_from_slice(bytes);
                if self.message == Some(true) {
                    self.held.extend(unmasked(bytes, run));
                    self.runs.push(run);
                }
            }
        }
        if payload.left == 0 {
            self.end(payload);
        } else {
            if matches!(payload.kind, Kind::Data) {
                self.replace(false);
            }
            self.state = State::Payload(payload);
        }
        taken
    }

    /// The end of a frame.
    fn end(&mut self, payload: Payload) {
        match payload.kind {
            Kind::Control(whole) => {
                let needles = self.needles.as_ref().filter(|_| self.side == Side::Host);
                let edited = needles.and_then(|needles| needles.edited(&whole));
                let whole = edited.filter(|edited| edited.len() == whole.len()).unwrap_or(whole);
                let run = Run { queued: 0, length: whole.len(), mask: payload.mask, phase: 0 };
                self.queue.extend(unmasked(&whole, run));
            }
            Kind::Data => {
                self.replace(payload.last);
                if payload.last {
                    self.message = None;
                }
            }
        }
        self.state = State::Header(Vec::new());
    }

    /// Replaces in what is held, and lets go of what need not be held.
    fn replace(&mut self, end: bool) {
        let Some(needles) = &self.needles else { return };
        if self.held.is_empty() {
            self.runs.clear();
            return;
        }
        let look = needles.look(&self.held, end);
        for found in &look.found {
            self.seen.push(found.owner);
            // Only keys whose placeholder has the shape of the value are written into messages.
            for (offset, byte) in found.with.iter().enumerate().take(found.range.len()) {
                let place = place(&self.runs, found.range.start + offset);
                if let Some((at, mask)) = place
                    && let Some(queued) = self.queue.get_mut(at)
                {
                    *queued = byte ^ mask;
                }
            }
        }
        self.held.drain(..look.held.min(self.held.len()));
        let mut gone = look.held;
        self.runs.retain_mut(|run| {
            let off = gone.min(run.length);
            gone -= off;
            run.queued += off;
            run.phase = (run.phase + off) % 4;
            run.length -= off;
            run.length > 0
        });
    }

    /// Sends what does not come after something held.
    fn release(&mut self, out: &mut Vec<u8>) {
        let upto = self.runs.first().map_or(self.queue.len(), |run| run.queued).min(self.queue.len());
        out.extend(self.queue.drain(..upto));
        for run in &mut self.runs {
            run.queued -= upto;
        }
    }
}

/// How many bytes a header has, as far as that is known from its beginning.
fn length_of_header(known: &[u8]) -> usize {
    let Some(second) = known.get(1) else { return 2 };
    let length = match second & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    2 + length + if second & 0x80 == 0 { 0 } else { 4 }
}

fn number(bytes: &[u8], length: usize) -> u64 {
    bytes.iter().take(length).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// `bytes` with the mask of `run` on or off.
fn unmasked(bytes: &[u8], run: Run) -> impl Iterator<Item = u8> {
    let mask = run.mask;
    bytes.iter().zip(mask.into_iter().cycle().skip(run.phase)).map(|(byte, mask)| byte ^ mask)
}

/// Where the held byte at `offset` is in the queue, and its mask.
fn place(runs: &[Run], mut offset: usize) -> Option<(usize, u8)> {
    for run in runs {
        if offset < run.length {
            let mask = run.mask.get((run.phase + offset) % 4).copied().unwrap_or_default();
            return Some((run.queued + offset, mask));
        }
        offset -= run.length;
    }
    None
}
