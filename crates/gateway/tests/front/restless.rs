//! A server whose lists do not come to rest, and what that may cost.

use gateway::front::Order;
use serde_json::{Value, json};

use crate::world::{Server, World, is_refused, notification};

/// It has said itself that a list may be another one: a call waits until that is known.
#[test]
fn calls_wait_while_the_lists_are_read_anew() {
    let mut world = World::open(Server::weather());
    world.server.is_deaf = true;
    world.server.entry("tools", "forecast")["description"] = json!("Other.");
    world.say_changed();
    world.call(1, "alerts");
    world.call(2, "forecast");
    world.ask(3, "prompts/get", &json!({ "name": "report" }));
    world.ask(4, "resources/read", &json!({ "uri": "weather://stations" }));
    world.call(5, "alerts");
    world.call(6, "nobody's");
    world.call(7, "alerts");
    world.client(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }),
    );
    assert!(world.front.is_waiting() && world.front.is_open());
    assert_eq!(world.server.called(), Vec::<&str>::new());
    assert_eq!(world.answer(6)["error"]["code"], -32602);
    // What stands in no list does not wait.
    world.ask(8, "logging/setLevel", &json!({ "level": "info" }));
    assert_eq!(world.server.times("logging/setLevel"), 1);
    world.answer_at_last();
    assert_eq!(world.server.called(), ["alerts", "alerts"]);
    assert!(is_refused(world.answer(2), "FH-CHANGED"));
    for id in [1, 3, 4, 5] {
        assert!(world.answer(id).get("result").is_some());
    }
    assert!(world.answers(7).is_empty() && !world.front.is_waiting());
}

#[test]
fn a_call_does_not_wait_for_ever_for_a_list() {
    let mut world = World::open(Server::weather());
    world.server.is_deaf = true;
    world.say_changed();
    world.call(1, "alerts");
    for _ in 0..100 {
        world.settle();
    }
    world.call(2, "alerts");
    for _ in 0..100 {
        world.settle();
    }
    assert!(is_refused(world.answer(1), "FH-SERVER-BUSY"));
    assert!(world.answers(2).is_empty() && world.front.is_waiting());
    world.answer_at_last();
    assert_eq!(world.server.called(), ["alerts"]);
}

/// What no list is behind cannot make anybody wait.
#[test]
fn changes_of_lists_that_a_server_has_not_are_of_no_account() {
    let mut server = Server::weather();
    server.hello["capabilities"] = json!({ "tools": {} });
    let mut world = World::open(server);
    world.server.heard.clear();
    world.server.is_deaf = true;
    world.say(&notification("notifications/prompts/list_changed"));
    world.say(&notification("notifications/nonsense/list_changed"));
    world.call(1, "alerts");
    assert_eq!(world.server.heard.len(), 1);
    assert_eq!(world.server.called(), ["alerts"]);
}

#[test]
fn a_flood_of_changes_is_read_at_leisure() {
    let mut world = World::open(Server::weather());
    world.server.heard.clear();
    for _ in 0..10_000 {
        world.say(&notification("notifications/tools/list_changed"));
    }
    assert!(world.server.times("tools/list") <= 5, "{}", world.server.times("tools/list"));
    let settles = world.orders.iter().filter(|order| **order == Order::Settle).count();
    assert!(settles <= 2, "{settles}");
    // A call waits for one while at most.
    world.call(1, "alerts");
    assert!(world.front.is_waiting());
    world.settle();
    assert_eq!(world.server.called(), ["alerts"]);
    // One reading for each while, however much is said.
    let before = world.server.times("tools/list");
    for _ in 0..10 {
        for _ in 0..100 {
            world.say_changed();
        }
        world.settle();
    }
    assert!(world.server.times("tools/list") - before <= 11);
    // At rest nothing is to be timed any more.
    for _ in 0..10 {
        world.settle();
    }
    world.orders.clear();
    world.settle();
    assert_eq!(world.orders, []);
    assert!(world.front.is_open() && world.changes().is_empty());
}

