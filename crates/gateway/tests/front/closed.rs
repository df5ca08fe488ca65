//! A server of which nothing may be used, and its acceptance while the client waits.

use gateway::front::{Front, Notice};
use serde_json::{Value, json};

use crate::world::{PREFIX, Server, World, is_refused};

fn notice(reason: &str) -> Notice {
    Notice { server: "sky".to_owned(), reason: reason.to_owned(), remedy: "fumehood review sky".to_owned() }
}

fn closed() -> World {
    let front =
        Front::closed(notice("nobody has reviewed it yet"), "plain".parse().unwrap(), PREFIX.to_owned());
    let mut world = World::around(front, Server::weather());
    world.hello(&json!({}));
    world
}

#[test]
fn a_closed_front_has_one_entry_that_says_what_to_do() {
    let mut world = closed();
    let hello = &world.answer("hello")["result"];
    assert_eq!((&hello["serverInfo"]["name"], hello.get("instructions")), (&json!("fumehood"), None));
    for list in ["tools", "prompts", "resources"] {
        assert_eq!(hello["capabilities"][list], json!({ "listChanged": true }));
    }
    world.ask(1, "tools/list", &json!({}));
    let tools = &world.answer(1)["result"]["tools"];
    assert_eq!((tools.as_array().unwrap().len(), &tools[0]["name"]), (1, &json!("fumehood_status")));
    let said = tools[0]["description"].as_str().unwrap();
    assert!(said.contains("`fumehood review sky`") && said.contains("nobody has reviewed it yet"), "{said}");
    world.call(2, "fumehood_status");
    let status = &world.answer(2)["result"];
    assert_eq!(status["isError"], false);
    assert!(status["content"][0]["text"].as_str().unwrap().contains("`fumehood review sky`"));
    world.call(3, "forecast");
    assert_eq!(world.answer(3)["error"]["code"], -32602);
    for (id, method, params) in [
        (4, "prompts/get", json!({ "name": "report" })),
        (5, "resources/read", json!({ "uri": "weather://stations" })),
        (6, "logging/setLevel", json!({ "level": "info" })),
    ] {
        world.ask(id, method, &params);
        assert!(is_refused(world.answer(id), "FH-NOT-ACCEPTED"), "{method}");
    }
    assert!(world.front.is_closed() && !world.front.is_waiting() && !world.front.is_open());
    world.front.starting();
    world.front.up();
    world.say_changed();
    world.settle();
    world.front.gone("never was");
    world.go_on();
    assert!(world.front.is_closed());
    assert_eq!((world.orders.len(), world.server.heard.len()), (0, 0));
}

#[test]
fn a_notice_is_told_of_when_it_is_another_one() {
    let mut world = closed();
    world.take();
    for reason in ["nobody has reviewed it yet", "it is being installed", "it is being installed"] {
        world.front.notice(notice(reason));
        world.go_on();
    }
    let told: Vec<Value> = world.take().into_iter().map(|line| line["method"].clone()).collect();
    let changed = |list: &str| json!(format!("notifications/{list}/list_changed"));
    assert_eq!(told, [changed("tools"), changed("prompts"), changed("resources")]);
    world.ask(1, "tools/list", &json!({}));
    let said = world.answer(1)["result"]["tools"][0]["description"].as_str().unwrap().to_owned();
    assert!(said.contains("it is being installed"), "{said}");
}

#[test]
fn after_an_acceptance_the_client_has_the_real_lists() {
    let mut world = closed();
    world.server.hello["capabilities"] = json!({ "tools": {} });
    world.take();
    let surface = world.server.surface(&"plain".parse().unwrap());
    world.front.accept(surface, "plain".parse().unwrap());
    world.go_on();
    for list in ["tools", "prompts", "resources"] {
        assert_eq!(world.told(&format!("notifications/{list}/list_changed")), 1);
    }
    assert_eq!(world.names("tools/list"), ["alerts", "forecast"]);
    assert!(!world.front.is_closed());
    // Every list that the client was told of can be asked for, though the server has them not.
    assert_eq!(world.names("prompts/list"), Vec::<String>::new());
    world.ask("prompt", "prompts/get", &json!({ "name": "report" }));
    assert_eq!(world.answer("prompt")["error"]["code"], -32602);
    world.call(1, "forecast");
    assert_eq!(world.server.called(), ["forecast"]);
    assert_eq!(world.answer(1)["result"]["content"][0]["text"], "sunny");
}

/// A person has looked at a change and accepted it: the same session goes on with it.
#[test]
fn a_refused_server_can_be_accepted_anew() {
    let mut world = World::of(Server::weather());
    world.server.entry("tools", "forecast")["title"] = json!("Other");
    world.call(1, "forecast");
    world.settle();
    assert!(world.front.is_closed());
    let surface = world.server.surface(&"plain".parse().unwrap());
    world.front.accept(surface, "plain".parse().unwrap());
    world.call(2, "forecast");
    assert_eq!(world.server.called(), ["forecast"]);
    assert!(world.front.is_open());
    // The ids of the second reading are others than those of the first.
    let ids: Vec<&Value> = world
        .server
        .heard
        .iter()
        .filter(|line| line["method"] == "tools/list")
        .map(|line| &line["id"])
        .collect();
    assert!(
        ids.len() > 1 && ids.iter().all(|id| ids.iter().filter(|other| other == &id).count() == 1),
        "{ids:?}"
    );
}

#[test]
fn what_is_not_accepted_any_more_is_closed_with_a_reason() {
    let mut world = World::of(Server::weather());
    world.starts = false;
    world.call(1, "forecast");
    world.front.close(notice("somebody has withdrawn it"));
    world.go_on();
    assert!(is_refused(world.answer(1), "FH-NOT-ACCEPTED"));
    assert!(world.front.is_closed() && !world.front.is_waiting());
    assert_eq!(world.names("tools/list"), ["fumehood_status"]);
    world.front.up();
    world.call(2, "forecast");
    assert!(is_refused(world.answer(2), "FH-NOT-ACCEPTED"));
    assert_eq!(world.server.heard, Vec::<Value>::new());
}

/// A client that comes late hears of what is, and reads no text of a server that was refused.
#[test]
fn a_client_that_says_hello_after_the_refusal_meets_us_alone() {
    let front = Front::accepted(
        Server::weather().surface(&"plain".parse().unwrap()),
        "plain".parse().unwrap(),
        PREFIX.to_owned(),
    );
    let mut world = World::around(front, Server::weather());
    world.server.hello["instructions"] = json!("Other");
    world.front.up();
    world.go_on();
    world.settle();
    assert_eq!(world.changes(), [true]);
    world.hello(&json!({}));
    let hello = &world.answer("hello")["result"];
    assert_eq!((&hello["serverInfo"]["name"], hello.get("instructions")), (&json!("fumehood"), None));
    // Where nobody has said how a person calls the server, its own name is in no command.
    world.call(1, "fumehood_status");
    let said = world.answer(1)["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("run `fumehood review` in"), "{said}");
}
