//! A client that is odd, or means harm.

use serde_json::{Value, json};

use crate::world::{PREFIX, Server, World, notification};

#[test]
fn before_hello_there_is_nothing_but_ping() {
    let profile = "plain".parse().unwrap();
    let server = Server::weather();
    let front = gateway::front::Front::accepted(server.surface(&profile), profile, PREFIX.to_owned());
    let mut world = World::around(front, server);
    world.ask(1, "ping", &json!({}));
    assert_eq!(world.answer(1)["result"], json!({}));
    for (id, method) in [(2, "tools/list"), (3, "tools/call"), (4, "logging/setLevel"), (5, "nonsense")] {
        world.ask(id, method, &json!({ "name": "forecast" }));
        assert_eq!(world.answer(id)["error"]["code"], -32600, "{method}");
    }
    world.client(&notification("notifications/initialized"));
    world.front.up();
    world.go_on();
    // It was not said hello to, so it is not to be spoken to.
    world.server.entry("tools", "forecast")["title"] = json!("Other");
    world.say_changed();
    assert_eq!(world.told("notifications/tools/list_changed"), 0);
    world.hello(&json!({}));
    assert!(world.answer("hello").get("result").is_some());
    assert_eq!(world.names("tools/list"), ["alerts"]);
}

#[test]
fn a_session_begins_once() {
    let mut world = World::of(Server::weather());
    world.take();
    world.hello(&json!({ "elicitation": {} }));
    assert_eq!(world.answer("hello")["error"]["code"], -32600);
}

#[test]
fn a_revision_that_both_know_is_agreed_on() {
    for (asked, agreed) in [
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2026-07-28"), "2025-11-25"),
        (json!(7), "2025-11-25"),
        (Value::Null, "2025-11-25"),
    ] {
        let profile = "plain".parse().unwrap();
        let server = Server::weather();
        let front = gateway::front::Front::accepted(server.surface(&profile), profile, PREFIX.to_owned());
        let mut world = World::around(front, server);
        world.ask(1, "initialize", &json!({ "protocolVersion": asked }));
        assert_eq!(world.answer(1)["result"]["protocolVersion"], agreed);
    }
}

/// A line, the id of the answer, and its code.
#[test]
fn a_line_that_is_not_one_request_is_answered_as_such() {
    let ours = format!(
        r#"{{"jsonrpc":"2.0","id":"{PREFIX}1-0","method":"tools/call","params":{{"name":"alerts"}}}}"#
    );
    for (line, id, code) in [
        ("nonsense", Value::Null, -32700),
        ("", Value::Null, -32700),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alerts"}}]"#,
            Value::Null,
            -32600,
        ),
        ("[]", Value::Null, -32600),
        ("null", Value::Null, -32600),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"alerts"}}"#,
            Value::Null,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"alerts"}}"#,
            Value::Null,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"alerts"}}"#,
            Value::Null,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"alerts"}}"#,
            json!(1),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evil","name":"alerts"}}"#,
            json!(1),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alerts","arguments":{"a":1,"a":2}}}"#,
            json!(1),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alerts","Name":"evil"}}"#,
            json!(1),
            -32602,
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"param\u{17f}\":{},\"params\":{\"name\":\"alerts\"}}",
            json!(1),
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["alerts"]}"#, json!(1), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, json!(1), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, json!(1), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nobody's"}}"#, json!(1), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"nobody's"}}"#, json!(1), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, json!(1), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, json!(1), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x"}}"#, json!(1), -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}"#, json!(1), -32601),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alerts"},"result":{}}"#,
            json!(1),
            -32600,
        ),
        (r#"{"id":1,"method":"tools/call","params":{"name":"alerts"}}"#, json!(1), -32600),
        (&ours, json!(format!("{PREFIX}1-0")), -32600),
    ] {
        let mut world = World::open(Server::weather());
        let heard = world.server.heard.len();
        world.client_line(line);
        assert_eq!((world.to_client.len(), &world.to_client[0]["id"]), (1, &id), "{line}");
        assert_eq!(world.to_client[0]["error"]["code"], code, "{line}: {}", world.to_client[0]);
        assert_eq!(world.server.heard.len(), heard, "{line}");
    }
}

