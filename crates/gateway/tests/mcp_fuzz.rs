//! Fuzz targets of the face for MCP: any body, and any state that a client may bring along. In an ordinary run they replay
//! their corpora (`__fuzz__/*/corpus`) and try some thousand inputs; `cargo bolero test envelopes` goes on from there.

#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::{path::Path, time::SystemTime};

use gateway::mcp::{
    envelope::{Message, Said, read},
    state::{LIFE, Round, Seal, State},
};
use serde_json::{Map, Value};

#[test]
fn envelopes() {
    bolero::check!().with_iterations(20_000).with_max_len(2_048).for_each(|input: &[u8]| one_reading(input));
}

#[test]
fn states() {
    let (seal, now) = (Seal::new().unwrap(), SystemTime::now());
    let text = seal.seal(state(), now).unwrap();
    bolero::check!()
        .with_iterations(20_000)
        .with_max_len(1_024)
        .for_each(|input: &[u8]| never_opens(input, &seal, &text, now));
    assert!(seal.open(&text, "alice", "request", now).is_ok(), "it was used up by something else");
}

/// Without this, an empty folder would pass for a replayed corpus.
#[test]
fn the_targets_have_corpora() {
    let (seal, now) = (Seal::new().unwrap(), SystemTime::now());
    let text = seal.seal(state(), now).unwrap();
    for target in ["envelopes", "states"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/__fuzz__").join(target).join("corpus");
        let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 3, "{target}");
        for file in files {
            let input = std::fs::read(file).unwrap();
            one_reading(&input);
            never_opens(&input, &seal, &text, now);
        }
    }
}

fn state() -> State {
    State {
        principal: "alice".to_owned(),
        request: "request".to_owned(),
        round: Round::Held { call: "call".to_owned() },
    }
}

/// What is taken for a message is the same one to any other reader of JSON.
fn one_reading(body: &[u8]) {
    let message = match read(body) {
        Ok(message) => message,
        Err(malformed) => {
            assert!(!malformed.why.is_empty() && malformed.code < 0);
            return;
        }
    };
    let other: Map<String, Value> = serde_json::from_slice(body).unwrap();
    assert_eq!(other.get("jsonrpc"), Some(&Value::from("2.0")));
    let folded: std::collections::BTreeSet<String> = other.keys().map(|key| key.to_lowercase()).collect();
    assert!(
        folded.contains("id") == other.contains_key("id")
            && folded.contains("method") == other.contains_key("method")
    );
    match message {
        Message::Request(request) => {
            assert_eq!(Some(&request.id), other.get("id"));
            same(&request.said, &other);
        }
        Message::Notification(said) => {
            assert!(!other.contains_key("id"));
            same(&said, &other);
        }
        Message::Answer { id, outcome } => {
            assert_eq!(Some(&id), other.get("id"));
            assert!(other.get("result") == Some(&outcome) || outcome.get("error") == other.get("error"));
        }
    }
}

fn same(said: &Said, other: &Map<String, Value>) {
    assert_eq!(Some(said.method.as_str()), other.get("method").and_then(Value::as_str));
    let mut params = said.params.clone();
    if said.has_meta {
        params.insert("_meta".to_owned(), Value::Object(said.meta.clone()));
    }
    let theirs = other.get("params").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    assert_eq!(Value::Object(params), theirs);
}

/// Nothing but the very text that was sealed is ever opened: neither bytes of any kind nor that text with some of them in it.
fn never_opens(input: &[u8], seal: &Seal, text: &str, now: SystemTime) {
    let tries = [
        String::from_utf8_lossy(input).into_owned(),
        replaced(text, input),
        format!("{text}{}", String::from_utf8_lossy(input)),
    ];
    for tried in tries.iter().filter(|tried| *tried != text) {
        assert!(seal.open(tried, "alice", "request", now).is_err(), "it opens {tried:?}");
    }
    assert!(seal.open(text, "alice", "other", now).is_err());
    assert!(seal.open(text, "bob", "request", now).is_err());
    assert!(seal.open(text, "alice", "request", now + LIFE).is_err());
}

/// The text with one byte after the other replaced: the input is pairs of a place and a byte of base64.
fn replaced(text: &str, input: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=.";
    let mut bytes = text.as_bytes().to_vec();
    for pair in input.chunks_exact(2) {
        if let [place, letter] = pair {
            let place = usize::from(*place) * 7 % bytes.len();
            if let (Some(byte), Some(letter)) =
                (bytes.get_mut(place), LETTERS.get(usize::from(*letter) % LETTERS.len()))
            {
                *byte = *letter;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}
