//! What comes before a server has been compared, and what waits for it.

use gateway::front::Order;
use serde_json::{Value, json};

use crate::world::{Server, World, is_refused, notification};

#[test]
fn the_client_is_answered_before_there_is_a_server() {
    let mut world = World::of(Server::weather());
    let hello = &world.answer("hello")["result"];
    assert_eq!(hello["serverInfo"]["name"], "weather");
    assert_eq!(
        (&hello["instructions"], &hello["protocolVersion"]),
        (&json!("Ask for a place first."), &json!("2025-06-18"))
    );
    assert_eq!(hello["capabilities"]["prompts"], json!({ "listChanged": true }));
    assert_eq!(hello["capabilities"]["resources"], json!({ "subscribe": true, "listChanged": true }));
    assert_eq!(world.names("tools/list"), ["alerts", "forecast"]);
    assert_eq!(world.names("resources/templates/list"), ["city://{name}"]);
    world.ask(2, "ping", &json!({}));
    assert_eq!(world.answer(2)["result"], json!({}));
    assert_eq!(world.server.heard, Vec::<Value>::new());
    assert_eq!(world.orders, []);
}

#[test]
fn the_first_call_starts_the_server_and_waits_for_the_comparison() {
    let mut world = World::of(Server::weather());
    world.starts = false;
    for id in 1..=3 {
        world.call(id, if id == 2 { "alerts" } else { "forecast" });
    }
    assert_eq!(world.orders, [Order::Start]);
    assert!(world.front.is_waiting());
    world.front.up();
    world.go_on();
    assert_eq!(world.orders, [Order::Start, Order::Settle, Order::Same]);
    assert_eq!(world.server.called(), ["forecast", "alerts", "forecast"]);
    assert!(!world.front.is_waiting() && world.front.is_open());
    let last: Vec<i64> = world.to_client.iter().filter_map(|line| line["id"].as_i64()).collect();
    assert_eq!(last, [1, 2, 3]);
}

#[test]
fn the_server_meets_the_same_client_whoever_asks() {
    for (profile, capabilities) in
        [("plain", json!({})), ("elicitation+roots", json!({ "elicitation": {}, "roots": {} }))]
    {
        let client = json!({ "sampling": {}, "experimental": { "x": {} }, "roots": { "listChanged": true } });
        let mut world = World::with(Server::weather(), profile, &client);
        world.call(1, "alerts");
        let hello = &world.server.heard[0]["params"];
        assert_eq!(hello["clientInfo"], json!({ "name": "fumehood", "version": "1" }));
        assert_eq!(hello["capabilities"], capabilities);
        let initialized = world.server.times("notifications/initialized");
        assert_eq!((world.server.times("initialize"), initialized), (1, 1));
    }
}

#[test]
fn a_server_may_finish_its_lists_late() {
    // It says so.
    let full = Server::weather();
    let mut world = World::of(full.clone());
    world.server.lists.get_mut("tools").unwrap().truncate(1);
    world.server.lists.get_mut("prompts").unwrap().clear();
    world.call(1, "alerts");
    assert!(!world.front.is_open());
    world.server.lists.insert("tools", full.lists["tools"].clone());
    world.say_changed();
    assert!(!world.front.is_open());
    world.settle();
    world.server.lists.insert("prompts", full.lists["prompts"].clone());
    world.say_changed();
    world.settle();
    assert!(world.front.is_open());
    assert_eq!((world.changes(), world.server.called()), (vec![], vec!["alerts"]));

    // It does not say so.
    let mut world = World::of(full.clone());
    world.server.lists.get_mut("tools").unwrap().truncate(1);
    world.call(1, "alerts");
    world.server.lists.insert("tools", full.lists["tools"].clone());
    world.settle();
    assert!(world.front.is_open());
    assert_eq!((world.changes(), world.server.called()), (vec![], vec!["alerts"]));

    // It is slow, and half of it is there when it is asked again.
    let mut world = World::of(full.clone());
    world.server.lists.get_mut("tools").unwrap().clear();
    world.call(1, "alerts");
    world.server.lists.get_mut("tools").unwrap().extend(full.lists["tools"][..1].to_vec());
    world.settle();
    assert!(!world.front.is_open() && !world.front.is_closed());
    world.server.is_deaf = true;
    world.settle();
    world.settle();
    world.server.lists.insert("tools", full.lists["tools"].clone());
    world.answer_at_last();
    assert!(world.front.is_open());
    assert_eq!((world.changes(), world.server.called()), (vec![], vec!["alerts"]));
}

#[test]
fn a_call_that_waits_can_be_withdrawn() {
    let mut world = World::of(Server::weather());
    world.starts = false;
    world.call(1, "forecast");
    world.call("1", "alerts");
    world.client(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    );
    world.front.up();
    world.go_on();
    assert_eq!(world.server.called(), ["alerts"]);
    assert_eq!((world.answers(1).len(), world.server.times("notifications/cancelled")), (0, 0));
    assert!(world.answer("1").get("result").is_some());
}

#[test]
fn a_server_that_ends_leaves_nobody_waiting() {
    // Before it was up, while it is compared, and with calls under way.
    for stage in 0..3 {
        let mut world = World::of(Server::weather());
        world.starts = stage > 0;
        world.server.is_deaf = stage == 1;
        if stage == 2 {
            world.front.up();
            world.go_on();
            world.server.is_deaf = true;
            world.say_changed();
        }
        world.call(1, "forecast");
        world.ask("two", "resources/read", &json!({ "uri": "weather://stations" }));
        assert!(world.front.is_waiting());
        world.front.gone("exit status 3");
        world.go_on();
        assert!(!world.front.is_waiting() && !world.front.is_open());
        for id in [json!(1), json!("two")] {
            assert!(is_refused(world.answer(id), "FH-SERVER-ENDED: exit status 3"), "{stage}");
        }
        world.call(3, "forecast");
        assert!(is_refused(world.answer(3), "FH-SERVER-ENDED"));
        world.settle();
        world.say_changed();
        world.front.up();
        world.go_on();
        assert_eq!(world.names("tools/list"), ["alerts", "forecast"]);
        assert_eq!(world.server.called(), Vec::<&str>::new());
    }
}