/// Neither an answer nor a notification is answered.
#[test]
fn answers_that_nobody_asked_and_odd_notifications_go_nowhere() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/made/up","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"alerts"}}"#,
    ] {
        let mut world = World::open(Server::weather());
        let heard = world.server.heard.len();
        world.client_line(line);
        assert_eq!((world.to_client.len(), world.server.heard.len()), (0, heard), "{line}");
    }
    let ours = format!(r#"{{"jsonrpc":"2.0","id":"{PREFIX}1-1","result":{{"tools":[]}}}}"#);
    let mut world = World::open(Server::weather());
    world.client_line(&ours);
    assert!(world.front.is_open() && world.changes().is_empty());
}

#[test]
fn an_id_is_used_once_at_a_time() {
    let mut world = World::of(Server::weather());
    world.starts = false;
    world.call(1, "forecast");
    world.call(1, "alerts");
    assert_eq!(world.answer(1)["error"]["code"], -32600);
    world.front.up();
    world.go_on();
    assert_eq!(world.server.called(), ["forecast"]);
    // After its answer it can be used again.
    world.take();
    world.call(1, "alerts");
    assert_eq!(world.answer(1)["result"]["content"][0]["text"], "sunny");
    // While it is under way it cannot.
    world.front.client(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"alerts"}}"#);
    world.front.client(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"alerts"}}"#);
    world.go_on();
    let codes: Vec<&Value> = world.answers(2).iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes, [&json!(-32600), &Value::Null]);
}

#[test]
fn a_cancelled_call_is_told_to_the_server_and_its_late_answer_dropped() {
    let mut world = World::open(Server::weather());
    world.front.client(br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"alerts"}}"#);
    world.front.client(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#);
    world.front.client(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#);
    world.go_on();
    assert_eq!((world.server.called(), world.server.times("notifications/cancelled")), (vec!["alerts"], 1));
    assert_eq!(world.take(), Vec::<Value>::new());
    world.front.gone("done");
    world.go_on();
    assert_eq!(world.take(), Vec::<Value>::new());
}

#[test]
fn a_client_cannot_pile_up_calls_without_end() {
    let mut world = World::open(Server::weather());
    let mut refused = 0;
    for id in 0..5_000 {
        world.front.client(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"alerts"}}}}"#)
                .as_bytes(),
        );
        while let Some(order) = world.front.next_order() {
            refused += usize::from(matches!(order, gateway::front::Order::ToClient(_)));
        }
    }
    assert_eq!(refused, 5_000 - 4_096);
}

#[test]
fn a_request_passes_as_it_came() {
    let mut world = World::open(Server::weather());
    let line = " {\"method\":\"tools/call\",\"jsonrpc\":\"2.0\",  \"params\":{\"_meta\":{\"progressToken\":1,\"x.y/z\":[1.50]},\"name\":\"alerts\",\"arguments\":{\"n\":1E2,\"Name\":0}},\"id\":-3}";
    world.front.client(line.as_bytes());
    let Some(gateway::front::Order::ToServer(sent)) = world.front.next_order() else { panic!() };
    assert_eq!(sent, format!("{line}\n").into_bytes());
    let answer = "{\"result\":{\"content\":[], \"structuredContent\":{\"a\":1.0,\"a\":2}},\"id\":-3,\"jsonrpc\":\"2.0\"}\r\n";
    world.front.server(answer.as_bytes());
    assert_eq!(world.front.next_order(), Some(gateway::front::Order::ToClient(answer.as_bytes().to_vec())));
}

/// What came of a task would come by no road; so there are none where there is one.
#[test]
fn on_the_road_there_are_no_tasks() {
    let profile: model::profile::Profile = "plain".parse().unwrap();
    for walks in [false, true] {
        let mut server = Server::weather();
        server.hello["capabilities"]["tasks"] = json!({ "list": {} });
        let front =
            gateway::front::Front::accepted(server.surface(&profile), profile.clone(), PREFIX.to_owned());
        let mut world = World::around(if walks { front.walking() } else { front }, server);
        world.hello(&json!({}));
        world.front.up();
        world.go_on();
        world.ask(1, "tasks/result", &json!({ "taskId": "1" }));
        world.go_on();
        let is_asked = world.server.heard.iter().any(|line| line["method"] == "tasks/result");
        assert_eq!(is_asked, !walks);
        assert!(!walks || world.answer(1)["error"]["code"] == -32601);
    }
}
