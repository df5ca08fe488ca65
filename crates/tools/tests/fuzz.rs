//! Fuzz targets of every parser of untrusted bytes in this crate. In an ordinary run each replays its corpus
//! (`__fuzz__/<target>/corpus`) and tries some thousand inputs; `cargo bolero test <target>` goes on from there.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "the code of tests may panic"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::profile::Profile;
use proptest::prelude::*;
use serde_json::Value;
use tools::introspect::Introspection;
use tools::json::{self, JsonError};
use tools::lock::{Lock, merge};
use tools::surface::{Kind, Parts, Surface};

#[test]
fn json_text() {
    bolero::check!().with_iterations(4000).with_max_len(1024).for_each(|bytes| {
        check_json(bytes);
    });
}

#[test]
fn stored_surface() {
    bolero::check!().with_iterations(1000).with_max_len(4096).for_each(|bytes| {
        check_surface(bytes);
    });
}

#[test]
fn lock_file() {
    bolero::check!().with_iterations(2000).with_max_len(4096).for_each(|bytes| {
        check_lock(bytes);
    });
}

#[test]
fn conversation() {
    bolero::check!().with_iterations(1000).with_max_len(4096).for_each(|bytes| {
        check_conversation(bytes);
    });
}

/// What a target does with bytes; whether they were taken.
type Check = fn(&[u8]) -> bool;

const TARGETS: [(&str, Check); 4] = [
    ("json_text", check_json),
    ("stored_surface", check_surface),
    ("lock_file", check_lock),
    ("conversation", check_conversation),
];

/// Without this, an empty folder would pass for a replayed corpus, and one where all is refused for a good one.
#[test]
fn every_target_has_a_corpus() {
    for (target, check) in TARGETS {
        let files = corpus(target);
        assert!(files.len() >= 5, "{target}");
        let taken = files.iter().filter(|file| check(&std::fs::read(file).unwrap())).count();
        assert!((1..files.len()).contains(&taken), "{target}: {taken} of {} are taken", files.len());
    }
}

fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/__fuzz__/{target}/corpus"));
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    files.collect::<BTreeSet<PathBuf>>().into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    /// Random bytes are hardly ever well formed; these are files of the corpora with pieces of others in them.
    #[test]
    fn spliced(
        target in 0..TARGETS.len(),
        files in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..40_usize),
    ) {
        let (name, check) = TARGETS[target];
        let all = corpus(name);
        let [one, other] = [files.0, files.1].map(|file| std::fs::read(file.get(&all)).unwrap());
        let start = cuts.0.index(one.len() + 1);
        let end = (start + cuts.3).min(one.len());
        let from = cuts.1.index(other.len() + 1);
        let to = from + cuts.2.index(other.len() - from + 1).min(60);
        check(&[&one[..start], &other[from..to], &one[end..]].concat());
    }
}

/// What is read has one way to be written, which is read as the same; and nothing is refused that a common reader
/// takes, keys that stand twice aside.
fn check_json(bytes: &[u8]) -> bool {
    let common = serde_json::from_slice::<Value>(bytes);
    match json::parse(bytes) {
        Ok(value) => {
            let canonical = json::canonical(&value).unwrap();
            let again = json::parse(&canonical).unwrap();
            assert_eq!(json::canonical(&again).unwrap(), canonical);
            assert_eq!(common.unwrap(), value);
            true
        }
        Err(JsonError::Duplicate { line, path }) => {
            assert!(line <= bytes.split(|byte| *byte == b'\n').count());
            assert!(!path.chars().any(char::is_control));
            false
        }
        Err(error) => {
            assert!(common.is_err(), "{error}");
            assert!(!error.to_string().chars().any(char::is_control), "{error}");
            false
        }
    }
}

