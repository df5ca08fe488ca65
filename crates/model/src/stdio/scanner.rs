//! Finds what an answer needs in a message that is too long to keep: its `id` and `method`, wherever they stand.
//!
//! It goes byte by byte and keeps a bounded part of four values. It understands all of JSON, and some texts that only
//! look like it: brackets are counted, not matched, and scalars elsewhere are not read. That decides no more than
//! whether a line that is dropped anyway is called a message or a stray line.

mod utf8;

use serde_json::Value;

use super::oversized::{LONGEST_ID, LONGEST_METHOD};
use utf8::Utf8;

/// Raw bytes of a key that are kept: `"jsonrpc"` with every letter written as `\uXXXX` has 44.
const LONGEST_KEY: usize = 64;

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Verdict {
    Blank,
    Message(Found),
    Other,
}

/// The members of a message. Of a batch there is no one `id` and no one `method`.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    pub(super) is_response: bool,
    pub(super) is_batch: bool,
}

#[derive(Debug, Default)]
pub(super) struct Scanner {
    mode: Mode,
    utf8: Utf8,
    batch: Option<Batch>,
    message: Message,
    /// The raw bytes of a key or value, as far as they are wanted.
    kept: Vec<u8>,
    /// How many of them may be kept; nothing where they are not wanted or are too many.
    room: Option<usize>,
    slot: Slot,
}

/// Where in the text the next byte stands.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Mode {
    #[default]
    Start,
    /// In a batch: after `[`, after `,`, after an element.
    FirstElement,
    NextElement,
    AfterElement,
    /// In a message: after `{`, after `,`, in a key, after a key, after `:`.
    FirstKey,
    NextKey,
    Key {
        escaped: bool,
    },
    AfterKey,
    BeforeValue,
    /// In a value of a message: a string, another scalar, a container so many levels deep, a string in one.
    Text {
        escaped: bool,
    },
    Scalar,
    Nested {
        depth: u64,
    },
    NestedText {
        depth: u64,
        escaped: bool,
    },
    AfterValue,
    /// After the whole message or batch.
    Done,
    Broken,
}

#[derive(Debug)]
struct Batch {
    only_responses: bool,
}

#[derive(Debug, Default)]
struct Message {
    is_json_rpc: bool,
    id: Option<Value>,
    method: Option<String>,
    has_method: bool,
    has_outcome: bool,
}

/// Which member a value belongs to.
#[derive(Debug, Clone, Copy, Default)]
enum Slot {
    JsonRpc,
    Id,
    Method,
    Outcome,
    #[default]
    None,
}

