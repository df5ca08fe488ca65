//! What crossed the pipes, and whether two recordings say the same.
//!
//! The same means: both sides said the same messages, where ids are numbered by order of asking, points in time are
//! one word, and notifications, which may overtake answers, are compared as a set.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Raw lines of both directions.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    sent: String,
    received: String,
}

impl Recording {
    /// Reads both files once every question in them has its answer: the pipe that writes them may outlive the client.
    pub(crate) fn read(sent: &Path, received: &Path) -> Self {
        let text = |path: &Path| {
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let recording = Self { sent: text(sent), received: text(received) };
            if recording.is_answered() {
                return recording;
            }
            assert!(Instant::now() < deadline, "questions are left without an answer: {recording:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_answered(&self) -> bool {
        let count = |text: &str, is_counted: fn(&Value) -> bool| {
            let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            messages.filter(|message| message.get("id").is_some() && is_counted(message)).count()
        };
        let questions = count(&self.sent, |message| message.get("method").is_some());
        questions > 0 && count(&self.received, |message| message.get("method").is_none()) == questions
    }

    /// The server's lines.
    pub(crate) fn received(&self) -> &str {
        &self.received
    }

    /// With a folder of this one run under a name all runs share.
    pub(crate) fn with_place(self, folder: &str, name: &str) -> Self {
        Self { sent: self.sent.replace(folder, name), received: self.received.replace(folder, name) }
    }

    /// With other words from the server.
    pub(crate) fn with_received(&self, change: impl Fn(&str) -> String) -> Self {
        Self { sent: self.sent.clone(), received: change(&self.received) }
    }

    /// The first message on which two recordings differ.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let (ours, theirs) = (self.messages(), other.messages());
        for index in 0..ours.len().max(theirs.len()) {
            let (our, their) = (ours.get(index), theirs.get(index));
            if our != their {
                let show = |message: Option<&Value>| message.map_or("nothing".to_owned(), Value::to_string);
                return Some(format!("message {index}:\n  {}\n  {}", show(our), show(their)));
            }
        }
        None
    }

    fn messages(&self) -> Vec<Value> {
        let mut ids = BTreeMap::new();
        let mut messages = Vec::new();
        let parse = |text: &str| -> Vec<Value> {
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
                .collect()
        };
        for mut message in parse(&self.sent) {
            if message.get("method").is_some()
                && let Some(id) = message.get_mut("id")
            {
                let number = ids.len();
                ids.insert(id.to_string(), number);
                *id = number.into();
            }
            messages.push(message);
        }
        let (mut answers, mut others): (Vec<Value>, Vec<Value>) =
            parse(&self.received).into_iter().partition(|message| message.get("method").is_none());
        for answer in &mut answers {
            let id = answer.get_mut("id").expect("an answer has an id");
            *id = ids.get(&id.to_string()).map_or(Value::Null, |number| (*number).into());
        }
        answers.sort_by_key(|answer| answer.get("id").and_then(Value::as_u64));
        others.sort_by_key(Value::to_string);
        messages.extend(answers);
        messages.extend(others);
        messages.iter_mut().for_each(hide_times);
        messages
    }
}

/// Fails with the first difference.
pub(crate) fn assert_same(bare: &Recording, confined: &Recording) {
    if let Some(difference) = bare.difference(confined) {
        panic!("bare and confined differ at {difference}");
    }
}

/// Puts `<time>` in the place of every `YYYY-MM-DDThh:mm:ss` with what belongs to it, in all strings.
fn hide_times(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_times(text),
        Value::Array(values) => values.iter_mut().for_each(hide_times),
        Value::Object(fields) => fields.values_mut().for_each(hide_times),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn without_times(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = time_length(rest.as_bytes()) {
            out.push_str("<time>");
            rest = &rest[length..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// Length of a point in time at the beginning of `text`.
fn time_length(text: &[u8]) -> Option<usize> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let fits = |(shape, byte): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { shape == byte };
    let beginning = text.get(..SHAPE.len())?;
    if !SHAPE.iter().zip(beginning).all(fits) {
        return None;
    }
    let tail = text[SHAPE.len()..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || b".:+-Z".contains(byte))
        .count();
    Some(SHAPE.len() + tail)
}

mod tests {
    use super::*;

    fn recording(sent: &str, received: &str) -> Recording {
        Recording { sent: sent.to_owned(), received: received.to_owned() }
    }

    #[test]
    fn ids_times_and_overtaking_do_not_count() {
        let first = recording(
            "{\"id\":7,\"method\":\"a\"}\n{\"id\":\"x\",\"method\":\"b\"}\n",
            "{\"id\":7,\"result\":\"at 2026-01-02T03:04:05.678Z\"}\n{\"method\":\"n\"}\n{\"id\":\"x\",\"result\":2}\n",
        );
        let second = recording(
            "{\"id\":1,\"method\":\"a\"}\n{\"id\":2,\"method\":\"b\"}\n",
            "{\"method\":\"n\"}\n{\"id\":2,\"result\":2}\n{\"id\":1,\"result\":\"at 2027-11-12T13:14:15+09:00\"}\n",
        );
        assert_eq!(first.difference(&second), None);
    }

    #[test]
    fn answers_to_other_questions_missing_and_additional_messages_count() {
        let sent = "{\"id\":1,\"method\":\"a\"}\n{\"id\":2,\"method\":\"b\"}\n";
        let sound = recording(sent, "{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":2}\n{\"method\":\"n\"}\n");
        for received in [
            "{\"id\":2,\"result\":1}\n{\"id\":1,\"result\":2}\n{\"method\":\"n\"}\n",
            "{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":2}\n",
            "{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":2}\n{\"method\":\"n\"}\n{\"method\":\"n\"}\n",
            "{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":\"2\"}\n{\"method\":\"n\"}\n",
        ] {
            assert!(sound.difference(&recording(sent, received)).is_some(), "{received}");
        }
    }
}
