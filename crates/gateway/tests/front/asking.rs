//! What a server asks of the client.

use serde_json::{Value, json};

use crate::world::{Server, World};

fn open(profile: &str, capabilities: &Value) -> World {
    let mut world = World::with(Server::weather(), profile, capabilities);
    world.front.up();
    world.go_on();
    assert!(world.front.is_open());
    world.take();
    world.server.heard.clear();
    world
}

fn form() -> Value {
    json!({ "message": "Which city?", "requestedSchema": { "type": "object", "properties": {} } })
}

/// A profile, the client's capabilities, a method, and what the server is answered at once; else the client is asked.
#[test]
fn a_server_asks_what_its_profile_and_the_client_allow() {
    let none = json!({});
    let forms = json!({ "elicitation": {} });
    let links = json!({ "elicitation": { "url": {} } });
    let both = json!({ "elicitation": { "url": {}, "form": {} } });
    let roots = json!({ "roots": { "listChanged": true } });
    let (refused, cancelled) = (json!({ "code": -32601 }), json!({ "action": "cancel" }));
    let no_roots = json!({ "roots": [] });
    for (profile, capabilities, method, answer) in [
        ("plain", &forms, "elicitation/create", Some(&refused)),
        ("roots", &forms, "elicitation/create", Some(&refused)),
        ("elicitation", &forms, "elicitation/create", None),
        ("elicitation", &both, "elicitation/create", None),
        ("elicitation", &none, "elicitation/create", Some(&cancelled)),
        ("elicitation", &links, "elicitation/create", Some(&cancelled)),
        ("elicitation", &json!({ "elicitation": null }), "elicitation/create", Some(&cancelled)),
        ("plain", &roots, "roots/list", Some(&refused)),
        ("elicitation", &roots, "roots/list", Some(&refused)),
        ("roots", &roots, "roots/list", None),
        ("roots", &none, "roots/list", Some(&no_roots)),
        ("elicitation+roots", &json!({ "sampling": {} }), "sampling/createMessage", Some(&refused)),
        ("elicitation+roots", &json!({ "tasks": {} }), "tasks/list", Some(&refused)),
        ("elicitation+roots", &forms, "tools/call", Some(&refused)),
    ] {
        let mut world = open(profile, capabilities);
        world.say(&json!({ "jsonrpc": "2.0", "id": "s1", "method": method, "params": form() }));
        let asked = world.take();
        let told = world.server.heard.clone();
        let case = format!("{profile}, {capabilities}, {method}");
        if let Some(answer) = answer {
            assert_eq!((asked.len(), told.len(), &told[0]["id"]), (0, 1, &json!("s1")), "{case}");
            if answer.get("code").is_some() {
                assert_eq!(told[0]["error"]["code"], answer["code"], "{case}");
            } else {
                assert_eq!(&told[0]["result"], answer, "{case}");
            }
            // No client answers what it was not asked.
            world.client(&json!({ "jsonrpc": "2.0", "id": "s1", "result": { "action": "accept" } }));
            assert_eq!(world.server.heard.len(), 1, "{case}");
        } else {
            assert_eq!((asked.len(), &asked[0]["method"], told.len()), (1, &json!(method), 0), "{case}");
            for _ in 0..2 {
                world.client(&json!({ "jsonrpc": "2.0", "id": "s1", "result": { "action": "accept" } }));
            }
            assert_eq!(world.server.heard.len(), 1, "{case}");
        }
    }
}

