//! Replacing in a stream of pieces.

use std::sync::Arc;

use bytes::Bytes;

use super::search::Needles;

/// Replaces what is found in a stream of pieces, wherever they are cut.
///
/// Held back is what may be the beginning of a needle and nothing else: at most its length, and only while every byte fits.
/// While the other side is silent it stays held, since the next byte decides. A line's end is in no needle, so an event of
/// `text/event-stream` and a line of JSON are never held.
#[derive(Debug)]
pub(crate) struct Stream {
    needles: Arc<Needles>,
    held: Vec<u8>,
    /// Owners of what was replaced.
    seen: Vec<usize>,
}

impl Stream {
    pub(crate) fn new(needles: Arc<Needles>) -> Self {
        Self { needles, held: Vec::new(), seen: Vec::new() }
    }

    /// What can go on after `piece` has come. Where nothing is found and nothing was held it is a part of the piece itself.
    pub(crate) fn push(&mut self, piece: &Bytes) -> Bytes {
        if !self.held.is_empty() {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(piece);
            return self.pass(&Bytes::from(joined), false);
        }
        self.pass(piece, false)
    }

    /// What was held, when nothing follows.
    pub(crate) fn finish(&mut self) -> Bytes {
        let held = Bytes::from(std::mem::take(&mut self.held));
        if held.is_empty() { held } else { self.pass(&held, true) }
    }

    /// How many bytes are held.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Owners of what was replaced since the last time this was asked.
    pub(crate) fn take_seen(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.seen)
    }

    fn pass(&mut self, bytes: &Bytes, end: bool) -> Bytes {
        let look = self.needles.look(bytes, end);
        self.held = bytes.get(look.held..).unwrap_or_default().to_vec();
        self.seen.extend(look.found.iter().map(|found| found.owner));
        if look.found.is_empty() { bytes.slice(..look.held) } else { Bytes::from(look.rewritten(bytes)) }
    }
}

#[cfg(test)]
pub(crate) mod tests;
