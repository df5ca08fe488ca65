//! Messages of a WebSocket (RFC 6455), in both directions: replaced in without changing a frame's length or header.

use std::sync::Arc;

use self::frame::{Frames, Side};
use super::request::Messages;
use super::response::Scrub;

mod frame;

/// From the cell to the host: values are written into text messages.
#[derive(Debug)]
pub struct ToHost(Frames);

/// From the host to the cell: values are taken out of all messages, control frames too.
#[derive(Debug)]
pub struct FromHost(Frames);

/// Why a stream of frames is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebSocketError {
    /// Reserved bits: an extension that was not agreed on, such as compression.
    #[error("a frame uses an extension that was not agreed on")]
    Extension,
    /// A kind of frame there is not.
    #[error("a frame is of a kind there is not")]
    Opcode,
    /// A continuation of nothing, or a new message within one.
    #[error("the frames of a message are out of order")]
    Order,
    /// A control frame in parts or of more than 125 bytes.
    #[error("a control frame is too long, or in parts")]
    Control,
    /// A frame from the cell that is not masked, or one from the host that is.
    #[error("a frame is masked where it must not be, or the other way round")]
    Mask,
    /// A length beyond 63 bits.
    #[error("a frame has an impossible length")]
    Length,
    /// Frames between the parts of a message that end in the middle of a key, more than are kept.
    #[error("too much came between two parts of a message")]
    Interleaved,
}

impl ToHost {
    /// For a request whose substitution gave `messages`; without any, bytes pass as they are.
    pub fn new(messages: Option<&Messages>) -> Self {
        Self(Frames::new(Side::Cell, messages.map(|messages| Arc::clone(&messages.needles))))
    }

    /// Takes what the cell sent, cut anywhere, and appends what goes to the host.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), WebSocketError> {
        self.0.push(bytes, out)
    }

    /// Appends what was held, when nothing follows.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.0.finish(out);
    }

    /// How many keys were written so far, of those in the messages' order.
    pub fn take_written(&mut self) -> Vec<usize> {
        self.0.take_seen()
    }
}

impl FromHost {
    /// For a host with keys; for one without, bytes pass as they are.
    pub fn new(scrub: &Scrub) -> Self {
        Self(Frames::new(Side::Host, scrub.needles().map(Arc::clone)))
    }

    /// Takes what the host sent, cut anywhere, and appends what goes to the cell.
    ///
    /// Held back is only what may be the beginning of a value within one message; at the end of a message nothing is. When
    /// the host is silent in the middle of a value it stays held.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), WebSocketError> {
        self.0.push(bytes, out)
    }

    /// Appends what was held, when nothing follows.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.0.finish(out);
    }
}

#[cfg(test)]
mod tests;