/// A person is asked by a form, whose words all readers read alike, and is led nowhere.
#[test]
fn a_question_is_a_form() {
    for (params, code) in [
        (r#"{"mode":"form","message":"a"}"#, None),
        (r#"{"message":"a"}"#, None),
        (r#"{"mode":"url","url":"https://evil.example","message":"a"}"#, Some(-32602)),
        (r#"{"mode":"form","mode":"url","message":"a"}"#, Some(-32600)),
        (r#"{"mode":"form","Mode":"url","message":"a"}"#, Some(-32602)),
        (r#"{"mode":null,"message":"a"}"#, Some(-32602)),
        ("[]", Some(-32602)),
    ] {
        let mut world = open("elicitation", &json!({ "elicitation": { "form": {}, "url": {} } }));
        world.say_line(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{params}}}"#
        ));
        assert_eq!(world.take().len(), usize::from(code.is_none()), "{params}");
        let told = world.server.heard.first().map(|line| line["error"]["code"].as_i64());
        assert_eq!(told.flatten(), code, "{params}");
    }
}

#[test]
fn questions_are_bounded_and_each_has_its_id() {
    let mut world = open("elicitation", &json!({ "elicitation": {} }));
    for id in 0..100 {
        world.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form() }));
    }
    world.say(&json!({ "jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": form() }));
    assert_eq!(world.take().len(), 64);
    assert_eq!(world.server.heard.len(), 37);
    // It takes one back, and no other's.
    for id in [json!(0), json!(0), json!(99)] {
        world.say(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        );
    }
    assert_eq!(world.take().len(), 1);
    world.say(&json!({ "jsonrpc": "2.0", "id": 100, "method": "elicitation/create", "params": form() }));
    world.say(&json!({ "jsonrpc": "2.0", "id": 100, "method": "elicitation/create", "params": form() }));
    assert_eq!(world.take().len(), 1);
}

/// At its start a server hears that there are no roots, since nobody is to be asked for it yet.
#[test]
fn roots_are_the_clients_once_it_may_be_asked() {
    let mut world = open("roots", &json!({ "roots": {} }));
    world.client(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    assert_eq!(world.server.times("notifications/roots/list_changed"), 1);

    let mut world = World::with(Server::weather(), "roots", &json!({ "roots": {} }));
    world.server.is_deaf = true;
    world.front.up();
    world.go_on();
    world.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" }));
    assert_eq!(world.server.heard.last().unwrap()["result"], json!({ "roots": [] }));
    assert_eq!(world.server.times("notifications/roots/list_changed"), 0);
    world.answer_at_last();
    assert_eq!(world.server.times("notifications/roots/list_changed"), 1);

    for (profile, capabilities) in [("plain", json!({ "roots": {} })), ("roots", json!({}))] {
        let mut world = World::with(Server::weather(), profile, &capabilities);
        world.call(1, "alerts");
        assert_eq!(world.server.times("notifications/roots/list_changed"), 0);
    }
}

/// An argument of a prompt or a template is completed for what was accepted.
#[test]
fn completions_are_of_what_was_accepted() {
    let mut world = World::open(Server::weather());
    world.server.entry("prompts", "report")["description"] = json!("Other.");
    world.say_changed();
    world.settle();
    world.server.heard.clear();
    for (number, (of, code)) in [
        (json!({ "type": "ref/prompt", "name": "joke" }), None),
        (json!({ "type": "ref/resource", "uri": "city://{name}" }), None),
        (json!({ "type": "ref/resource", "uri": "weather://stations" }), None),
        (json!({ "type": "ref/prompt", "name": "report" }), Some(-32603)),
        (json!({ "type": "ref/prompt", "name": "new" }), Some(-32602)),
        (json!({ "type": "ref/resource", "uri": "new://{name}" }), Some(-32602)),
        (json!({ "type": "ref/new", "name": "joke" }), Some(-32602)),
        (json!({ "type": "ref/prompt", "name": "joke", "Name": "report" }), Some(-32602)),
        (json!("joke"), Some(-32602)),
    ]
    .into_iter()
    .enumerate()
    {
        world.server.heard.clear();
        world.ask(
            number,
            "completion/complete",
            &json!({ "ref": of, "argument": { "name": "a", "value": "b" } }),
        );
        assert_eq!(world.answer(number)["error"]["code"].as_i64(), code, "{of}");
        assert_eq!(world.server.heard.len(), usize::from(code.is_none()), "{of}");
    }
}

#[test]
fn an_address_under_a_held_template_is_held() {
    let mut server = Server::weather();
    server.lists.get_mut("resources").unwrap().push(json!({ "uri": "city://capital", "name": "capital" }));
    let mut world = World::open(server);
    world.server.entry("resourceTemplates", "city://{name}")["description"] = json!("Other.");
    world.say_changed();
    world.settle();
    world.server.heard.clear();
    for (number, (uri, passes)) in [
        ("city://bern", false),
        ("city://", false),
        ("city://capital", true),
        ("weather://stations", true),
        ("lake://x", true),
    ]
    .into_iter()
    .enumerate()
    {
        world.ask(number, "resources/read", &json!({ "uri": uri }));
        assert_eq!(world.answer(number).get("result").is_some(), passes, "{uri}");
    }
}
