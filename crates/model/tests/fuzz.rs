//! Fuzz targets of every parser of untrusted bytes in this crate. In an ordinary run each replays its corpus
//! (`__fuzz__/<target>/corpus`) and tries some thousand inputs; `cargo bolero test <target>` goes on from there.

use std::path::{Path, PathBuf};

use model::config::{Operator, Place, Problems, Project};
use model::stdio::{Frame, Framer, STRAY_PREFIX};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

#[test]
fn toml_file() {
    bolero::check!().with_iterations(4000).with_max_len(4096).for_each(check_file);
}

#[test]
fn framing() {
    bolero::check!().with_iterations(8000).with_max_len(1024).for_each(check_stream);
}

/// Without this, an empty folder would pass for a replayed corpus.
#[test]
fn every_target_has_a_corpus() {
    for target in ["toml_file", "framing"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/__fuzz__/{target}/corpus"));
        let files: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 5, "{}", folder.display());
        for file in files {
            let bytes = std::fs::read(file).unwrap();
            if target == "framing" { check_stream(&bytes) } else { check_file(&bytes) }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    /// Random bytes are hardly ever TOML; these are pieces of it in any order.
    #[test]
    fn toml_pieces(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30)) {
        check_file(pieces.concat().as_bytes());
    }
}

const PIECES: &[&str] = &[
    "[servers.a]\n",
    "[servers.a.limits]\n",
    "[limits]\n",
    "[maximum]\n",
    "[code.limits]\n",
    "[[servers]]\n",
    "servers.b.",
    "limits.",
    "command",
    "hosts",
    "ports",
    "port",
    "transport",
    "'http'",
    "[upstreams.a]\n",
    "[egress]\n",
    "[allow]\n",
    "address",
    "mounts",
    "env",
    "data",
    "memory",
    "cpu",
    "require",
    "processes",
    "size",
    "path",
    " = ",
    "= ",
    "=",
    ".",
    "\n",
    "\n",
    ",",
    ", ",
    "[",
    "]",
    "{ ",
    " }",
    "'x'",
    "\"é\"",
    "'~/x'",
    "'../x'",
    "'a:rw'",
    "'1GiB'",
    "'memory'",
    "true",
    "1",
    "-5",
    "0.5",
    "nan",
    "inf",
    "1979-05-27",
    "9223372036854775808",
    "\"\\u0000\"",
    "\"\\u001b[1m\"",
    "'''\n\n'''",
    "# ü\n",
    "\u{feff}",
    "\r\n",
    "\t",
    "\u{1b}",
];

/// Neither resolver panics, and every problem has a place in the text and nothing for the terminal.
fn check_file(bytes: &[u8]) {
    let place = Place { folder: Path::new("/srv/app"), home: Some(Path::new("/home/ann")) };
    let project = Project::resolve("fumehood.toml", bytes, &place);
    if let Ok(project) = &project {
        for mount in project.servers().values().flat_map(model::config::Server::mounts) {
            assert!(mount.path.starts_with("/srv/app"));
        }
    }
    let operator = Operator::resolve("config.toml", bytes, place.home);
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split('\n').collect();
    for problems in [project.err(), operator.err()].into_iter().flatten() {
        assert!((1..=Problems::MOST).contains(&problems.as_slice().len()));
        for problem in problems.as_slice() {
            let line = lines.get(problem.line() - 1).map(|line| line.chars().count());
            assert!(line.is_some_and(|length| (1..=length + 1).contains(&problem.column())), "{problem}");
            let rendered = problem.render();
            assert!(!rendered.chars().any(|c| c.is_control() && c != '\n'), "{rendered:?}");
        }
    }
}

/// The first byte is the cap, the second how many of the next bytes say where to cut; the rest is the stream.
fn check_stream(input: &[u8]) {
    let [cap, cuts, rest @ ..] = input else { return };
    let cap = usize::from(*cap);
    let (cuts, stream) = rest.split_at(usize::from(*cuts % 16).min(rest.len()));
    let whole = frames(cap, &[stream]);
    assert_eq!(frames(cap, &chunks(stream, cuts)), whole);
    assert_eq!(frames(cap, &stream.chunks(1).collect::<Vec<_>>()), whole);
    compare(cap, stream, whole);
}

fn chunks<'a>(stream: &'a [u8], cuts: &[u8]) -> Vec<&'a [u8]> {
    let mut rest = stream;
    let mut chunks = Vec::new();
    for cut in cuts {
        let (chunk, after) = rest.split_at(usize::from(*cut).min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

fn frames(cap: usize, chunks: &[&[u8]]) -> Vec<Frame> {
    // What the scanner keeps of an oversized line: a prefix, and an id of 1 KiB at the most, doubled by growing.
    let bound = cap.max(STRAY_PREFIX + 2048) + 2;
    let mut framer = Framer::new(cap);
    let mut frames = Vec::new();
    for chunk in chunks {
        frames.extend(framer.push(chunk));
        assert!(framer.held() <= bound, "{} bytes held under a cap of {cap}", framer.held());
    }
    frames.extend(framer.finish());
    frames
}

/// Compares frames with what whole lines are to a JSON reader.
fn compare(cap: usize, stream: &[u8], frames: Vec<Frame>) {
    let mut frames = frames.into_iter();
    let lines = stream.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.iter().all(|byte| b" \t\r".contains(byte))) {
        let frame = frames.next();
        assert!(frame.is_some(), "a line without a frame: {line:?}");
        let content = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(content).ok();
        let valid = text.is_some_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
        // A reader that builds a tree refuses some JSON: deep nesting, huge numbers, half surrogates.
        let value = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        match frame {
            None => {}
            Some(Frame::Message(bytes)) => {
                assert_eq!(bytes, [line, b"\n"].concat());
                assert!(content.len() <= cap && valid);
                assert!(value.is_none_or(|value| is_json_rpc(&value)));
            }
            Some(Frame::Stray(stray)) => {
                let kept = if content.len() <= cap { content.len() } else { content.len().min(STRAY_PREFIX) };
                assert_eq!(
                    (Some(stray.text.as_slice()), stray.len),
                    (content.get(..kept), content.len() as u64)
                );
                assert!(value.is_none_or(|value| !is_json_rpc(&value)));
            }
            Some(Frame::Oversized(found)) => {
                assert!(content.len() > cap);
                assert_eq!(found.len, content.len() as u64);
                if let Some(value) = value {
                    assert!(is_json_rpc(&value));
                    assert_eq!(found.is_batch, value.is_array());
                    let id = value.get("id").filter(|id| id.is_string() || id.is_number() || id.is_null());
                    assert!(found.id.as_ref() == id || id.is_some_and(|id| id.to_string().len() > 200));
                }
            }
        }
    }
    assert_eq!(frames.next(), None);
}

fn is_json_rpc(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.get("jsonrpc").is_some_and(|version| version == "2.0"),
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| item.is_object() && is_json_rpc(item))
        }
        _ => false,
    }
}
