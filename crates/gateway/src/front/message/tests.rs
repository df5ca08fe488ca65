use super::*;

fn id(value: &Value) -> Id {
    Id::of(value).unwrap()
}

#[test]
fn a_line_is_one_of_three_things() {
    let seven = || id(&json!(7));
    for (line, shape) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"id":1,"ID":2}}"#,
            Shape::Request { id: seven(), method: "a".to_owned() },
        ),
        (r#"{"jsonrpc":"2.0","id":7,"result":{"id":1,"id":2}}"#, Shape::Answer { id: seven() }),
        (r#"{"id":7,"error":null,"jsonrpc":"2.0","more":1}"#, Shape::Answer { id: seven() }),
        (" {\"jsonrpc\":\"2.0\",\t\"method\":\"n\"}\r\n", Shape::Notification { method: "n".to_owned() }),
    ] {
        assert_eq!(Shape::of(line.as_bytes()), Ok(shape), "{line}");
    }
}

/// A line, the id that an answer to it may have, whether it is an answer itself, the code, and what is said of it.
#[test]
fn a_line_that_is_not_the_same_to_every_reader_is_none() {
    const PARSE: i64 = PARSE_ERROR;
    const INVALID: i64 = INVALID_REQUEST;
    let many = format!("{{{}}}", (0..70).map(|n| format!("\"m{n}\":0")).collect::<Vec<_>>().join(","));
    for (line, id, is_answer, code, why) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"id":2}"#, None, true, INVALID, "`id` is there twice"),
        (r#"{"jsonrpc":"2.0","result":{},"\u0069d":1,"id":2}"#, None, true, INVALID, "`id` is there twice"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            Some(1),
            false,
            INVALID,
            "`method` is there twice",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","ID":2}"#, None, false, INVALID, "`ID` looks like `id`"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}"#,
            Some(1),
            false,
            INVALID,
            "looks like `method`",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"re\u{17f}ult\":1,\"method\":\"a\"}",
            Some(1),
            false,
            INVALID,
            "like `result`",
        ),
        (r#"{"id":1,"method":"a"}"#, Some(1), false, INVALID, "`jsonrpc`"),
        (r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#, Some(1), false, INVALID, "`jsonrpc`"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, None, false, INVALID, "an `id` is"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, None, false, INVALID, "an `id` is"),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#, None, false, INVALID, "an `id` is"),
        (r#"{"jsonrpc":"2.0","id":1,"method":["a"]}"#, Some(1), false, INVALID, "`method` is no text"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, Some(1), false, INVALID, "both a question"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{},"result":{}}"#, Some(1), true, INVALID, "both a result"),
        (r#"{"jsonrpc":"2.0","id":1}"#, Some(1), false, INVALID, "no answer"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, None, true, INVALID, "without an `id`"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, None, false, INVALID, "batches"),
        ("7", None, false, INVALID, "one JSON-RPC message"),
        ("{", None, false, PARSE, ""),
        ("", None, false, PARSE, ""),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\n{}}", None, false, PARSE, "one line"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\r{}}", None, false, PARSE, "one line"),
        (&many, None, false, INVALID, "more than 64"),
    ] {
        let found = Shape::of(line.as_bytes()).unwrap_err();
        let id = id.map(|number: i64| tests::id(&json!(number)));
        assert_eq!((&found.id, found.is_answer, found.code), (&id, is_answer, code), "{line}: {found:?}");
        assert!(found.why.contains(why), "{line}: {}", found.why);
    }
    assert!(Shape::of(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}").is_err());
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    assert!(Shape::of(long.as_bytes()).unwrap_err().why.len() < 1_000);
}

#[test]
fn an_id_is_answered_as_it_was_asked() {
    for value in [json!("a\"b"), json!(7), json!(-1), json!(u64::MAX), json!("")] {
        assert_eq!(id(&value).value(), value);
    }
    for value in [Value::Null, json!([]), json!(true), json!(1.0), json!("x".repeat(LONGEST_ID + 1))] {
        assert_eq!(Id::of(&value), None);
    }
    assert_ne!(id(&json!("1")), id(&json!(1)));
    assert!(id(&json!("ours-1")).starts_with("ours-") && !id(&json!(1)).starts_with("1"));
}
