use serde_json::json;

use super::*;

fn refused(body: &str) -> Malformed {
    read(body.as_bytes()).unwrap_err()
}

#[test]
fn the_three_shapes() {
    let Message::Request(request) =
        read(br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t","_meta":{"k":1}}}"#)
            .unwrap()
    else {
        panic!("no request")
    };
    assert_eq!(request.id, json!("a"));
    assert_eq!(request.said.method, "tools/call");
    assert_eq!(Value::Object(request.said.params), json!({"name": "t"}));
    assert_eq!(Value::Object(request.said.meta), json!({"k": 1}));
    let said = read(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
    assert!(matches!(said, Message::Notification(said) if !said.has_meta));
    let answer = read(br#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#).unwrap();
    assert_eq!(
        answer,
        Message::Answer { id: json!(7), outcome: json!({"error": {"code": 1, "message": "no"}}) }
    );
}

#[test]
fn what_is_no_message() {
    for (body, code, has_id, why) in [
        ("{", PARSE_ERROR, false, "EOF"),
        ("[]", INVALID_REQUEST, false, "batches"),
        ("7", INVALID_REQUEST, false, "an object"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, INVALID_REQUEST, false, "stands twice"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}"#,
            INVALID_REQUEST,
            false,
            "stands twice",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}"#,
            INVALID_REQUEST,
            false,
            "looks like `method`",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"ID":2,"method":"a"}"#, INVALID_REQUEST, false, "looks like `id`"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"a","Name":"b"}}"#,
            INVALID_PARAMS,
            true,
            "looks like `name`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"request\u017ftate":"b"}}"#,
            INVALID_PARAMS,
            true,
            "looks like `requestState`",
        ),
        (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, INVALID_REQUEST, false, "an `id`"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, INVALID_REQUEST, false, "an `id`"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, INVALID_REQUEST, false, "an `id`"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, INVALID_REQUEST, true, "jsonrpc"),
        (r#"{"id":1,"method":"a"}"#, INVALID_REQUEST, true, "jsonrpc"),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST, true, "no text"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, INVALID_REQUEST, true, "both a question"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, INVALID_REQUEST, false, "both a result"),
        (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST, false, "no `method`"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, INVALID_REQUEST, false, "without an `id`"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#, INVALID_PARAMS, true, "no object"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":7}}"#, INVALID_PARAMS, true, "no object"),
    ] {
        let fault = refused(body);
        assert_eq!((fault.code, fault.id.is_some()), (code, has_id), "{body}: {}", fault.why);
        assert!(fault.why.contains(why), "{body}: {}", fault.why);
    }
    let long = "x".repeat(LONGEST_ID + 1);
    let fault = refused(&format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"a"}}"#));
    assert!(fault.why.contains("an `id`"));
}