#[test]
fn a_server_that_is_started_once_more_is_compared_once_more() {
    let mut world = World::open(Server::weather());
    world.server.entry("tools", "forecast")["title"] = json!("Other");
    world.say_changed();
    world.settle();
    world.front.gone("it was killed");
    world.server = Server::weather();
    world.front.starting();
    world.call(1, "alerts");
    assert!(world.front.is_waiting());
    world.front.up();
    world.go_on();
    assert_eq!(world.server.called(), ["alerts"]);
    // What was held is.
    world.call(2, "forecast");
    assert!(is_refused(world.answer(2), "FH-CHANGED"));
    world.front.gone("it was killed");
    world.front.starting();
    world.server.entry("tools", "alerts")["title"] = json!("Other");
    world.front.up();
    world.call(3, "alerts");
    world.settle();
    assert!(is_refused(world.answer(3), "FH-NOT-ACCEPTED"));
}

#[test]
fn calls_under_way_are_answered_when_the_server_ends_or_is_refused() {
    for is_refused_whole in [true, false] {
        let mut world = World::with(Server::weather(), "elicitation", &json!({ "elicitation": {} }));
        world.front.up();
        world.go_on();
        world.front.client(br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"alerts"}}"#);
        // The server has the line, and asks back before it answers.
        assert!(matches!(world.front.next_order(), Some(Order::ToServer(_))));
        let question = json!({ "message": "Sure?", "requestedSchema": { "type": "object" } });
        world
            .say(&json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": question }));
        assert_eq!(world.told("elicitation/create"), 1);
        if is_refused_whole {
            world.server.lists.get_mut("tools").unwrap().push(json!({ "name": "alerts" }));
            world.say(&notification("notifications/tools/list_changed"));
            assert!(is_refused(world.answer(5), "FH-NOT-ACCEPTED"));
        } else {
            world.front.gone("it was killed");
            world.go_on();
            assert!(is_refused(world.answer(5), "FH-SERVER-ENDED: it was killed"));
        }
        let cancelled =
            world.to_client.iter().find(|line| line["method"] == "notifications/cancelled").unwrap();
        assert_eq!(cancelled["params"]["requestId"], "q");
        // The person answers all the same, and the server does too.
        let heard = world.server.heard.len();
        world.client(&json!({ "jsonrpc": "2.0", "id": "q", "result": { "action": "accept" } }));
        world.say(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
        assert_eq!((world.server.heard.len(), world.answers(5).len()), (heard, 1));
    }
}

#[test]
fn nothing_of_a_server_reaches_the_client_before_it_was_compared() {
    let mut world =
        World::with(Server::weather(), "elicitation+roots", &json!({ "elicitation": {}, "roots": {} }));
    world.server.lists.get_mut("tools").unwrap().truncate(1);
    world.call(1, "forecast");
    world.take();
    world.say(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "psst" } }));
    world.say(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [] } }));
    world.say(&json!({ "jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": { "message": "Key?" } }));
    world.say(&json!({ "jsonrpc": "2.0", "id": 10, "method": "sampling/createMessage", "params": {} }));
    assert_eq!(world.take(), Vec::<Value>::new());
    let answer = |id: i64| {
        world.server.heard.iter().find(|line| line["id"] == id && line.get("method").is_none()).unwrap()
    };
    assert_eq!(answer(9)["result"]["action"], "cancel");
    assert_eq!(answer(10)["error"]["code"], -32601);
}

#[test]
fn too_many_calls_do_not_wait() {
    let mut world = World::of(Server::weather());
    world.starts = false;
    for id in 0..1_030 {
        world.call(id, "alerts");
    }
    let busy = world.to_client.iter().filter(|line| is_refused(line, "FH-SERVER-BUSY")).count();
    assert_eq!(busy, 6);
    world.front.up();
    world.go_on();
    assert_eq!(world.server.called().len(), 1_024);

    let mut world = World::of(Server::weather());
    world.starts = false;
    let long = "x".repeat(15 << 20);
    for id in 0..5 {
        let params = format!(r#"{{"name":"alerts","arguments":{{"x":"{long}"}}}}"#);
        world.client_line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#
        ));
    }
    assert!(is_refused(world.answer(4), "FH-SERVER-BUSY"));
    assert_eq!(world.answers(3).len(), 0);
}

#[test]
fn a_server_that_never_says_what_it_offers_keeps_nobody_waiting_for_ever() {
    let mut world = World::of(Server::weather());
    world.server.is_deaf = true;
    world.call(1, "alerts");
    let mut whiles = 0;
    while world.front.is_waiting() {
        whiles += 1;
        assert!(whiles <= 1_000);
        world.settle();
    }
    assert!(whiles > 100 && is_refused(world.answer(1), "FH-SERVER-BUSY"), "{whiles}");
    // It may come yet.
    world.call(2, "alerts");
    assert_eq!(world.server.called(), Vec::<&str>::new());
    world.answer_at_last();
    assert_eq!(world.server.called(), ["alerts"]);
    assert!(world.front.is_open());
}
