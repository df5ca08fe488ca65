//! Fuzz target of the front: any lines of a client and of a server, in any order. In an ordinary run it replays its corpus
//! (`__fuzz__/sessions/corpus`) and tries some thousand inputs; `cargo bolero test sessions` goes on from there.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the code of tests may panic"
)]

use std::path::Path;

use gateway::front::{Front, Notice, Order};
use model::profile::Profile;
use proptest::prelude::*;
use serde_json::{Value, json};
use tools::introspect::Introspection;
use tools::surface::Surface;

const PREFIX: &str = "ours-";

#[test]
fn sessions() {
    let surface = surface();
    bolero::check!()
        .with_iterations(4_000)
        .with_max_len(4_096)
        .for_each(|input: &[u8]| converse(input, &surface));
}

/// Without this, an empty folder would pass for a replayed corpus.
#[test]
fn the_target_has_a_corpus() {
    let surface = surface();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/__fuzz__/sessions/corpus");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 5);
    for file in files {
        converse(&std::fs::read(file).unwrap(), &surface);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    /// Random bytes are hardly ever messages; these are pieces of such in any order.
    #[test]
    fn pieces_of_messages(
        begun in 0..=BEGINNING.len(),
        lines in proptest::collection::vec((proptest::sample::select(MARKS), message()), 0..40),
    ) {
        let beginning = BEGINNING.iter().take(begun).map(|line| (*line).to_owned());
        let input: Vec<String> =
            beginning.chain(lines.iter().map(|(mark, line)| format!("{mark}{line}"))).collect();
        converse(input.join("\n").as_bytes(), &surface());
    }
}

/// A session up to where calls pass, which chance alone would hardly find.
const BEGINNING: &[&str] = &[
    r#"c{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"elicitation":{},"roots":{}}}}"#,
    r#"c{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"c{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
    "u",
    r#"s{"jsonrpc":"2.0","id":"ours-1-0","result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}}}}"#,
    r#"s{"jsonrpc":"2.0","id":"ours-1-1","result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}"#,
];

/// The beginning begins what it says.
#[test]
fn the_beginning_of_a_session_opens_it() {
    let mut front = Front::accepted(surface(), profile(), PREFIX.to_owned());
    for line in BEGINNING {
        match line.split_at(1) {
            ("c", line) => front.client(line.as_bytes()),
            ("s", line) => front.server(line.as_bytes()),
            _ => front.up(),
        }
    }
    assert!(front.is_open());
}

const MARKS: &[&str] = &["c", "c", "c", "s", "s", "s", "u", "t", "g", "a", "n"];

const MEMBERS: &[&str] = &[
    r#""jsonrpc":"2.0""#,
    r#""jsonrpc":"2.0""#,
    r#""id":1"#,
    r#""id":"ours-1-0""#,
    r#""id":"ours-1-1""#,
    r#""id":null"#,
    r#""ID":2"#,
    r#""method":"initialize""#,
    r#""method":"notifications/initialized""#,
    r#""method":"notifications/cancelled""#,
    r#""method":"notifications/tools/list_changed""#,
    r#""method":"tools/call""#,
    r#""method":"tools/list""#,
    r#""method":"resources/read""#,
    r#""method":"elicitation/create""#,
    r#""params":{"name":"a"}"#,
    r#""params":{"name":"b","Name":"a"}"#,
    r#""params":{"requestId":1}"#,
    r#""params":{"capabilities":{"elicitation":{},"roots":{}},"message":"m"}"#,
    r#""result":{}"#,
    r#""result":{"tools":[]}"#,
    r#""result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}"#,
    r#""result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}}}"#,
    r#""error":{"code":-32601,"message":"no"}"#,
    "\r",
];

fn message() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(MEMBERS), 0..6).prop_map(|members| {
        let members: Vec<&str> = members.into_iter().collect();
        format!("{{{}}}", members.join(","))
    })
}

fn profile() -> Profile {
    "elicitation+roots".parse().unwrap()
}

fn surface() -> Surface {
    let mut reading = Introspection::new(&profile(), "review-");
    let answer =
        |asked: &Value, result: Value| json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
    let hello = reading.begin();
    let said = json!({
        "protocolVersion": "2025-11-25",
        "serverInfo": { "name": "s", "version": "1" },
        "capabilities": { "tools": {} }
    });
    let asked = reading.push(&answer(&hello[0], said));
    let tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
    reading.push(&answer(&asked[1], json!({ "tools": [tool] })));
    reading.result().unwrap().unwrap()
}

/// The same lines for one client, for many callers of ours, and for many callers where everything passes.
fn converse(input: &[u8], surface: &Surface) {
    let front = || Front::accepted(surface.clone(), surface.client().clone(), PREFIX.to_owned());
    converse_with(front(), Front::client, input, surface);
    converse_with(front().for_many(), ask, input, surface);
    converse_with(front().for_many().passing_through(), ask, input, surface);
}

/// A line that could be a request of ours is one.
fn ask(front: &mut Front, line: &[u8]) {
    let message: Value = serde_json::from_slice(line).unwrap_or_default();
    let (Some(method), false) = (message["method"].as_str(), message["id"].is_null()) else {
        return front.client(line);
    };
    let id = message["id"].to_string();
    let ours = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": message["params"] });
    front.ask(&id, method, &message["params"], format!("{ours}\n").into_bytes());
    match line.len() % 5 {
        0 => front.withdraw(&id, "it is not wanted"),
        1 => front.forget(&id),
        _ => {}
    }
}

/// The first byte of each line says whose it is, or what happens. Nothing panics, every line out is one message, and
/// what comes out is no more than what went in and what was accepted account for.
fn converse_with(mut front: Front, say: fn(&mut Front, &[u8]), input: &[u8], surface: &Surface) {
    let profile = surface.client().clone();
    let notice = Notice { server: "s".to_owned(), reason: "r".to_owned(), remedy: "m".to_owned() };
    let mut read = 0;
    for (number, line) in input.split(|byte| *byte == b'\n').enumerate() {
        let Some((mark, line)) = line.split_first() else { continue };
        read += line.len();
        match mark {
            b'u' => front.up(),
            b't' => front.settled(),
            b'g' => front.gone("it ended"),
            b'a' => front.accept(surface.clone(), profile.clone()),
            b'n' => front.notice(notice.clone()),
            b'x' => front.close(notice.clone()),
            b's' => front.server(line),
            _ => say(&mut front, line),
        }
        let (mut orders, mut bytes) = (0, 0);
        while let Some(order) = front.next_order() {
            orders += 1;
            match order {
                Order::ToClient(line) | Order::ToServer(line) => {
                    let text = std::str::from_utf8(&line).unwrap().strip_suffix('\n').unwrap();
                    assert!(!text.trim_end_matches('\r').contains(['\n', '\r']), "two lines: {text:?}");
                    assert!(
                        serde_json::from_str::<Value>(text).unwrap_or_default().is_object()
                            || text.contains(r#""result""#)
                    );
                    bytes += line.len();
                }
                Order::Log(said) | Order::Refused { said, .. } => bytes += said.len(),
                Order::Start | Order::Settle | Order::Same | Order::Changed { .. } => {}
                Order::Walk { .. } | Order::Answered { .. } | Order::Over { .. } => {
                    panic!("of a front that hands nothing out")
                }
            }
        }
        // What waited goes on at once, and so do the answers to it.
        assert!(orders <= 20 + 2 * number, "{orders} orders for one line");
        assert!(bytes <= 8_192 + 4 * read, "{bytes} bytes for one line");
        assert!(!(front.is_closed() && (front.is_waiting() || front.is_open())));
    }
}
