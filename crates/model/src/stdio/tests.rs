//! Frames of hand-written and of generated streams.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn frames(cap: usize, bytes: &[u8]) -> Vec<Frame> {
    let mut framer = Framer::new(cap);
    let mut frames = framer.push(bytes);
    frames.extend(framer.finish());
    frames
}

fn only(cap: usize, bytes: &[u8]) -> Frame {
    let mut frames = frames(cap, bytes);
    assert_eq!(frames.len(), 1, "{frames:?}");
    frames.remove(0)
}

fn oversized(line: &str) -> Oversized {
    match only(line.len() - 1, line.as_bytes()) {
        Frame::Oversized(oversized) => oversized,
        other => panic!("{other:?}"),
    }
}

fn stray(text: &str) -> Frame {
    Frame::Stray(Stray { text: text.as_bytes().to_vec(), len: text.len() as u64 })
}

#[test]
fn messages_pass_byte_for_byte() {
    for line in [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        "  { \"params\" : {\"a\" : [1e5, \"\\ud800\"]} , \"jsonrpc\" : \"2.0\" }\t\r\n",
        "{\"jsonrpc\":\"2.0\",\"result\":null,\"id\":null,\"x\":1,\"x\":2}\n",
        "[{\"jsonrpc\":\"2.0\"}, {\"jsonrpc\":\"2\\u002e0\"}]\n",
        "{\"json\\u0072pc\":\"2.0\"}\n",
    ] {
        assert_eq!(only(1000, line.as_bytes()), Frame::Message(line.as_bytes().to_vec()), "{line}");
    }
}

#[test]
fn a_last_line_gets_its_end() {
    assert_eq!(only(99, b"{\"jsonrpc\":\"2.0\"}"), Frame::Message(b"{\"jsonrpc\":\"2.0\"}\n".to_vec()));
    assert_eq!(only(99, b"bye"), stray("bye"));
    assert_eq!(frames(99, b""), []);
}

#[test]
fn blank_lines_are_nothing() {
    assert_eq!(frames(99, b"\n\r\n   \t\n\n"), []);
    assert_eq!(frames(2, b"          \n"), [], "longer than the cap");
}

#[test]
fn what_is_not_json_rpc_is_stray() {
    for line in [
        "Server listening on stdio",
        "42",
        "\"jsonrpc\"",
        "{}",
        "[]",
        "[1]",
        "{\"jsonrpc\":\"1.0\",\"id\":1}",
        "{\"jsonrpc\":2.0,\"id\":1}",
        "{\"params\":{\"jsonrpc\":\"2.0\"}}",
        "[\"2.0\"]",
        "[[\"2.0\"]]",
        "[{\"jsonrpc\":\"2.0\"},{}]",
        "[{\"jsonrpc\":\"2.0\"},[\"2.0\"]]",
        "{\"jsonrpc\":\"2.0\"} trailing",
        "{\"jsonrpc\":\"2.0\"}{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":01}",
        "{\"jsonrpc\":\"2.0\",\"id\":1",
        "\u{feff}{\"jsonrpc\":\"2.0\"}",
    ] {
        assert_eq!(only(1000, format!("{line}\r\n").as_bytes()), stray(line));
    }
    let not_utf8 = b"{\"jsonrpc\":\"2.0\",\"x\":\"\xff\"}\n";
    assert!(matches!(only(1000, not_utf8), Frame::Stray(_)));
    assert!(matches!(only(10, not_utf8), Frame::Stray(_)), "over the cap too");
}

