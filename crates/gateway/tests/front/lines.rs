//! A server that means harm by the lines that it writes.

use serde_json::{Value, json};

use crate::world::{PREFIX, Server, World, is_refused};

/// With call 5 under way.
fn asked() -> World {
    let mut world = World::open(Server::weather());
    world.front.client(br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"alerts"}}"#);
    while world.front.next_order().is_some() {}
    world
}

#[test]
fn only_what_was_asked_is_answered_and_once() {
    let mut world = asked();
    for line in [
        r#"{"jsonrpc":"2.0","id":6,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"5","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5.0,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"hello","result":{"capabilities":{}}}"#,
        r#"[{"jsonrpc":"2.0","id":5,"result":{}}]"#,
        r#"{"jsonrpc":"2.0","id":5,"id":6,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":6,"ID":5,"result":{}}"#,
        r#"{"id":6,"result":{}}"#,
        "nonsense",
    ] {
        world.say_line(line);
        assert_eq!(world.take(), Vec::<Value>::new(), "{line}");
    }
    for _ in 0..3 {
        world.say_line(r#"{"jsonrpc":"2.0","id":5,"result":{"content":[]}}"#);
    }
    assert_eq!(world.answer(5)["result"], json!({ "content": [] }));
}

/// The client waits for it, so it gets an answer.
#[test]
fn an_answer_that_cannot_be_passed_on_is_an_error() {
    for line in [
        r#"{"jsonrpc":"2.0","id":5,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{},"Error":{}}"#,
        r#"{"jsonrpc":"1.0","id":5,"result":{}}"#,
        r#"{"id":5,"result":{}}"#,
    ] {
        let mut world = asked();
        world.say_line(line);
        assert!(is_refused(world.answer(5), "FH-MALFORMED"), "{line}");
        world.say_line(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
        assert_eq!(world.answers(5).len(), 1);
    }
}

/// The middle line is a message of its own to whoever reads lines.
#[test]
fn a_line_holds_no_second_one() {
    for end in ["\n", "\r", "\r\n"] {
        let mut world = asked();
        let inner = r#"{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{}}"#;
        world.say_line(&format!(r#"{{"jsonrpc":"2.0","id":5,"result":{end}{inner}{end}}}"#));
        assert_eq!(world.take(), Vec::<Value>::new());
        world.client_line(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"alerts","arguments":{end}{inner}{end}}}}}"#));
        assert_eq!(world.server.called(), Vec::<&str>::new());
    }
}

#[test]
fn requests_under_our_ids_or_the_clients_are_the_servers_own() {
    let mut world = asked();
    world.server.heard.clear();
    for id in [json!(5), json!("hello"), json!(format!("{PREFIX}1-0")), json!(format!("{PREFIX}1-99"))] {
        world.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        world.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }));
        assert_eq!(world.server.heard[0], json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        assert_eq!(
            (&world.server.heard[1]["id"], &world.server.heard[1]["error"]["code"]),
            (&id, &json!(-32601))
        );
        world.server.heard.clear();
    }
    assert_eq!(world.take(), Vec::<Value>::new());
    world.say_line(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    assert_eq!(world.answers(5).len(), 1);
}

/// Neither makes a reading of what was not asked, nor ends one early.
#[test]
fn answers_to_our_ids_that_were_not_asked_change_nothing() {
    let mut world = World::open(Server::weather());
    for id in [
        format!("{PREFIX}1-0"),
        format!("{PREFIX}1-1"),
        format!("{PREFIX}1-9999"),
        format!("{PREFIX}2-0"),
        PREFIX.to_owned(),
    ] {
        for result in [json!({ "tools": [] }), json!({}), json!({ "protocolVersion": "1" })] {
            world.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
        world.say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": "x" } }));
    }
    assert!(world.front.is_open() && world.changes().is_empty() && world.take().is_empty());
    // While the lists are read, the answer that comes first is the one; the next is of no account.
    world.server.is_deaf = true;
    world.say_changed();
    world.answer_at_last();
    let asked = world.server.heard.iter().rfind(|line| line["method"] == "tools/list").unwrap()["id"].clone();
    world.say(&json!({ "jsonrpc": "2.0", "id": asked, "result": { "tools": [] } }));
    world.call(1, "forecast");
    assert_eq!(world.server.called(), ["forecast"]);
}

#[test]
fn what_a_server_tells_is_passed_on_by_name() {
    let mut world = World::open(Server::weather());
    for (method, is_passed) in [
        ("notifications/message", true),
        ("notifications/progress", true),
        ("notifications/resources/updated", true),
        ("notifications/tasks/status", true),
        ("notifications/tools/list_changed", false),
        ("notifications/elicitation/complete", false),
        ("notifications/cancelled", false),
        ("notifications/initialized", false),
        ("notifications/roots/list_changed", false),
        ("notifications/made/up", false),
        ("tools/call", false),
    ] {
        world.say(&json!({ "jsonrpc": "2.0", "method": method, "params": { "requestId": 1, "data": "x" } }));
        assert_eq!(world.take().len(), usize::from(is_passed), "{method}");
    }
}

/// None of these may cost more than it is long.
#[test]
fn a_line_however_long_is_read_quickly_and_told_of_shortly() {
    let mut world = asked();
    let many = (0..50_000).map(|n| format!("\"k{n}\":0")).collect::<Vec<_>>().join(",");
    for line in [
        format!(r#"{{"jsonrpc":"2.0",{many},"id":5,"result":{{}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "m".repeat(1 << 20)),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(1 << 20)),
        format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(1 << 20)),
        format!(r#"{{"jsonrpc":"2.0","{0}":1,"{0}":2}}"#, "k".repeat(1 << 20)),
        format!("\"{}\"", "s".repeat(1 << 20)),
        "[".repeat(1 << 20),
    ] {
        world.server.heard.clear();
        // The world looks at the length of what is for the log.
        world.say_line(&line);
        let answered: usize = world.server.heard.iter().map(|line| line.to_string().len()).sum();
        assert!(answered < 1_000);
        world.client_line(&line);
        assert!(world.take().iter().all(|line| line.to_string().len() < 2_000));
    }
}
