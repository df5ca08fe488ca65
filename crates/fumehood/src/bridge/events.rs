//! Server-sent events (HTML Standard §9.2.6), as bytes come.

/// Largest data of one event, bytes; a line may be as long.
pub(crate) const MAX_EVENT: usize = super::MAX_MESSAGE;

/// What a stream said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type; none is a message.
    pub(crate) kind: Option<String>,
    /// Empty where it only moved the place to resume at.
    pub(crate) data: Vec<u8>,
}

/// More than one event may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {} MiB", MAX_EVENT >> 20)]
pub(crate) struct TooLarge;

/// A stream being read.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Where to resume: the id of the last event that had one.
    pub(crate) last_id: Option<String>,
    /// How long to wait before that, in milliseconds, where the stream said so.
    pub(crate) retry: Option<u64>,
    line: Vec<u8>,
    data: Vec<u8>,
    kind: Option<String>,
    id: Option<String>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed after it ends no second line.
    returned: bool,
    begun: bool,
}

impl Events {
    /// Goes on after a break: what was not whole is lost, the place stays.
    pub(crate) fn resumed(self) -> Self {
        Self { last_id: self.last_id, retry: self.retry, ..Self::default() }
    }

    /// The events that these bytes complete.
    ///
    /// # Errors
    /// If one of them is too large.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.returned, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()?),
                byte if self.line.len() < MAX_EVENT => self.line.push(*byte),
                _ => return Err(TooLarge),
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<Event>, TooLarge> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len().saturating_add(value.len()) >= MAX_EVENT {
                    return Err(TooLarge);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.kind = Some(String::from_utf8_lossy(value).into_owned()),
            b"id" if !value.contains(&0) => self.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" => {
                let text = std::str::from_utf8(value).ok().filter(|text| !text.starts_with('+'));
                self.retry = text.and_then(|text| text.parse().ok()).or(self.retry);
            }
            // A comment, or something of a later day.
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<Event> {
        if let Some(id) = self.id.take() {
            // An empty one says that there is nowhere to resume.
            self.last_id = (!id.is_empty()).then_some(id);
        }
        let (kind, data) = (self.kind.take(), std::mem::take(&mut self.data));
        std::mem::take(&mut self.has_data).then_some(Event { kind, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> (Vec<Event>, Events) {
        let mut events = Events::default();
        let found = events.push(text.as_bytes()).unwrap();
        (found, events)
    }

    fn message(data: &str) -> Event {
        Event { kind: None, data: data.as_bytes().to_vec() }
    }

    #[test]
    fn lines_end_in_three_ways_and_data_has_several() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                ["\u{feff}data: {\"a\":", "data:1}", "", ": comment", "event: message", "data:  x", "", ""]
                    .join(end);
            let (found, _) = all(&text);
            let second = Event { kind: Some("message".into()), data: b" x".to_vec() };
            assert_eq!(found, [message("{\"a\":\n1}"), second], "{end:?}");
        }
    }

    #[test]
    fn however_the_bytes_are_cut_the_events_are_the_same() {
        let text = "id: 1\r\ndata: one\r\n\r\nretry: 250\ndata: two\ndata: more\nid: 2\n\ndata: lost";
        let (whole, end) = all(text);
        assert_eq!(whole, [message("one"), message("two\nmore")]);
        assert_eq!((end.last_id.as_deref(), end.retry), (Some("2"), Some(250)));
        for at in 0..text.len() {
            let mut events = Events::default();
            let mut found = events.push(&text.as_bytes()[..at]).unwrap();
            found.extend(events.push(&text.as_bytes()[at..]).unwrap());
            assert_eq!(found, whole, "cut at {at}");
        }
        let mut again = end.resumed();
        assert_eq!(again.push(b"data: x\n\n").unwrap(), [message("x")]);
        assert_eq!((again.last_id.as_deref(), again.retry), (Some("2"), Some(250)));
    }

    #[test]
    fn an_event_without_data_moves_the_place_only() {
        let (found, events) = all("id: a\n\nid: b\ndata:\n\nid: never-sent\n");
        assert_eq!(found, [message("")]);
        assert_eq!(events.last_id.as_deref(), Some("b"));
        assert_eq!(all("id: a\n\nid\n\n").1.last_id, None);
        assert_eq!(all("id: a\u{0}b\n\nretry: +5\nretry: x\n\n").1.retry, None);
    }

    #[test]
    fn no_event_grows_without_end() {
        let mut events = Events::default();
        let piece = vec![b'x'; 1 << 20];
        let grown = (0..=MAX_EVENT >> 20).try_for_each(|_| events.push(&piece).map(drop));
        assert_eq!(grown, Err(TooLarge));
        let mut events = Events::default();
        let mut line = b"data:".to_vec();
        line.extend_from_slice(&piece);
        line.push(b'\n');
        let grown = (0..=MAX_EVENT >> 20).try_for_each(|_| events.push(&line).map(drop));
        assert_eq!(grown, Err(TooLarge));
    }
}