#[test]
fn the_cap_counts_the_line_without_its_end() {
    let line = "{\"jsonrpc\":\"2.0\"}";
    for end in ["", "\n", "\r\n"] {
        let text = format!("{line}{end}");
        assert!(matches!(only(line.len(), text.as_bytes()), Frame::Message(_)), "{end:?}");
        match only(line.len() - 1, text.as_bytes()) {
            Frame::Oversized(found) => assert_eq!(found.len, line.len() as u64, "{end:?}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_oversized_message_is_known_by_its_own_id() {
    for (line, id, method, is_response) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\"}", Some(json!(7)), Some("a"), false),
        (
            "{\"method\":\"a\",\"params\":{\"id\":1},\"id\":\"x\",\"jsonrpc\":\"2.0\"}",
            Some(json!("x")),
            Some("a"),
            false,
        ),
        (
            "{\"params\":{\"a\":[{\"id\":1}],\"b\":\"\\\"id\\\":2\"},\"jsonrpc\":\"2.0\",\"id\":-3.5e1}",
            Some(json!(-35.0)),
            None,
            false,
        ),
        (
            "{\"a\":\"},\\\"id\\\":9,{\\\\\",\"jsonrpc\":\"2.0\",\"result\":{},\"id\":\"\\u00e9\\\"\"}",
            Some(json!("é\"")),
            None,
            true,
        ),
        ("{\"jsonrpc\":\"2.0\",\"i\\u0064\":1,\"error\":{\"code\":1}}", Some(json!(1)), None, true),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", Some(Value::Null), Some("a"), false),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"a\",\"result\":1}",
            Some(json!(2)),
            Some("a"),
            false,
        ),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"notify\"}", None, Some("notify"), false),
        ("{\"jsonrpc\":\"2.0\",\"id\":{\"id\":1},\"method\":\"a\"}", None, Some("a"), false),
        ("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":5}", None, None, false),
        (" { \"jsonrpc\" : \"2.0\" , \"id\" : 5 , \"method\" : \"a\" } ", Some(json!(5)), Some("a"), false),
    ] {
        let found = oversized(line);
        assert_eq!(
            (found.id, found.method.as_deref(), found.is_response),
            (id, method, is_response),
            "{line}"
        );
        assert_eq!(found.len, line.len() as u64);
    }
}

#[test]
fn an_id_or_method_too_long_to_keep_is_unknown() {
    let line = |id: usize, method: usize| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"{}\"}}", "i".repeat(id), "m".repeat(method))
    };
    let found = oversized(&line(LONGEST_ID - 2, LONGEST_METHOD - 2));
    assert_eq!((found.id.is_some(), found.method.is_some()), (true, true));
    let found = oversized(&line(LONGEST_ID - 1, LONGEST_METHOD - 1));
    assert_eq!((found.id, found.method), (None, None));
    // The beginning of a number is a number, but not this one.
    let digits = "0".repeat(LONGEST_ID);
    assert_eq!(oversized(&format!("{{\"jsonrpc\":\"2.0\",\"id\":0.{digits}1,\"method\":\"m\"}}")).id, None);
}

#[test]
fn an_oversized_batch_is_a_batch() {
    let found = oversized(
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}, {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}]",
    );
    assert_eq!((found.id.clone(), found.is_batch, found.is_response), (None, true, false));
    assert!(found.answer(1).is_some());
    let found = oversized("[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}]");
    assert_eq!(
        (found.is_batch, found.is_response, found.answer(1), found.replacement(1)),
        (true, true, None, None)
    );
    for line in
        ["[{\"jsonrpc\":\"2.0\"},{}]", "[{\"jsonrpc\":\"2.0\"},[]]", "[]        ", "[{\"jsonrpc\":\"2.0\"},]"]
    {
        assert!(matches!(only(5, line.as_bytes()), Frame::Stray(_)), "{line}");
    }
}

#[test]
fn a_long_stray_line_keeps_its_beginning_only() {
    let line = "x".repeat(10_000);
    match only(1000, line.as_bytes()) {
        Frame::Stray(stray) => {
            assert_eq!((stray.text.as_slice(), stray.len), (&line.as_bytes()[..STRAY_PREFIX], 10_000));
        }
        other => panic!("{other:?}"),
    }
    // JSON-RPC but for its end: what is cut off answers nothing.
    assert!(matches!(only(5, b"{\"jsonrpc\":\"2.0\",\"id\":1"), Frame::Stray(_)));
}

