//! Servers that change, and what is accepted of them that does.

use std::time::Duration;

use gateway::pool::{AskError, Times};
use serde_json::{Value, json};

use crate::world::{World, pass, rest, result};

#[tokio::test(start_paused = true)]
async fn a_server_that_is_another_one_is_not_called() {
    let world = World::new();
    world.state(|state| state.changed = Some(0));
    let error = world.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code().as_str(), "FH-CHANGED");
    assert_eq!(world.heard("tools/call"), Vec::<Value>::new());
    pass(Duration::from_secs(1)).await;
    assert_eq!(world.state(|state| (state.held.clone(), state.ends)), (vec![true], 1));
    // Nor is it looked at again for every call.
    for _ in 0..3 {
        assert_eq!(world.call("silent", json!({})).await.unwrap_err().code().as_str(), "FH-CHANGED");
    }
    assert_eq!(world.starts(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_changes_while_it_runs_is_held_and_stays_held() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    world.state(|state| state.changed = Some(0));
    world.says_line(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })).await;
    pass(Duration::from_secs(2)).await;
    assert_eq!(world.state(|state| state.held.clone()), [false]);
    assert_eq!(world.call("echo", json!({})).await.unwrap_err().code().as_str(), "FH-CHANGED");
    result(world.call("slow", json!({ "ms": 1 })).await);
    // It goes back, and is ended for want of use: that makes up for nothing.
    world.state(|state| state.changed = None);
    pass(Duration::from_secs(1_000)).await;
    assert_eq!(world.state(|state| state.ends), 1);
    assert_eq!(world.call("echo", json!({})).await.unwrap_err().code().as_str(), "FH-CHANGED");
    result(world.call("slow", json!({ "ms": 1 })).await);
    assert_eq!(world.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_restless_server_answers_all_the_same() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    for round in 0..100 {
        world.says_line(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })).await;
        if round % 10 == 0 {
            result(world.call("echo", json!({})).await);
        }
    }
    assert_eq!(world.state(|state| state.held.clone()), Vec::<bool>::new());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_accepted_is_not_started() {
    let world = World::new();
    world.state(|state| state.refused.insert("one".to_owned(), "nobody has reviewed it".to_owned()));
    let error = world.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error, AskError::NotAccepted("nobody has reviewed it".to_owned()));
    assert_eq!((world.starts(), error.may_be_done()), (0, false));
    // It is, from one call to the next.
    world.state(|state| state.refused.clear());
    result(world.call("echo", json!({})).await);
}

#[tokio::test(start_paused = true)]
async fn a_reload_lets_calls_end_and_later_ones_meet_the_new_cell() {
    let world = World::new();
    let before = world.calling("slow", json!({ "ms": 5_000 }));
    rest().await;
    world.state(|state| state.version = 1);
    world.pool.reload();
    rest().await;
    let after = world.calling("echo", json!({}));
    pass(Duration::from_secs(1)).await;
    assert_eq!(world.heard("tools/call").len(), 1);
    assert_eq!(result(before.await.unwrap())["run"], 0);
    assert_eq!(result(after.await.unwrap())["run"], 1);
    assert_eq!(world.state(|state| state.ends), 1);
    // Nothing has changed: nothing happens.
    world.pool.reload();
    rest().await;
    assert_eq!(result(world.call("echo", json!({})).await)["run"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_reload_does_not_wait_for_ever() {
    let world = World::with("plain", Times { drain: Duration::from_secs(10), ..Times::default() });
    let stuck = world.calling("silent", json!({}));
    rest().await;
    world.state(|state| drop(state.refused.insert("one".to_owned(), "it was removed".to_owned())));
    world.pool.reload();
    rest().await;
    let after = world.calling("echo", json!({}));
    let error = stuck.await.unwrap().unwrap_err();
    assert!(matches!(error, AskError::Ended { was_sent: true, .. }), "{error:?}");
    assert_eq!(after.await.unwrap(), Err(AskError::NotAccepted("it was removed".to_owned())));
    assert_eq!(world.heard("notifications/cancelled").len(), 1);
    pass(Duration::from_secs(1)).await;
    assert_eq!((world.state(|state| state.ends), world.starts()), (1, 1));
    assert_eq!(world.pool.keys(), []);
}

#[tokio::test(start_paused = true)]
async fn a_changed_server_is_used_again_once_it_is_accepted() {
    let world = World::new();
    world.state(|state| state.changed = Some(0));
    world.call("echo", json!({})).await.unwrap_err();
    pass(Duration::from_secs(1)).await;
    // Another look at the same does not open what was closed.
    world.pool.reload();
    rest().await;
    assert_eq!(world.call("echo", json!({})).await.unwrap_err().code().as_str(), "FH-CHANGED");
    world.state(|state| (state.changed, state.pass_through) = (None, true));
    world.pool.reload();
    rest().await;
    result(world.call("echo", json!({})).await);
}
