use serde_json::json;

use super::*;

fn read_value(body: &Value) -> Result<Turn, TurnError> {
    read(body.to_string().as_bytes())
}

fn use_of(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "orders__get", "input": {"id": "ORD-1"}})
}

fn ids(turn: &Turn) -> Vec<&str> {
    turn.uses.iter().map(|it| it.id.as_str()).collect()
}

#[test]
fn a_block_a_message_and_a_conversation_say_the_same() {
    let block = use_of("toolu_1");
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "Let me see."}, block], "stop_reason": "tool_use"});
    let conversation =
        json!({"model": "m", "messages": [{"role": "user", "content": "Where is it?"}, message]});
    let bare = json!({"id": "toolu_1", "name": "orders__get", "input": {"id": "ORD-1"}});
    for body in [&block, &message, &conversation, &bare] {
        let turn = read_value(body).unwrap();
        assert_eq!(turn.dialect, Dialect::Messages);
        assert_eq!(turn.offered, None);
        let [it] = turn.uses.as_slice() else { panic!("{turn:?}") };
        assert_eq!((it.id.as_str(), it.name.as_str()), ("toolu_1", "orders__get"));
        assert_eq!(Value::Object(it.input.clone()), json!({"id": "ORD-1"}));
    }
}

#[test]
fn uses_keep_their_order_and_what_the_provider_does_itself_is_left_out() {
    let turn = read_value(&json!({"messages": [{"role": "assistant", "content": [
        {"type": "thinking", "thinking": "…", "signature": "s"},
        use_of("b"),
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "x", "server_name": "y", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []},
        use_of("a"),
    ]}]}));
    assert_eq!(ids(&turn.unwrap()), ["b", "a"]);
}

#[test]
fn calls_of_chat_completions_are_read_as_well() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "orders__get", "arguments": "{\"id\": \"ORD-1\"}"}},
        {"id": "call_2", "type": "function", "function": {"name": "orders__list", "arguments": ""}},
    ]});
    for body in [message.clone(), json!({"messages": [{"role": "user", "content": "?"}, message]})] {
        let turn = read_value(&body).unwrap();
        assert_eq!(turn.dialect, Dialect::OpenAi);
        assert_eq!(ids(&turn), ["call_1", "call_2"]);
        assert_eq!(Value::Object(turn.uses[0].input.clone()), json!({"id": "ORD-1"}));
        assert!(turn.uses[1].input.is_empty());
    }
}

#[test]
fn the_tools_of_the_request_are_those_that_were_offered() {
    let tools = json!([{"name": "orders__get", "input_schema": {}}, {"type": "function", "function": {"name": "b"}}, {"type": "x"}]);
    let turn =
        read_value(&json!({"tools": tools, "messages": [{"role": "assistant", "content": [use_of("a")]}]}));
    let offered = turn.unwrap().offered.unwrap();
    assert_eq!(offered, HashSet::from(["orders__get".to_owned(), "b".to_owned()]));
}

#[test]
fn what_cannot_be_carried_out_is_told_with_its_place() {
    let ends_with = |block: Value| json!({"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": [use_of("a"), block]}]});
    let with = |key: &str, value: Value| {
        let mut block = use_of("b");
        block[key] = value;
        ends_with(block)
    };
    let without = |key: &str| {
        let mut block = use_of("b");
        block.as_object_mut().unwrap().remove(key);
        ends_with(block)
    };
    let call = |function: Value| json!({"tool_calls": [{"id": "c", "function": function}]});
    for (body, message) in [
        (json!([]), "the body is no object"),
        (json!({}), "there is neither a `tool_use` block nor `messages` in it"),
        (json!({"messages": {}}), "messages: this is no array"),
        (json!({"messages": []}), "messages: there is no message"),
        (json!({"messages": ["x"]}), "messages[0]: this is no object"),
        (
            json!({"messages": [{"role": "system", "content": []}]}),
            "messages[0].role: this is no `assistant`",
        ),
        (
            json!({"messages": [{"role": "assistant", "content": "no"}]}),
            "messages[0].content: there are no blocks, so nothing to do",
        ),
        (
            json!({"messages": [{"role": "assistant", "content": [{"type": "text", "text": "no"}]}]}),
            "messages[0].content: there is no `tool_use` in it",
        ),
        (json!({"role": "user", "content": [use_of("a")]}), "content: this is not the assistant's"),
        (with("id", json!("")), "messages[1].content[1].id: this is no id"),
        (with("id", json!("a b")), "messages[1].content[1].id: this is no id"),
        (with("id", json!("x".repeat(257))), "messages[1].content[1].id: this is no id"),
        (without("id"), "messages[1].content[1].id: this is no id"),
        (with("name", json!(7)), "messages[1].content[1].name: this is no name"),
        (with("input", json!("{}")), "messages[1].content[1].input: this is no object"),
        (with("input", json!(null)), "messages[1].content[1].input: this is no object"),
        (without("input"), "messages[1].content[1].input: this is missing"),
        (with("id", json!("a")), "the id `a` stands twice"),
        (
            json!({"type": "server_tool_use", "id": "a", "name": "b", "input": {}}),
            "type: this is no `tool_use`",
        ),
        (json!({"tool_calls": []}), "tool_calls: there is no call in it"),
        (json!({"tool_calls": [{"id": "c"}]}), "tool_calls[0].function: this is no object"),
        (call(json!({"name": "n", "arguments": {}})), "tool_calls[0].function.arguments: this is no text"),
        (
            call(json!({"name": "n", "arguments": "[]"})),
            "tool_calls[0].function.arguments: this is no object",
        ),
        (
            call(json!({"name": "n", "arguments": "{\"a\":1,\"a\":2}"})),
            "tool_calls[0].function.arguments: line 1: the key `a` stands twice",
        ),
    ] {
        let error = read_value(&body).expect_err(&body.to_string());
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn bodies_that_two_readers_read_differently_are_refused() {
    let twice = br#"{"type":"tool_use","id":"a","name":"t","input":{"user":"alice","user":"bob"}}"#;
    assert_eq!(read(twice).unwrap_err().to_string(), "line 1: the key `input.user` stands twice");
    assert!(read(b"{} {}").is_err());
    assert!(read(b"\xff").is_err());
}

#[test]
fn what_was_answered_is_not_done_again() {
    let asked = json!({"role": "assistant", "content": [use_of("a")]});
    let answered =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "done"}]});
    let error = read_value(&json!({"messages": [asked, answered]})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "messages[1].role: the last message is not the assistant's: what it asked for was answered"
    );
    let error = read_value(&json!({"messages": [asked, answered, asked]})).unwrap_err();
    assert_eq!(error.to_string(), "messages[2]: `a` stands earlier in the conversation");
    let calls = json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "n", "arguments": "{}"}}]});
    let tool = json!({"role": "tool", "tool_call_id": "a", "content": "done"});
    assert!(read_value(&json!({"messages": [tool, calls]})).is_err());
    let next = json!({"role": "assistant", "content": [use_of("b")]});
    assert_eq!(ids(&read_value(&json!({"messages": [asked, answered, next]})).unwrap()), ["b"]);
}

#[test]
fn there_is_an_end_to_the_uses_of_one_turn() {
    let uses =
        |count: usize| -> Vec<Value> { (0..count).map(|number| use_of(&number.to_string())).collect() };
    assert_eq!(read_value(&json!({"content": uses(MOST_USES)})).unwrap().uses.len(), MOST_USES);
    let error = read_value(&json!({"content": uses(MOST_USES + 1)})).unwrap_err();
    assert_eq!(error.to_string(), "65 uses of tools in one turn; there may be 64");
}
