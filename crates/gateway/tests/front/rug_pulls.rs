//! Every rug pull, at the start of a server and mid-session.

use gateway::front::Order;
use serde_json::json;

use crate::changes::{CHANGES, NO_CHANGES};
use crate::world::{Server, World, is_refused, notification};

/// As a client sees a server of which nothing may be used.
fn assert_withdrawn(world: &mut World) {
    assert_eq!(world.names("tools/list"), ["fumehood_status"]);
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        assert_eq!(world.names(method), Vec::<String>::new());
    }
}

#[test]
fn a_server_that_has_changed_is_refused_at_its_start() {
    for change in CHANGES {
        let name = change.name;
        let mut world = World::of(Server::weather());
        let accepted = world.front_list();
        (change.edit)(&mut world.server);
        world.call(1, "forecast");
        world.call(2, "alerts");
        world.ask(3, "prompts/get", &json!({ "name": "report" }));
        assert_eq!(world.front_list(), accepted, "{name}");
        assert!(world.front.is_waiting() && !world.front.is_open(), "{name}");
        assert_eq!(world.orders, [Order::Settle], "{name}");
        world.settle();
        assert_eq!(world.changes(), [true], "{name}");
        assert!(world.front.is_closed() && !world.front.is_waiting(), "{name}");
        for id in [1, 2, 3] {
            assert!(is_refused(world.answer(id), "FH-NOT-ACCEPTED"), "{name}");
        }
        for capability in ["tools", "prompts", "resources"] {
            assert_eq!(world.told(&format!("notifications/{capability}/list_changed")), 1, "{name}");
        }
        assert_withdrawn(&mut world);
        let now = world.server.surface(&"plain".parse().unwrap());
        let told = world
            .orders
            .iter()
            .any(|order| matches!(order, Order::Changed { now: seen, .. } if **seen == Ok(now.clone())));
        assert!(told, "{name}");
        // It goes back, says so, and is asked for again: nothing of it opens what is closed.
        world.server = Server::weather();
        world.say_changed();
        world.settle();
        world.front.up();
        world.go_on();
        world.call(4, "alerts");
        assert!(is_refused(world.answer(4), "FH-NOT-ACCEPTED"), "{name}");
        assert_withdrawn(&mut world);
        assert_eq!(world.server.heard, Vec::<serde_json::Value>::new(), "{name}");
        assert_eq!(world.changes(), [true], "{name}");
    }
}

#[test]
fn what_has_changed_is_held_mid_session_and_stays_held() {
    for change in CHANGES.iter().filter(|change| change.is_in_lists) {
        let name = change.name;
        let mut world = World::open(Server::weather());
        let before = world.all_names();
        (change.edit)(&mut world.server);
        world.say_changed();
        world.settle();
        world.settle();
        assert_eq!(world.changes(), [false], "{name}");
        assert!(world.front.is_open(), "{name}");
        let told: usize = ["tools", "prompts", "resources"]
            .map(|capability| world.told(&format!("notifications/{capability}/list_changed")))
            .iter()
            .sum();
        assert_eq!(told, usize::from(!change.holds.is_empty()), "{name}");
        world.take();
        for round in ["changed", "the same again", "back as it was"] {
            if round == "back as it was" {
                let heard = std::mem::take(&mut world.server.heard);
                world.server = Server { heard, ..Server::weather() };
            }
            world.say_changed();
            world.settle();
            world.settle();
            for (number, (method, member, held)) in change.holds.iter().enumerate() {
                world.to_client.clear();
                world.server.heard.clear();
                world.ask(number, method, &json!({ *member: held }));
                assert!(
                    is_refused(world.answer(number), "FH-CHANGED"),
                    "{name}, {round}: {:?}",
                    world.to_client
                );
                assert_eq!(world.server.heard, Vec::<serde_json::Value>::new(), "{name}, {round}");
            }
            let held = |name: &String| {
                change.holds.iter().any(|(_, _, held)| held == name)
                    || name == "city://{name}" && change.name == "resource template"
            };
            let rest: Vec<String> = before.iter().filter(|name| !held(name)).cloned().collect();
            assert_eq!(world.all_names(), rest, "{name}, {round}");
            world.call("other", "alerts");
            assert_eq!(world.answer("other")["result"]["content"][0]["text"], "sunny", "{name}, {round}");
            world.call("new", "new");
            assert_eq!(world.answer("new")["error"]["code"], -32602, "{name}, {round}");
            world.take();
        }
        assert_eq!(world.changes(), [false], "{name}");
    }
}