/// What is taken keeps its invariants and survives being stored.
fn check_surface(bytes: &[u8]) -> bool {
    let Ok(value) = json::parse(bytes) else { return false };
    let list = |key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let parts = Parts {
        profile: Profile::plain(),
        protocol_version: "2025-11-25".to_owned(),
        server_info: Value::Object(serde_json::Map::new()),
        capabilities: Value::Object(serde_json::Map::new()),
        instructions: value.get("instructions").and_then(Value::as_str).map(str::to_owned),
        tools: list("tools"),
        prompts: list("prompts"),
        resources: list("resources"),
        resource_templates: list("resourceTemplates"),
    };
    let entries: usize = Kind::ALL.into_iter().map(|kind| list(kind.list()).len()).sum();
    if let Ok(surface) = Surface::from_parts(parts) {
        let offered: usize = Kind::ALL.into_iter().map(|kind| surface.list(kind).len()).sum();
        assert_eq!(offered + surface.quarantined().len(), entries);
        check_invariants(&surface);
    }
    match Surface::from_stored(value) {
        Ok(surface) => {
            check_invariants(&surface);
            true
        }
        Err(error) => {
            assert!(!error.to_string().chars().any(char::is_control), "{error}");
            false
        }
    }
}

fn check_invariants(surface: &Surface) {
    for kind in Kind::ALL {
        let name = |entry: &&Value| entry.get(kind.key()).and_then(Value::as_str).map(str::to_owned).unwrap();
        let names: Vec<Vec<u16>> =
            surface.list(kind).iter().map(|entry| name(entry).encode_utf16().collect()).collect();
        assert!(names.is_sorted_by(|a, b| a < b));
    }
    let text = surface.to_text();
    assert_eq!(&Surface::from_text(text.as_bytes()).unwrap(), surface);
    assert_eq!(&Surface::from_accepted(text.as_bytes(), surface.fingerprint()).unwrap(), surface);
}

/// What is read is written back byte for byte, what is read in another spelling is put in order, and what is refused
/// has a line.
fn check_lock(bytes: &[u8]) -> bool {
    if let Ok(lock) = Lock::parse_any_spelling("x.lock", bytes) {
        assert_eq!(Lock::parse("x.lock", lock.to_text().as_bytes()).unwrap(), lock);
    }
    match Lock::parse("x.lock", bytes) {
        Ok(lock) => {
            let given = String::from_utf8(bytes.to_vec()).unwrap();
            let comments: usize =
                given.split_inclusive('\n').take_while(|line| line.starts_with('#')).map(str::len).sum();
            let text = lock.to_text();
            let (_, body) = text.split_once('\n').unwrap();
            assert_eq!(&given[comments..], body);
            let merged = merge(b"", bytes, bytes).unwrap();
            assert_eq!(merged.text(), text);
            true
        }
        Err(error) => {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&error.line()), "{error}");
            assert!(!error.to_string().chars().any(char::is_control), "{error}");
            false
        }
    }
}

/// Each line is a message of the server. Whatever it says, as many requests are open as lists there are.
fn check_conversation(bytes: &[u8]) -> bool {
    let profile = "elicitation+roots".parse().unwrap();
    let mut reading = Introspection::new(&profile, "t-");
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut keep = |said: Vec<Value>| {
        assert!(said.len() <= 5);
        for message in said {
            assert_eq!(message["jsonrpc"], "2.0");
            if message.get("method").is_some() && message.get("id").is_some() {
                assert!(open.insert(message["id"].as_str().unwrap().to_owned()), "an id twice");
            }
        }
    };
    keep(reading.begin());
    for line in bytes.split(|byte| *byte == b'\n').take(64) {
        let Ok(message) = json::parse(line) else { continue };
        keep(reading.push(&message));
        if reading.wants_again() {
            assert!(!reading.has_settled());
            keep(reading.again());
        }
    }
    let result = reading.result();
    assert!(result.is_some() || !reading.has_settled());
    if let Some(Ok(surface)) = &result {
        check_invariants(surface);
    }
    matches!(result, Some(Ok(_)))
}
