//! Cells that rest, are stopped and are woken.

use std::time::Duration;

use gateway::pool::{AskError, Times};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::world::{World, ask, key, pass, rest, result};

fn times() -> Times {
    Times { idle_freeze: Duration::from_mins(1), idle_stop: Duration::from_mins(15), ..Times::default() }
}

#[tokio::test(start_paused = true)]
async fn a_cell_that_nobody_uses_is_frozen_and_continued_for_a_call() {
    let world = World::with("plain", times());
    result(world.call("slow", json!({ "ms": 20_000 })).await);
    pass(Duration::from_secs(59)).await;
    assert_eq!(world.state(|state| state.freezes), 0);
    pass(Duration::from_secs(2)).await;
    assert_eq!(world.state(|state| (state.freezes, state.thaws)), (1, 0));
    for round in 1..=3 {
        let answer = result(world.call("echo", json!({ "round": round })).await);
        assert_eq!((&answer["arguments"]["round"], &answer["run"]), (&json!(round), &json!(0)));
        assert_eq!(world.state(|state| (state.freezes, state.thaws)), (round, round));
        pass(Duration::from_secs(61)).await;
    }
    // What takes long is not idle.
    let long =
        gateway::pool::Ask { deadline: Duration::from_mins(5), ..ask("slow", json!({ "ms": 200_000 })) };
    result(world.asking(key("one"), long).await.unwrap());
    assert_eq!(world.state(|state| (state.freezes, state.thaws)), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn a_cell_that_nobody_uses_for_long_is_ended_and_started_for_a_call() {
    let world = World::with("plain", times());
    result(world.call("echo", json!({})).await);
    pass(Duration::from_secs(901)).await;
    assert_eq!(world.state(|state| (state.freezes, state.ends, state.starts.len())), (1, 1, 1));
    assert_eq!(world.pool.keys(), []);
    let answer = result(world.call("echo", json!({ "again": 1 })).await);
    assert_eq!((&answer["arguments"], &answer["run"]), (&json!({ "again": 1 }), &json!(1)));
    assert_eq!(world.state(|state| (state.starts.len(), state.thaws)), (2, 0));
}

/// Calls at every moment around the one at which a cell is frozen, or ended.
#[tokio::test(start_paused = true)]
async fn no_call_is_lost_or_doubled_however_it_meets_a_cell_that_stops() {
    let short = Times {
        idle_freeze: Duration::from_millis(40),
        idle_stop: Duration::from_millis(100),
        ..Times::default()
    };
    let world = World::with("plain", short);
    world.state(|state| (state.end, state.start) = (Duration::from_millis(7), Duration::from_millis(3)));
    let mut made = 0_u64;
    for round in 0..400_u64 {
        let mut calls = Vec::new();
        for _ in 0..=round % 3 {
            calls.push(world.calling("echo", json!({ "number": made })));
            made += 1;
            if round % 2 == 0 {
                rest().await;
            }
        }
        for call in calls {
            result(call.await.unwrap());
        }
        sleep(Duration::from_micros(35_000 + round * 1_977 % 90_000)).await;
    }
    let mut heard: Vec<u64> = world
        .heard("tools/call")
        .iter()
        .map(|line| line["params"]["arguments"]["number"].as_u64().unwrap())
        .collect();
    heard.sort_unstable();
    assert_eq!(heard, (0..made).collect::<Vec<_>>());
    let (starts, freezes) = world.state(|state| (state.starts.len(), state.freezes));
    assert!(starts > 50 && freezes > 100, "{starts} starts, {freezes} freezes");
}

#[tokio::test(start_paused = true)]
async fn a_call_meets_a_cell_that_is_being_ended_and_waits_for_the_next() {
    let world = World::with("plain", times());
    world.state(|state| state.end = Duration::from_secs(10));
    result(world.call("echo", json!({})).await);
    pass(Duration::from_secs(901)).await;
    assert_eq!(world.state(|state| state.ends), 0);
    let answer = result(world.call("echo", json!({ "late": 1 })).await);
    assert_eq!((&answer["run"], world.state(|state| state.ends)), (&json!(1), 1));
}

#[tokio::test(start_paused = true)]
async fn a_service_that_stops_lets_calls_end_until_it_does_not() {
    let world = World::new();
    let short = world.calling("slow", json!({ "ms": 3_000 }));
    let long = world.calling("slow", json!({ "ms": 20_000 }));
    let idle = world.asking(key("two"), ask("echo", json!({})));
    result(idle.await.unwrap());
    rest().await;
    let stopping = tokio::spawn({
        let pool = world.pool.clone();
        async move { pool.stop(Duration::from_secs(10)).await }
    });
    rest().await;
    assert_eq!(world.state(|state| state.ends), 1);
    assert_eq!(world.call("echo", json!({})).await, Err(AskError::Stopping));
    let asked = world.heard("tools/call").len();
    result(short.await.unwrap());
    let error = long.await.unwrap().unwrap_err();
    assert!(matches!(&error, AskError::Ended { was_sent: true, .. }), "{error:?}");
    stopping.await.unwrap();
    assert_eq!(world.state(|state| state.ends), 2);
    assert_eq!(world.heard("notifications/cancelled").len(), 1);
    assert_eq!(world.heard("tools/call").len(), asked);
}

/// What is still being started then is given up, and whoever waits for it is told.
#[tokio::test(start_paused = true)]
async fn a_service_that_stops_does_not_wait_for_a_start() {
    let world = World::new();
    world.state(|state| state.start = Duration::from_mins(4));
    let call = world.calling("echo", json!({}));
    rest().await;
    let began = tokio::time::Instant::now();
    world.pool.stop(Duration::from_secs(10)).await;
    assert_eq!(began.elapsed().as_secs(), 10);
    assert_eq!(call.await.unwrap(), Err(AskError::Stopping));
    assert_eq!(world.heard("tools/call"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_nobody_has_any_more_ends_its_cells() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    let World { pool, doubles } = world;
    drop(pool);
    pass(Duration::from_secs(1)).await;
    assert_eq!(doubles.with(|state| state.ends), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_frozen_is_not_spoken_to_before_it_is_continued() {
    let world = World::with("plain", times());
    result(world.call("echo", json!({})).await);
    pass(Duration::from_secs(61)).await;
    let calls: Vec<_> = (0..50).map(|number| world.calling("echo", json!({ "number": number }))).collect();
    for call in calls {
        result(call.await.unwrap());
    }
    assert_eq!(world.state(|state| (state.freezes, state.thaws, state.starts.len())), (1, 1, 1));
    assert_eq!(world.heard("notifications/cancelled"), Vec::<Value>::new());
}
