//! The parts of a body in which a placeholder is replaced: text values of JSON, values of a form.

use bytes::{Bytes, BytesMut};

use crate::credential::stream::Stream;

/// Replaces in some parts of a body only.
#[derive(Debug)]
pub(crate) struct Regions {
    reader: Reader,
    stream: Stream,
}

/// Tells the parts.
#[derive(Debug)]
pub(crate) enum Reader {
    Json(Json),
    Form(Form),
}

impl Regions {
    pub(crate) fn json(stream: Stream) -> Self {
        Self { reader: Reader::Json(Json::default()), stream }
    }

    pub(crate) fn form(stream: Stream) -> Self {
        Self { reader: Reader::Form(Form::default()), stream }
    }

    /// What can go on after `piece` has come.
    pub(crate) fn push(&mut self, mut piece: Bytes) -> Bytes {
        let mut out = BytesMut::with_capacity(piece.len());
        while !piece.is_empty() {
            let (length, inside) = match &mut self.reader {
                Reader::Json(json) => json.next(&piece),
                Reader::Form(form) => form.next(&piece),
            };
            let part = piece.split_to(length.clamp(1, piece.len()));
            if inside {
                out.extend_from_slice(&self.stream.push(&part));
            } else {
                out.extend_from_slice(&self.stream.finish());
                out.extend_from_slice(&part);
            }
        }
        out.freeze()
    }

    /// What was held, when nothing follows.
    pub(crate) fn finish(&mut self) -> Bytes {
        self.stream.finish()
    }

    pub(crate) fn held(&self) -> usize {
        self.stream.held()
    }

    pub(crate) fn take_seen(&mut self) -> Vec<usize> {
        self.stream.take_seen()
    }
}

/// Follows JSON (RFC 8259) far enough to tell text values from everything else. What is not JSON has no values.
#[derive(Debug, Default)]
pub(crate) struct Json {
    /// The open arrays and objects, `true` for an object.
    open: Vec<bool>,
    /// Whether a `:` was the last that mattered.
    after_colon: bool,
    text: Text,
    lost: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Name {
        escaped: bool,
    },
    Value {
        escaped: bool,
    },
}

/// Deepest nesting that is followed.
const DEPTH: usize = 1024;

impl Json {
    /// How long the next part is, and whether it lies within a text value.
    fn next(&mut self, bytes: &[u8]) -> (usize, bool) {
        if self.lost {
            return (bytes.len(), false);
        }
        match self.text {
            Text::Outside => (self.outside(bytes), false),
            Text::Name { mut escaped } => {
                let length = text(bytes, &mut escaped);
                let ended = bytes.get(length).is_some();
                self.text = if ended { Text::Outside } else { Text::Name { escaped } };
                // The quotation mark too: else it would be taken for the beginning of the next text.
                (length + usize::from(ended), false)
            }
            Text::Value { mut escaped } => {
                let length = text(bytes, &mut escaped);
                if length == 0 && bytes.first() == Some(&b'"') {
                    self.text = Text::Outside;
                    return (1, false);
                }
                self.text = Text::Value { escaped };
                (length, true)
            }
        }
    }

    fn outside(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => {
                    let name = self.open.last() == Some(&true) && !self.after_colon;
                    self.text =
                        if name { Text::Name { escaped: false } } else { Text::Value { escaped: false } };
                    return at + 1;
                }
                b'{' | b'[' => {
                    self.lost = self.open.len() >= DEPTH;
                    self.open.push(*byte == b'{');
                    self.after_colon = false;
                }
                b'}' | b']' => {
                    self.lost = self.open.pop() != Some(*byte == b'}');
                    self.after_colon = false;
                }
                b':' => self.after_colon = true,
                b',' => self.after_colon = false,
                _ => {}
            }
            if self.lost {
                return at + 1;
            }
        }
        bytes.len()
    }
}

/// How many bytes of a text there are before the quotation mark that ends it.
fn text(bytes: &[u8], escaped: &mut bool) -> usize {
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if *escaped => *escaped = false,
            b'\\' => *escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    bytes.len()
}

/// Follows `application/x-www-form-urlencoded`.
#[derive(Debug, Default)]
pub(crate) struct Form {
    value: bool,
}

impl Form {
    fn next(&mut self, bytes: &[u8]) -> (usize, bool) {
        if self.value {
            match memchr::memchr(b'&', bytes) {
                Some(0) => {
                    self.value = false;
                    (1, false)
                }
                found => (found.unwrap_or(bytes.len()), true),
            }
        } else {
            let found = memchr::memchr2(b'=', b'&', bytes);
            self.value = found.is_some_and(|at| bytes.get(at) == Some(&b'='));
            (found.map_or(bytes.len(), |at| at + 1), false)
        }
    }
}

#[cfg(test)]
mod tests;
