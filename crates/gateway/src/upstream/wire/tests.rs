use super::*;

#[test]
fn a_line_names_its_call_and_no_other_line_does() {
    let ids = Ids::new("0f");
    let line = ids.request(&ids.of(17), "tools/call", &json!({ "name": "x" }));
    assert_eq!(
        String::from_utf8(line.clone()).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"id\":\"c0f-17\",\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\n"
    );
    assert_eq!(ids.number_of_line(&line), Some(17));
    assert_eq!(Ids::new("10").number_of_line(&line), None);
    for other in ["c0f-017", "c0f-", "c0f-1x", "c0f-+1", "17", "c10-17"] {
        assert_eq!(ids.number(other), None, "{other}");
    }
    assert_eq!(ids.number("c0f-17"), Some(17));
}

#[test]
fn what_is_the_protocols_own_to_say_is_said_by_us() {
    let asked = json!({
        "io.modelcontextprotocol/protocolVersion": "1999-01-01",
        "io.modelcontextprotocol/clientInfo": { "name": "evil" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {}, "sampling": {} },
        "io.modelcontextprotocol/logLevel": "debug",
        "progressToken": "theirs",
        "traceparent": "00-1-2-3",
    });
    let able = json!({ "elicitation": {}, "roots": {} });
    let params = json!({ "name": "x", "_meta": {
        "vendor": 1, "progressToken": "a", "io.modelcontextprotocol/protocolVersion": "2025-11-25" } });
    let form = Form::Modern { meta: &asked, able: &able, is_pass_through: false };
    assert_eq!(
        with_meta(params.clone(), Some("ours"), form),
        json!({ "name": "x", "_meta": {
            "vendor": 1,
            "traceparent": "00-1-2-3",
            "progressToken": "ours",
            "io.modelcontextprotocol/logLevel": "debug",
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "fumehood", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        } })
    );
    let form = Form::Modern { meta: &asked, able: &able, is_pass_through: true };
    let passed = with_meta(params.clone(), None, form);
    let able = &passed["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(able, &json!({ "elicitation": {}, "sampling": {} }));
    assert_eq!(with_meta(params, None, Form::Session), json!({ "name": "x", "_meta": { "vendor": 1 } }));
    assert_eq!(with_meta(Value::Null, None, Form::Session), json!({}));
}

#[test]
fn a_result_of_null_is_a_result() {
    let answer = answer_in(br#"{"jsonrpc":"2.0","id":"a","result":null}"#);
    assert_eq!(answer, Ok(Answer::Result(Value::Null)));
    // And what is neither is no empty success.
    for line in [r#"{"jsonrpc":"2.0","id":"a","error":null}"#, r#"{"id":"a"}"#, "{", r#"{"result":1e999}"#] {
        assert!(answer_in(line.as_bytes()).is_err(), "{line}");
    }
}

#[test]
fn an_error_of_a_caller_is_an_error() {
    let error = json!({ "error": { "code": -1, "message": "no" } });
    assert_eq!(answer(&json!(7), error), br#"{"error":{"code":-1,"message":"no"},"id":7,"jsonrpc":"2.0"}"#);
    let result = json!({ "error": "a field", "action": "accept" });
    assert!(String::from_utf8(answer(&json!(7), result)).unwrap().contains("\"result\""));
}

#[test]
fn no_answer_is_told_from_an_error_of_the_server() {
    let error = json!({ "code": -32000, "message": "it closed", "data": { UNANSWERED: { "sent": true } } });
    assert_eq!(unanswered(&error), Some(("it closed", true)));
    for other in [json!({}), json!({ UNANSWERED: true }), json!({ UNANSWERED: { "sent": 1 } }), json!("sent")]
    {
        assert_eq!(unanswered(&json!({ "code": -32000, "message": "", "data": other })), None);
    }
}
