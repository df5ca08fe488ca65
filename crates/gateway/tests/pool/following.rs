//! Resources that are followed, and logs that are read.

use std::{sync::Arc, time::Duration};

use access::principal::Principal;
use gateway::pool::{Answer, CellKey, Heard, Holder, Level};
use serde_json::{Value, json};

use crate::world::{World, key, pass, request, rest, result};

fn subscribe(uri: &str) -> gateway::pool::Ask {
    request("resources/subscribe", json!({ "uri": uri }))
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_followed_as_long_as_somebody_does() {
    let world = World::new();
    let mut told = world.pool.notifications();
    let follow = || async {
        let (answer, kept) = world.pool.subscribe(&key("one"), None, subscribe("mem://a")).await.unwrap();
        assert_eq!(answer, Answer::Result(json!({})));
        kept.unwrap()
    };
    let (first, second) = (follow().await, follow().await);
    let update = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "mem://a" } });
    world.says_line(update.clone()).await;
    let one = told.recv().await.unwrap();
    assert_eq!((one.server.as_str(), &*one.notification), ("one", &update));
    drop(first);
    rest().await;
    assert_eq!(world.heard("resources/unsubscribe"), Vec::<Value>::new());
    // A followed server is not put to rest.
    pass(Duration::from_secs(2_000)).await;
    assert_eq!(world.state(|state| (state.freezes, state.ends)), (0, 0));
    drop(second);
    rest().await;
    assert_eq!(world.heard("resources/unsubscribe").len(), 1);
    pass(Duration::from_secs(1_000)).await;
    assert_eq!(world.state(|state| state.ends), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_started_anew_is_told_what_is_followed() {
    let world = World::new();
    let (_, _kept) = world.pool.subscribe(&key("one"), None, subscribe("mem://a")).await.unwrap();
    world.says(Heard::Ended("exit code 1".to_owned())).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(world.starts(), 2);
    let told = world.heard("resources/subscribe");
    assert_eq!(told.len(), 2);
    assert_eq!(told[1]["params"], json!({ "uri": "mem://a" }));
}

/// Nobody asks for anything when it is started anew, and it is this user's all the same.
#[tokio::test(start_paused = true)]
async fn a_users_own_server_is_started_anew_for_what_is_followed() {
    let world = World::new();
    let ann = Arc::new(Principal::local("ann"));
    let whose = Holder::User(ann.key());
    let own = CellKey { whose, ..key("one") };
    let (_, _kept) = world.pool.subscribe(&own, Some(Arc::clone(&ann)), subscribe("mem://a")).await.unwrap();
    let line = world.state(|state| state.lines[&own].clone());
    line.send(Heard::Ended("exit code 1".to_owned())).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(world.state(|state| state.started_for.clone()), [Some(Arc::clone(&ann)), Some(ann)]);
}

#[tokio::test(start_paused = true)]
async fn a_server_logs_what_the_most_curious_wants() {
    let world = World::new();
    let warnings = world.pool.read_logs(&key("one"), Level::Warning);
    assert_eq!(world.starts(), 0);
    result(world.call("echo", json!({})).await);
    let errors = world.pool.read_logs(&key("one"), Level::Error);
    rest().await;
    let debug = world.pool.read_logs(&key("one"), Level::Debug);
    rest().await;
    drop(warnings);
    rest().await;
    drop(debug);
    rest().await;
    let levels: Vec<Value> =
        world.heard("logging/setLevel").iter().map(|line| line["params"]["level"].clone()).collect();
    assert_eq!(levels, ["warning", "debug", "error"]);
    drop(errors);
    let mut told = world.pool.notifications();
    let message = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "error", "data": 1 } });
    world.says_line(message.clone()).await;
    assert_eq!(*told.recv().await.unwrap().notification, message);
}
