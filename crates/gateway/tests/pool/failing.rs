//! Servers that end, or never start.

use std::time::Duration;

use gateway::pool::{AskError, Heard, StartError, Times};
use serde_json::json;

use crate::world::{World, ask, key, pass, rest, result};

#[tokio::test(start_paused = true)]
async fn a_call_whose_server_ends_is_told_so_and_not_made_again() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    let other = world.calling("silent", json!({}));
    rest().await;
    let error = world.call("die", json!({})).await.unwrap_err();
    assert_eq!(error, AskError::Ended { why: "exit code 3".to_owned(), was_sent: true });
    assert_eq!(error.refusal().code.as_str(), "FH-SERVER-ENDED");
    assert_eq!(other.await.unwrap().unwrap_err(), error);
    // Whoever comes next gets a new one.
    assert_eq!(result(world.call("echo", json!({})).await)["run"], 1);
    let asked = world.heard("tools/call");
    let names: Vec<_> = asked.iter().map(|line| line["params"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "silent", "die", "echo"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_server_never_had_goes_to_the_next_one() {
    let world = World::new();
    world.state(|state| (state.crashing, state.start) = (vec!["one".to_owned()], Duration::from_secs(1)));
    let call = world.calling("echo", json!({}));
    pass(Duration::from_millis(500)).await;
    pass(Duration::from_millis(600)).await;
    // It has ended at once, and is better the second time.
    world.state(|state| state.crashing.clear());
    assert_eq!(result(call.await.unwrap())["run"], 1);
    assert_eq!(world.heard("tools/call").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_is_told_to_all_who_wait() {
    let world = World::new();
    let error = StartError { code: "FH-CELL-START", reason: "no such command".to_owned(), is_final: false };
    world.state(|state| {
        state.start = Duration::from_secs(2);
        state.failing.push_back(error);
    });
    let calls: Vec<_> = (0..5).map(|_| world.calling("echo", json!({}))).collect();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        let expected = AskError::NotStarted { code: "FH-CELL-START", why: "no such command".to_owned() };
        assert_eq!(error, expected);
        assert!(!error.may_be_done());
    }
    assert_eq!(world.starts(), 1);
    result(world.call("echo", json!({})).await);
    assert_eq!(world.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_does_not_end_is_ended() {
    let world = World::with("plain", Times { start: Duration::from_secs(20), ..Times::default() });
    world.state(|state| state.start = Duration::from_secs(100_000));
    let error = world.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code().as_str(), "FH-START-TIMEOUT");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_again_and_again_is_withheld_for_longer_each_time() {
    let world = World::with("plain", Times::default());
    world.state(|state| state.crashing = vec!["bad".to_owned()]);
    let bad = || world.asking(key("bad"), ask("echo", json!({})));
    let mut pauses = Vec::new();
    for round in 0..12_u32 {
        let error = bad().await.unwrap().unwrap_err();
        let AskError::Withheld { times, again_in, why } = &error else { panic!("{round}: {error:?}") };
        assert_eq!((*times, why.as_str()), (round + 2, "exit code 1"));
        assert!(!error.may_be_done());
        // Within it nothing is started, however often it is asked for.
        let starts = world.starts();
        for _ in 0..20 {
            assert!(matches!(bad().await.unwrap(), Err(AskError::Withheld { .. })));
        }
        assert_eq!(world.starts(), starts);
        // And nobody else is concerned.
        result(world.asking(key("good"), ask("echo", json!({}))).await.unwrap());
        pauses.push(again_in.as_secs());
        pass(*again_in).await;
    }
    assert!(pauses.is_sorted() && pauses.last() == Some(&61), "{pauses:?}");
    assert_eq!(world.starts(), 1 + 13);
    // It has become better.
    world.state(|state| state.crashing.clear());
    result(bad().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_has_run_for_a_while_is_started_anew_at_once() {
    let world = World::new();
    for run in 0..5 {
        assert_eq!(result(world.call("echo", json!({})).await)["run"], run);
        pass(Duration::from_secs(11)).await;
        world.call("die", json!({})).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_more_has_ended() {
    let world = World::new();
    let call = world.calling("silent", json!({}));
    rest().await;
    world.says(Heard::Ended("killed by signal 9".to_owned())).await;
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(error, AskError::Ended { why: "killed by signal 9".to_owned(), was_sent: true });
    rest().await;
    assert_eq!(world.state(|state| state.ends), 1);
}

/// It does not read; those who wait for it wait for their time, and nobody else does.
#[tokio::test(start_paused = true)]
async fn a_server_that_floods_stops_nobody() {
    let world = World::new();
    let mut told = world.pool.notifications();
    let flood = world.calling("flood", json!({ "lines": 20_000 }));
    let echo = world.calling("echo", json!({ "meanwhile": 1 }));
    let other = world.asking(key("two"), ask("echo", json!({})));
    result(other.await.unwrap());
    result(flood.await.unwrap());
    assert_eq!(result(echo.await.unwrap())["arguments"], json!({ "meanwhile": 1 }));
    // Nobody listened: only the newest are there.
    assert!(told.recv().await.is_err());
    assert!(told.recv().await.is_ok());
}

/// It asks, and does not read what it is answered: nothing piles up for it.
#[tokio::test(start_paused = true)]
async fn a_server_that_asks_and_does_not_read_is_not_listened_to() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    let stuck = world.calling("stuck", json!({}));
    rest().await;
    let asks = |number: usize| json!({ "jsonrpc": "2.0", "id": number, "method": "roots/list" });
    let mut said = 0;
    while said < 100_000 && world.is_heard(asks(said)).await {
        said += 1;
    }
    assert!((4_000..5_000).contains(&said), "{said}");
    let error = stuck.await.unwrap().unwrap_err();
    assert_eq!(error.code().as_str(), "FH-TIMEOUT");
    result(world.asking(key("two"), ask("echo", json!({}))).await.unwrap());
}