/// Each reading is overtaken by a change: there is no outcome, and so no call passes; at last it is given up.
#[test]
fn lists_that_change_while_they_are_read_are_given_up() {
    let mut world = World::open(Server::weather());
    world.server.is_deaf = true;
    world.say_changed();
    world.call(1, "alerts");
    let mut whiles = 0;
    while world.front.is_open() && whiles < 1_000 {
        whiles += 1;
        for asked in std::mem::take(&mut world.server.unanswered) {
            world.say(&notification("notifications/tools/list_changed"));
            world.server.is_deaf = false;
            for said in world.server.hear(&asked) {
                world.server.is_deaf = true;
                world.say_line(&said);
            }
            world.server.is_deaf = true;
        }
        world.settle();
    }
    assert!(whiles < 100, "{whiles}");
    assert_eq!((world.changes(), world.server.called()), (vec![true], vec![]));
    assert!(is_refused(world.answer(1), "FH-NOT-ACCEPTED"));
}

/// At its start a server that differs is given a while, and one more for every change, but not for ever.
#[test]
fn changes_without_end_do_not_postpone_the_decision() {
    let mut world = World::of(Server::weather());
    world.server.entry("tools", "forecast")["title"] = json!("Other");
    world.call(1, "alerts");
    let mut whiles = 0;
    while !world.front.is_closed() && whiles < 1_000 {
        whiles += 1;
        let entry = json!({ "name": format!("new{whiles}"), "inputSchema": { "type": "object" } });
        world.server.lists.get_mut("tools").unwrap().push(entry);
        world.say_changed();
        world.settle();
    }
    assert!((10..=40).contains(&whiles), "{whiles}");
    assert_eq!((world.changes(), world.server.called()), (vec![true], vec![]));
    assert!(is_refused(world.answer(1), "FH-NOT-ACCEPTED"));
}

/// Nor does chatter, nor a list that never comes.
#[test]
fn chatter_does_not_postpone_the_decision() {
    let mut world = World::of(Server::weather());
    world.server.entry("tools", "forecast")["title"] = json!("Other");
    world.call(1, "alerts");
    for n in 0..1_000 {
        world.say(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "data": n } }));
        world.say(&json!({ "jsonrpc": "2.0", "id": n, "method": "ping" }));
    }
    assert_eq!(world.orders.iter().filter(|order| **order == Order::Settle).count(), 1);
    world.settle();
    assert_eq!(world.changes(), [true]);

    let mut world = World::of(Server::weather());
    world.server.entry("tools", "forecast")["title"] = json!("Other");
    world.call(1, "alerts");
    world.server.is_deaf = true;
    world.say_changed();
    let mut whiles = 0;
    while !world.front.is_closed() && whiles < 1_000 {
        whiles += 1;
        world.settle();
    }
    assert!(whiles <= 40, "{whiles}");
    assert!(is_refused(world.answer(1), "FH-NOT-ACCEPTED"));
    assert_eq!(world.server.called(), Vec::<&str>::new());
}

/// A server with as much as it may have, all of which changes at once.
#[test]
fn many_entries_are_compared_by_name() {
    let mut server = Server::weather();
    let text = "x".repeat(1_000);
    let tools = (0..2_000).map(
        |n| json!({ "name": format!("t{n}"), "description": text, "inputSchema": { "type": "object" } }),
    );
    server.lists.insert("tools", tools.collect::<Vec<Value>>());
    let mut world = World::open(server);
    for tool in world.server.lists.get_mut("tools").unwrap().iter_mut().skip(1) {
        tool["description"] = json!("other");
    }
    world.say(&notification("notifications/tools/list_changed"));
    assert_eq!(world.names("tools/list"), ["t0"]);
    assert_eq!(world.told("notifications/tools/list_changed"), 1);
}