#[test]
fn a_gibibyte_without_a_line_end_takes_no_memory() {
    let mut framer = Framer::new(1 << 20);
    let mut start = b"{\"jsonrpc\":\"2.0\",\"result\":\"".to_vec();
    start.resize(1 << 20, b'a');
    let filler = vec![b'a'; 1 << 20];
    assert_eq!(framer.push(&start), []);
    for _ in 0..1023 {
        assert_eq!(framer.push(&filler), []);
        assert!(framer.held() <= (1 << 20) + 2);
    }
    let frames = framer.push(b"\",\"id\":99}\n{\"jsonrpc\":\"2.0\",\"id\":100}\n");
    match frames.as_slice() {
        [Frame::Oversized(found), Frame::Message(_)] => {
            assert_eq!((found.id.as_ref(), found.is_response), (Some(&json!(99)), true));
            assert_eq!(found.len, (1 << 30) + 10);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_that_grows_slowly_never_reserves_more_than_the_cap() {
    let mut framer = Framer::new(10_000);
    for _ in 0..3000 {
        assert_eq!(framer.push(b"1234567"), []);
        assert!(framer.held() <= 10_002, "{}", framer.held());
    }
}

#[test]
fn answers_go_to_whoever_waits() {
    let parsed = |line: Option<Vec<u8>>| {
        let line = line.expect("a line");
        assert_eq!(line.split(|byte| *byte == b'\n').count(), 2, "one line");
        assert_eq!(only(10_000, &line), Frame::Message(line.clone()), "it is JSON-RPC itself");
        serde_json::from_slice::<Value>(&line).unwrap()
    };
    let request = oversized("{\"jsonrpc\":\"2.0\",\"id\":\"a\\nb\",\"method\":\"m\"}");
    let answer = parsed(request.answer(10));
    assert_eq!(answer["id"], json!("a\nb"));
    assert_eq!(answer["error"]["code"], json!(MESSAGE_TOO_LARGE));
    assert_eq!(answer["error"]["data"], json!({ "bytes": 42, "cap": 10 }));
    assert_eq!(
        answer["error"]["message"],
        json!("the request has 42 bytes, more than the 10 that fumehood passes")
    );
    assert_eq!(request.replacement(10), None);

    let response = oversized("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
    assert_eq!(parsed(response.replacement(10))["id"], json!(3));
    assert_eq!(response.answer(10), None);

    let notification = oversized("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
    assert_eq!((notification.answer(10), notification.replacement(10)), (None, None));
    assert!((-32_099..=-32_000).contains(&MESSAGE_TOO_LARGE));
}

/// Any JSON, with members that look like those of a message.
fn any_json() -> impl Strategy<Value = Value> {
    let name =
        prop_oneof![Just("id".to_owned()), Just("jsonrpc".to_owned()), Just("method".to_owned()), ".{0,4}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!("2.0")),
        "[\"\\\\{}:,\\[\\]a-zé]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A message with its members in any order, blanks between them, and the members that should be found.
fn any_message() -> impl Strategy<Value = (String, Value)> {
    let id = prop_oneof![Just(None), any_json().prop_map(Some), any::<u32>().prop_map(|id| Some(json!(id)))];
    let outcome = prop_oneof![Just(None), any_json().prop_map(Some)];
    (id, proptest::option::of("[a-z/]{1,9}"), outcome, any_json(), "[ \t]{0,2}")
        .prop_flat_map(|(id, method, outcome, params, blank)| {
            let mut members = vec![("jsonrpc", json!("2.0")), ("params", params)];
            members.extend(id.map(|id| ("id", id)));
            members.extend(method.map(|method| ("method", json!(method))));
            members.extend(outcome.map(|outcome| ("result", outcome)));
            (Just(members).prop_shuffle(), Just(blank))
        })
        .prop_map(|(members, blank)| {
            let inside: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{blank}\"{name}\"{blank}:{blank}{value}{blank}"))
                .collect();
            let text = format!("{blank}{{{}}}{blank}", inside.join(","));
            let value = serde_json::from_str(&text).unwrap();
            (text, value)
        })
}

proptest! {
    /// What is found in a message that is never held is what a JSON reader finds in the whole of it.
    #[test]
    fn an_oversized_message_always_keeps_its_identity((text, value) in any_message(), cap in 0_usize..20) {
        match only(cap, text.as_bytes()) {
            Frame::Oversized(found) => {
                let id = value.get("id").filter(|id| id.is_string() || id.is_number() || id.is_null());
                prop_assert_eq!(found.id.as_ref(), id);
                prop_assert_eq!(found.method.as_deref(), value.get("method").and_then(Value::as_str));
                prop_assert_eq!(found.is_response, value.get("result").is_some() && value.get("method").is_none());
                prop_assert_eq!(found.len, text.len() as u64);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    /// A stream gives the same frames however it is cut.
    #[test]
    fn frames_never_depend_on_the_chunks(
        lines in proptest::collection::vec(
            (prop_oneof![any_message().prop_map(|(text, _)| text), ".{0,30}"], prop_oneof![Just("\n"), Just("\r\n")]), 0..5),
        cap in 0_usize..200, cuts in proptest::collection::vec(1_usize..40, 1..20),
    ) {
        let stream: Vec<u8> = lines.iter().flat_map(|(line, end)| [line.as_bytes(), end.as_bytes()].concat()).collect();
        let mut framer = Framer::new(cap);
        let (mut cut, mut rest) = (Vec::new(), stream.as_slice());
        for size in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            cut.extend(framer.push(chunk));
            rest = after;
        }
        cut.extend(framer.finish());
        prop_assert_eq!(cut, frames(cap, &stream));
    }
}
