//! What happens at the edge of a cell, and whose call it was.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gateway::pool::{Heard, Seen};
use serde_json::{Value, json};

use crate::world::{World, ask, key, pass, rest, result};

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn seen(world: &World) -> Vec<Seen> {
    world.state(|state| std::mem::take(&mut state.seen))
}

#[tokio::test(start_paused = true)]
async fn an_event_is_of_the_calls_that_the_server_had() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    world.says(Heard::Network(json!({ "event": "opened", "host": "a.example" }))).await;
    rest().await;
    let events = seen(&world);
    assert_eq!((events.len(), events[0].calls.len()), (1, 0));
    assert_eq!((&events[0].key, &events[0].event["host"]), (&key("one"), &json!("a.example")));

    let (first, second) = (ask("silent", json!({})), ask("silent", json!({})));
    let names = [first.call.clone(), second.call.clone()];
    let first = world.asking(key("one"), first);
    rest().await;
    world.says(Heard::Network(json!({ "event": "opened" }))).await;
    rest().await;
    assert_eq!(seen(&world)[0].calls, names[..1]);
    let _second = world.asking(key("one"), second);
    rest().await;
    world.says(Heard::Network(json!({ "event": "key-used" }))).await;
    rest().await;
    let mut calls = seen(&world)[0].calls.clone();
    calls.sort();
    assert_eq!(calls, names);
    first.abort();
    rest().await;
    world.says(Heard::Network(json!({ "event": "opened" }))).await;
    rest().await;
    assert_eq!(seen(&world)[0].calls, names[1..]);
}

/// Events come a little after they happened.
#[tokio::test(start_paused = true)]
async fn an_event_that_comes_late_is_of_the_calls_of_its_time() {
    let world = World::new();
    let before = now();
    std::thread::sleep(Duration::from_millis(5));
    let call = ask("echo", json!({}));
    let name = call.call.clone();
    result(world.asking(key("one"), call).await.unwrap());
    let during = now();
    std::thread::sleep(Duration::from_millis(5));
    for (at, calls) in [(before, vec![]), (during, vec![name]), (now(), vec![])] {
        world.says(Heard::Network(json!({ "event": "opened", "last_ms": at }))).await;
        rest().await;
        assert_eq!(seen(&world)[0].calls, calls, "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_event_is_lost_and_no_call_waits_for_one() {
    let world = World::new();
    world.state(|state| state.record = Duration::from_millis(10));
    result(world.call("echo", json!({})).await);
    for number in 0..1_000 {
        world.says(Heard::Network(json!({ "number": number }))).await;
    }
    let began = tokio::time::Instant::now();
    result(world.call("echo", json!({})).await);
    assert_eq!(began.elapsed(), Duration::ZERO);
    pass(Duration::from_secs(11)).await;
    let numbers: Vec<Value> = seen(&world).into_iter().map(|seen| seen.event["number"].clone()).collect();
    assert_eq!(numbers, (0..1_000).map(Value::from).collect::<Vec<_>>());
}
