use access::Verb;
use access::refusal::Code;

use super::*;

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn block_of(end: End) -> Value {
    Answer::of(end, "orders__get").block("toolu_1")
}

fn content_of(result: Value) -> Value {
    let block = block_of(End::Done(result));
    assert_eq!((&block["type"], &block["tool_use_id"]), (&json!("tool_result"), &json!("toolu_1")));
    assert!(block.get("is_error").is_none());
    block["content"].clone()
}

#[test]
fn content_of_mcp_becomes_content_of_the_messages_api() {
    let pdf = STANDARD.encode(b"%PDF-1.7\n");
    let content = content_of(json!({"content": [
        {"type": "text", "text": "one", "annotations": {"audience": ["user"]}, "_meta": {"a": 1}},
        {"type": "image", "data": PNG, "mimeType": "image/jpeg"},
        {"type": "resource", "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# A"}},
        {"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": pdf}},
    ]}));
    assert_eq!(
        content,
        json!([
            {"type": "text", "text": "one"},
            // What the first bytes say, since the API refuses the whole request for a wrong type.
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"type": "text", "text": "file:///a.md\n# A"},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": pdf}},
        ])
    );
}

#[test]
fn what_the_api_does_not_take_is_said_in_words() {
    let content = content_of(json!({"content": [
        {"type": "audio", "data": "UklGRgAA", "mimeType": "audio/wav"},
        {"type": "image", "data": "not base64!", "mimeType": "image/png"},
        {"type": "image", "data": STANDARD.encode("<svg/>"), "mimeType": "image/svg+xml"},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
        {"type": "dev.example/new", "layers": [1]},
        {"type": "text", "text": " \n"},
    ]}));
    let texts: Vec<_> = content.as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "[8 bytes of base64 of the type audio/wav are left out: they cannot be shown here]",
            "[11 bytes of base64 of the type image/png are left out: they cannot be shown here]",
            "[8 bytes of base64 of the type image/svg+xml are left out: they cannot be shown here]",
            r#"{"name":"b","type":"resource_link","uri":"file:///b"}"#,
            r#"{"layers":[1],"type":"dev.example/new"}"#,
        ]
    );
    let huge = STANDARD.encode([b"\x89PNG\r\n\x1a\n".as_slice(), &vec![0; LARGEST_BINARY]].concat());
    let content = content_of(json!({"content": [{"type": "image", "data": huge, "mimeType": "image/png"}]}));
    assert!(content[0]["text"].as_str().unwrap().contains("are left out"));
}

#[test]
fn structured_content_is_told_where_there_is_no_other() {
    let structured = json!({"id": "ORD-1"});
    assert_eq!(
        content_of(json!({"content": [], "structuredContent": structured})),
        json!([{"type": "text", "text": "{\"id\":\"ORD-1\"}"}])
    );
    assert_eq!(
        content_of(
            json!({"content": [{"type": "text", "text": "An order"}], "structuredContent": structured})
        ),
        json!([{"type": "text", "text": "An order"}])
    );
    // The API takes no empty text, and no empty content of an error.
    assert!(block_of(End::Done(json!({"content": [{"type": "text", "text": ""}]}))).get("content").is_none());
    let silent = block_of(End::Done(json!({"content": [], "isError": true})));
    assert_eq!(silent["is_error"], true);
    assert_eq!(silent["content"][0]["text"], "The tool failed and says nothing of why.");
}

#[test]
fn refusals_are_errors_that_say_what_to_do() {
    let refusal = Refusal::new(Code::BINDING_CONFLICT, "`user_id` is not yours")
        .rule("servers.orders.tools.get.bind.user_id")
        .remedy("Leave `user_id` out");
    let block = block_of(End::Refused(Box::new(refusal)));
    assert_eq!(
        block,
        json!({
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "is_error": true,
            "content": [{"type": "text", "text": "Not done (FH-BINDING-CONFLICT): `user_id` is not yours\nLeave `user_id` out"}],
        })
    );
    let failed = block_of(End::Failed(json!({"code": -32603, "message": "out of\u{1b}order"})));
    assert_eq!(failed["is_error"], true);
    assert_eq!(failed["content"][0]["text"], "The server failed: out of<U+001B>order");
    assert_eq!(block_of(End::Failed(json!({"code": 1})))["is_error"], true);
    let asks = block_of(End::Done(json!({"resultType": "input_required", "inputRequests": {}})));
    assert_eq!(asks["is_error"], true);
}

#[test]
fn a_tool_that_is_hidden_and_one_that_is_not_there_are_answered_alike() {
    let mut hidden = Refusal::unknown(Verb::CallTool);
    hidden.rule = Some("roles.support.tools".to_owned());
    let hidden = Answer::of(End::Refused(Box::new(hidden)), "orders__get");
    assert_eq!(hidden, Answer::unknown("orders__get"));
    assert_eq!(
        hidden.block("a")["content"][0]["text"],
        "Unknown tool: `orders__get`. Only the tools that were offered can be used."
    );
}

#[test]
fn one_message_has_every_result_in_its_order() {
    let answers = |end: fn() -> End| Answer::of(end(), "t");
    let (good, bad) = (
        answers(|| {
            End::Done(
                json!({"content": [{"type": "text", "text": "1"}, {"type": "image", "data": PNG, "mimeType": "image/png"}]}),
            )
        }),
        answers(|| End::Failed(json!({"message": "no"}))),
    );
    let both = vec![("b".to_owned(), good), ("a".to_owned(), bad)];
    let said = openai_of(&both);
    assert_eq!(
        said["messages"][0],
        json!({"role": "tool", "tool_call_id": "b", "content": format!("1\n\n[{} bytes of base64 of the type image/png are left out: they cannot be shown here]", PNG.len())})
    );
    assert_eq!(said["messages"][1]["content"], "Error: The server failed: no");
    let message = message(both);
    assert_eq!(message["role"], "user");
    assert_eq!(message["content"][0]["tool_use_id"], "b");
    assert_eq!(message["content"][1]["tool_use_id"], "a");
}

fn openai_of(answers: &[(String, Answer)]) -> Value {
    super::super::openai::messages(answers)
}