impl Scanner {
    /// Bytes reserved.
    pub(super) fn held(&self) -> usize {
        self.kept.capacity()
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.mode == Mode::Broken {
            return;
        }
        self.utf8.feed(bytes);
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            // Nearly all of a long message lies in strings, and nothing in them matters but their end.
            let in_text = match self.mode {
                Mode::NestedText { escaped: false, .. } => true,
                Mode::Text { escaped: false } => self.room.is_none(),
                _ => false,
            };
            if in_text {
                let skipped = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if let Some((_, tail)) = rest.split_at_checked(skipped).filter(|_| skipped > 0) {
                    rest = tail;
                    continue;
                }
            }
            self.step(*byte);
            rest = after;
        }
    }

    pub(super) fn finish(self) -> Verdict {
        match self.mode {
            Mode::Start => Verdict::Blank,
            Mode::Done if self.utf8.is_whole() => Verdict::Message(match self.batch {
                Some(batch) => {
                    Found { is_response: batch.only_responses, is_batch: true, ..Found::default() }
                }
                None => Found {
                    is_response: self.message.is_response(),
                    is_batch: false,
                    id: self.message.id,
                    method: self.message.method,
                },
            }),
            _ => Verdict::Other,
        }
    }

    fn step(&mut self, byte: u8) {
        self.mode = match (self.mode, byte) {
            (Mode::Key { escaped }, _) => self.key(escaped, byte),
            (Mode::Text { escaped }, _) => {
                self.keep(byte);
                match in_string(escaped, byte) {
                    Some(escaped) => Mode::Text { escaped },
                    None => self.end_value(),
                }
            }
            (Mode::NestedText { depth, escaped }, _) => match in_string(escaped, byte) {
                Some(escaped) => Mode::NestedText { depth, escaped },
                None => Mode::Nested { depth },
            },
            (Mode::Nested { depth }, _) => self.nested(depth, byte),
            (Mode::Scalar, b',' | b'}' | b' ' | b'\t' | b'\r') => {
                self.mode = self.end_value();
                return self.step(byte);
            }
            (Mode::Scalar, b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.') => {
                self.keep(byte);
                Mode::Scalar
            }
            (mode, b' ' | b'\t' | b'\r') => mode,
            (Mode::Start, b'[') => {
                self.batch = Some(Batch { only_responses: true });
                Mode::FirstElement
            }
            (Mode::Start | Mode::FirstElement | Mode::NextElement, b'{') => {
                self.message = Message::default();
                Mode::FirstKey
            }
            (Mode::AfterElement, b',') => Mode::NextElement,
            (Mode::AfterElement, b']') => Mode::Done,
            (Mode::FirstKey | Mode::NextKey, b'"') => {
                self.want(Some(LONGEST_KEY));
                self.keep(byte);
                Mode::Key { escaped: false }
            }
            (Mode::AfterKey, b':') => Mode::BeforeValue,
            (Mode::BeforeValue, _) => self.begin_value(byte),
            (Mode::AfterValue, b',') => Mode::NextKey,
            (Mode::FirstKey | Mode::AfterValue, b'}') => self.end_message(),
            _ => Mode::Broken,
        };
    }

    fn key(&mut self, escaped: bool, byte: u8) -> Mode {
        self.keep(byte);
        if let Some(escaped) = in_string(escaped, byte) {
            return Mode::Key { escaped };
        }
        let key = self.kept_text();
        self.slot = match key.as_deref() {
            Some("jsonrpc") => Slot::JsonRpc,
            Some("id") => Slot::Id,
            Some("method") => Slot::Method,
            Some("result" | "error") => Slot::Outcome,
            _ => Slot::None,
        };
        Mode::AfterKey
    }

    fn begin_value(&mut self, byte: u8) -> Mode {
        self.want(match self.slot {
            Slot::Id => Some(LONGEST_ID),
            Slot::Method => Some(LONGEST_METHOD),
            Slot::JsonRpc => Some(LONGEST_KEY),
            Slot::Outcome | Slot::None => None,
        });
        match byte {
            b'"' => {
                self.keep(byte);
                Mode::Text { escaped: false }
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.keep(byte);
                Mode::Scalar
            }
            b'{' | b'[' => {
                self.want(None);
                Mode::Nested { depth: 1 }
            }
            _ => Mode::Broken,
        }
    }

    fn nested(&mut self, depth: u64, byte: u8) -> Mode {
        match byte {
            b'"' => Mode::NestedText { depth, escaped: false },
            b'{' | b'[' => Mode::Nested { depth: depth.saturating_add(1) },
            b'}' | b']' if depth == 1 => self.end_value(),
            b'}' | b']' => Mode::Nested { depth: depth.saturating_sub(1) },
            _ => Mode::Nested { depth },
        }
    }

    /// A member that comes twice counts as it came last, as in most JSON readers.
    fn end_value(&mut self) -> Mode {
        match self.slot {
            Slot::JsonRpc => self.message.is_json_rpc = self.kept_text().as_deref() == Some("2.0"),
            Slot::Id => {
                self.message.id = self
                    .kept_bytes()
                    .and_then(|bytes| serde_json::from_slice(bytes).ok())
                    .filter(|id: &Value| id.is_string() || id.is_number() || id.is_null());
            }
            Slot::Method => {
                self.message.has_method = true;
                self.message.method = self.kept_text();
            }
            Slot::Outcome => self.message.has_outcome = true,
            Slot::None => {}
        }
        Mode::AfterValue
    }

    fn end_message(&mut self) -> Mode {
        match &mut self.batch {
            _ if !self.message.is_json_rpc => Mode::Broken,
            Some(batch) => {
                batch.only_responses &= self.message.is_response();
                Mode::AfterElement
            }
            None => Mode::Done,
        }
    }

    fn want(&mut self, room: Option<usize>) {
        self.kept.clear();
        self.room = room;
    }

    fn keep(&mut self, byte: u8) {
        match self.room {
            Some(room) if self.kept.len() < room => self.kept.push(byte),
            Some(_) => self.want(None),
            None => {}
        }
    }

    /// What was kept, if it is all there.
    fn kept_bytes(&self) -> Option<&[u8]> {
        self.room.map(|_| self.kept.as_slice())
    }

    fn kept_text(&self) -> Option<String> {
        serde_json::from_slice(self.kept_bytes()?).ok()
    }
}

impl Message {
    fn is_response(&self) -> bool {
        self.has_outcome && !self.has_method
    }
}

/// Whether the next byte is escaped, or nothing where this byte ends the string.
fn in_string(escaped: bool, byte: u8) -> Option<bool> {
    match (escaped, byte) {
        (false, b'"') => None,
        (false, b'\\') => Some(true),
        _ => Some(false),
    }
}
