//! Whether bytes that come in pieces are UTF-8.

/// The check so far.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    broken: bool,
    /// The beginning of a character whose rest has not come yet: at most three bytes.
    begun: Vec<u8>,
}

impl Utf8 {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first().filter(|_| !self.begun.is_empty() && !self.broken)
        {
            self.begun.push(*byte);
            rest = after;
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) => self.broken = error.error_len().is_some(),
            }
        }
        if self.broken {
            return;
        }
        if let Err(error) = std::str::from_utf8(rest) {
            self.broken = error.error_len().is_some();
            self.begun.extend(rest.iter().skip(error.valid_up_to()).take(3));
        }
    }

    /// Whether all of it was UTF-8, the last character whole.
    pub(super) fn is_whole(&self) -> bool {
        !self.broken && self.begun.is_empty()
    }
}