#[test]
fn what_a_reading_of_the_lists_does_not_show_is_found_at_the_next_start() {
    for change in CHANGES.iter().filter(|change| !change.is_in_lists) {
        let mut world = World::open(Server::weather());
        (change.edit)(&mut world.server);
        world.say_changed();
        world.settle();
        assert_eq!(world.changes(), Vec::<bool>::new(), "{}", change.name);
    }
}

#[test]
fn another_spelling_is_no_change() {
    for (name, edit) in NO_CHANGES {
        let mut world = World::of(Server::weather());
        edit(&mut world.server);
        world.call(1, "forecast");
        assert!(world.front.is_open(), "{name}");
        assert_eq!(world.orders, [Order::Settle, Order::Same], "{name}");
        assert_eq!(world.answer(1)["result"]["content"][0]["text"], "sunny", "{name}");

        let mut world = World::open(Server::weather());
        edit(&mut world.server);
        world.say_changed();
        world.settle();
        world.call(1, "forecast");
        assert_eq!(world.server.called(), ["forecast"], "{name}");
        assert_eq!((world.changes(), world.told("notifications/tools/list_changed")), (vec![], 0), "{name}");
    }
}

#[test]
fn several_changes_add_up_and_each_is_told_of_once() {
    let mut world = World::open(Server::weather());
    world.server.entry("tools", "forecast")["title"] = json!("A");
    world.say_changed();
    world.settle();
    world.server.entry("tools", "alerts")["title"] = json!("B");
    world.say_changed();
    world.settle();
    world.settle();
    assert_eq!((world.changes(), world.names("tools/list")), (vec![false, false], vec![]));
    assert_eq!(world.told("notifications/tools/list_changed"), 2);
    for round in 0..100 {
        world.server.entry("tools", "alerts")["title"] = json!(format!("B{round}"));
        world.say_changed();
        world.settle();
        world.settle();
    }
    assert!(world.changes().len() <= 16, "{:?}", world.changes());
    assert_eq!(world.told("notifications/tools/list_changed"), 2);
}

/// Mid-session too, what cannot be read cannot be compared.
#[test]
fn a_list_that_cannot_be_read_ends_it_all() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a","name":"b"}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a"},{"name":"a"}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[]},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[],"nextCursor":7}}"#,
    ] {
        let mut world = World::open(Server::weather());
        world.server.is_deaf = true;
        world.ask(1, "logging/setLevel", &json!({ "level": "info" }));
        world.server.heard.clear();
        world.say(&notification("notifications/tools/list_changed"));
        world.call(2, "forecast");
        let asked =
            world.server.heard.iter().find(|line| line["method"] == "tools/list").unwrap()["id"].to_string();
        world.say_line(&answer.replace("ID", &asked));
        world.server.unanswered.retain(|line| line["method"] != "tools/list");
        world.answer_at_last();
        assert_eq!(world.changes(), [true], "{answer}");
        assert!(is_refused(world.answer(2), "FH-NOT-ACCEPTED"), "{answer}");
        assert_eq!(world.server.called(), Vec::<&str>::new());
        assert_withdrawn(&mut world);
    }
}

impl World {
    fn front_list(&mut self) -> Vec<String> {
        let names = self.all_names();
        assert!(names.len() > 4);
        names
    }

    fn all_names(&mut self) -> Vec<String> {
        ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]
            .into_iter()
            .flat_map(|method| self.names(method))
            .collect()
    }
}
