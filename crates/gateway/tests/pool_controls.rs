//! Attacks that the pool stops, each shown to work when its guard is taken away. Built with the feature `guard-off` only.

#![cfg(feature = "guard-off")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the code of tests may panic"
)]

use std::time::Duration;

use gateway::{
    guard::without,
    pool::{Ask, AskError, Times},
};
use serde_json::json;
use tokio::sync::mpsc;

#[path = "pool/server.rs"]
mod server;
#[path = "pool/world.rs"]
#[expect(dead_code, reason = "the other tests use more of it")]
mod world;

use world::{World, ask, asked, key, rest};

/// Runs an attack with its guards, where it has to fail, and without, where it has to work.
fn control<F: Future<Output = bool>>(guards: &[&'static str], attack: impl Fn(World) -> F) {
    let run = || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async { attack(World::new()).await })
    };
    {
        let _all = without(&[]);
        assert!(!run(), "{guards:?} do not stop this");
    }
    let _off = without(guards);
    assert!(run(), "this fails without {guards:?} too");
}

#[test]
fn a_changed_tool_is_called() {
    control(&["front-hold"], |world| async move {
        world::result(world.call("echo", json!({})).await);
        world.state(|state| state.changed = Some(0));
        world.says_line(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })).await;
        rest().await;
        world.call("echo", json!({})).await.is_ok()
    });
}

#[test]
fn a_changed_server_is_called() {
    control(&["front-comparison"], |world| async move {
        world.state(|state| state.changed = Some(0));
        world.call("echo", json!({})).await.is_ok()
    });
}

#[test]
fn answers_pile_up_for_a_server_that_does_not_read_them() {
    control(&["pool-bounds"], |world| async move {
        world::result(world.call("echo", json!({})).await);
        let stuck = world.calling("stuck", json!({}));
        rest().await;
        let mut said = 0;
        while said < 20_000
            && world.is_heard(json!({ "jsonrpc": "2.0", "id": said, "method": "roots/list" })).await
        {
            said += 1;
        }
        stuck.abort();
        said == 20_000
    });
}

#[test]
fn a_bystander_is_asked_for_somebody_else() {
    control(&["pool-questions"], |world| async move {
        let first = world.asking(key("one"), ask("ask", json!({})));
        let (bystander, mut put) = asked("silent", json!({}));
        let second = world.asking(key("one"), bystander);
        rest().await;
        let is_asked = put.try_recv().is_ok();
        first.abort();
        second.abort();
        is_asked
    });
}

#[test]
fn a_call_of_nobody_goes_on() {
    control(&["pool-cancel"], |world| async move {
        let call = world.calling("silent", json!({}));
        rest().await;
        call.abort();
        rest().await;
        world.heard("notifications/cancelled").is_empty()
    });
}

/// The cell is found without a call in flight, and forgotten with the one that has just come.
#[test]
fn a_call_is_lost_where_a_cell_is_forgotten() {
    control(&["pool-wake"], |world| async move {
        matches!(world.call("echo", json!({})).await, Err(AskError::Ended { .. }))
    });
}

#[test]
fn a_server_that_ends_at_once_is_started_without_end() {
    control(&["pool-backoff"], |world| async move {
        world.state(|state| {
            state.crashing = vec!["one".to_owned()];
            state.start = Duration::from_millis(1);
        });
        let hasty = Ask { deadline: Duration::from_secs(1), ..ask("echo", json!({})) };
        let call = world.asking(key("one"), hasty);
        tokio::time::sleep(Duration::from_secs(1)).await;
        call.abort();
        world.starts() > 50
    });
}

#[test]
fn progress_goes_backwards() {
    control(&["pool-progress"], |world| async move {
        let (progress, mut told) = mpsc::channel(16);
        let steps = json!({ "ms": 1_000, "steps": [5, 3] });
        let call = Ask { progress: Some(progress), ..ask("progress", steps) };
        world.asking(key("one"), call).await.unwrap().unwrap();
        let mut steps = Vec::new();
        while let Some(params) = told.recv().await {
            steps.push(params["progress"].as_i64().unwrap());
        }
        steps == [5, 3]
    });
}

#[test]
fn a_server_that_does_not_read_is_told_without_end() {
    control(&["pool-bounds"], |world| async move {
        // Frozen from within, as it were: lines are taken from nobody.
        let pool = World::with("plain", Times::default());
        pool.state(|state| state.reads_nothing = true);
        let big = "x".repeat(1 << 20);
        let calls: Vec<_> = (0..100).map(|_| pool.calling("echo", json!({ "text": big }))).collect();
        rest().await;
        let refused = calls.iter().filter(|call| call.is_finished()).count();
        for call in &calls {
            call.abort();
        }
        drop(world);
        refused == 0
    });
}

/// What a server answers under an id that nobody uses would have to be taken for somebody's.
#[test]
fn an_answer_to_nobody_is_an_answer() {
    let _without = without(&["front-unasked-answers"]);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let world = World::new();
        let other = world.calling("slow", json!({ "ms": 50 }));
        let answer = world::result(world.call("twice", json!({ "a": 1 })).await);
        assert_eq!(answer["arguments"], json!({ "a": 1 }));
        // The front has let it pass; nobody is there to take it.
        assert_eq!(world::result(other.await.unwrap())["arguments"], json!({ "ms": 50 }));
    });
}
