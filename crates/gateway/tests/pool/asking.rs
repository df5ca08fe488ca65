//! What callers ask, and the answers that they get.

use std::time::Duration;

use gateway::pool::{Answer, Ask, AskError, CellKey, Holder, Times};
use model::name::ServerName;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet, time::Instant};

use crate::world::{World, ask, key, pass, rest, result};

#[tokio::test(start_paused = true)]
async fn each_of_many_callers_gets_its_own_answer() {
    let world = World::new();
    let mut calls = JoinSet::new();
    for number in 0_u64..500 {
        let world = world.clone();
        calls.spawn(async move {
            // The last ones are answered first.
            let arguments = json!({ "ms": 1_000 - number, "number": number });
            let answer = result(world.call("slow", arguments.clone()).await);
            assert_eq!(answer["arguments"], arguments);
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    assert_eq!(world.starts(), 1);
    assert_eq!(world.heard("initialize").len(), 1);
    let asked = world.heard("tools/call");
    let ids: std::collections::BTreeSet<_> = asked.iter().map(|line| line["id"].to_string()).collect();
    assert_eq!((asked.len(), ids.len()), (500, 500));
}

#[tokio::test(start_paused = true)]
async fn cells_are_nobody_elses() {
    let world = World::new();
    let keys = [
        Holder::Server,
        Holder::User("aa".repeat(32)),
        Holder::User("bb".repeat(32)),
        Holder::Group("red".to_owned()),
        Holder::Group("blue".to_owned()),
    ]
    .map(|whose| CellKey { server: ServerName::new("one").unwrap(), whose });
    for _ in 0..2 {
        for key in &keys {
            let answer = result(world.pool.ask(key, None, ask("echo", json!({}))).await);
            assert_eq!(answer["key"], key.to_string());
        }
    }
    assert_eq!(world.state(|state| state.starts.clone()), keys);
}

/// Case 36: clients give up after a minute, servers do not.
#[tokio::test(start_paused = true)]
async fn a_wait_of_seventy_seconds_does_not_lose_the_result() {
    let world = World::new();
    let patient = Ask { deadline: Duration::from_mins(2), ..ask("slow", json!({ "ms": 70_000 })) };
    let began = Instant::now();
    let answer = result(world.pool.ask(&key("one"), None, patient).await);
    assert_eq!(answer["arguments"]["ms"], 70_000);
    assert!(began.elapsed() >= Duration::from_secs(70));
}

#[tokio::test(start_paused = true)]
async fn progress_gives_a_call_more_time_up_to_an_end() {
    let world = World::new();
    let (progress, mut told) = mpsc::channel(16);
    let steps = json!({ "ms": 20_000, "steps": [1, 2, 3.5] });
    let slow = Ask { progress: Some(progress), ..ask("progress", steps) };
    let asked = world.asking(key("one"), slow);
    for step in [json!(1), json!(2), json!(3.5)] {
        assert_eq!(told.recv().await.unwrap(), json!({ "progress": step, "message": "on" }));
    }
    result(asked.await.unwrap());

    let (progress, mut told) = mpsc::channel(16);
    let steps: Vec<u64> = (0..100).collect();
    let endless =
        Ask { progress: Some(progress), ..ask("progress", json!({ "ms": 20_000, "steps": steps })) };
    let began = Instant::now();
    let asked = world.asking(key("one"), endless);
    tokio::spawn(async move { while told.recv().await.is_some() {} });
    let error = asked.await.unwrap().unwrap_err();
    assert_eq!(error, AskError::Timeout { after: Duration::from_secs(30), was_sent: true });
    let times = Times::default();
    assert_eq!(began.elapsed().as_secs(), 30 * u64::from(times.total));
}

#[tokio::test(start_paused = true)]
async fn progress_goes_up_is_paced_and_holds_up_nobody() {
    let world = World::new();
    let (progress, mut told) = mpsc::channel(2);
    let steps: Vec<Value> = [json!(5), json!(5), json!(4), json!("x"), json!(6)]
        .into_iter()
        .chain((7..1_007).map(Value::from))
        .collect();
    let busy = Ask { progress: Some(progress), ..ask("progress", json!({ "ms": 1, "steps": steps })) };
    // Nobody listens until the call has ended.
    result(world.asking(key("one"), busy).await.unwrap());
    let mut steps = Vec::new();
    while let Some(params) = told.recv().await {
        assert_eq!(params.get("progressToken"), None);
        steps.push(params["progress"].as_i64().unwrap());
    }
    assert_eq!(steps.len(), 2);
    assert!(steps.is_sorted(), "{steps:?}");

    let (progress, mut told) = mpsc::channel(4_096);
    let steps: Vec<u64> = (0..1_000).collect();
    let busy = Ask { progress: Some(progress), ..ask("progress", json!({ "ms": 1, "steps": steps })) };
    result(world.asking(key("one"), busy).await.unwrap());
    let mut steps = Vec::new();
    while let Some(params) = told.recv().await {
        steps.push(params["progress"].as_i64().unwrap());
    }
    assert!((15..=25).contains(&steps.len()), "{steps:?}");
    assert_eq!(steps.last(), Some(&999));
}

/// Case 42.
#[tokio::test(start_paused = true)]
async fn a_caller_who_goes_away_withdraws_the_call() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    let call = world.calling("silent", json!({}));
    rest().await;
    let asked = world.heard("tools/call");
    call.abort();
    rest().await;
    let withdrawn = world.heard("notifications/cancelled");
    assert_eq!(withdrawn.len(), 1);
    assert_eq!(withdrawn[0]["params"]["requestId"], asked[1]["id"]);
    // Others do not notice.
    result(world.call("echo", json!({})).await);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_is_withdrawn_before_the_server_hears_of_it() {
    let world = World::new();
    world.state(|state| state.start = Duration::from_secs(5));
    let first = world.calling("echo", json!({ "first": true }));
    let second = world.calling("echo", json!({ "second": true }));
    rest().await;
    first.abort();
    result(second.await.unwrap());
    let asked = world.heard("tools/call");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["params"]["arguments"], json!({ "second": true }));
    assert_eq!(world.heard("notifications/cancelled"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_ends_and_its_late_answer_is_nobodys() {
    let world = World::new();
    world.state(|state| state.answers_withdrawn = true);
    let hasty = Ask { deadline: Duration::from_secs(5), ..ask("silent", json!({})) };
    let began = Instant::now();
    let error = world.pool.ask(&key("one"), None, hasty).await.unwrap_err();
    assert_eq!(error, AskError::Timeout { after: Duration::from_secs(5), was_sent: true });
    assert!(error.may_be_done());
    assert_eq!(began.elapsed().as_secs(), 5);
    let asked = &world.heard("tools/call")[0]["id"];
    assert_eq!(&world.heard("notifications/cancelled")[0]["params"]["requestId"], asked);
    let answer = result(world.call("echo", json!({ "next": 1 })).await);
    assert_eq!(answer["arguments"], json!({ "next": 1 }));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_sent_ends_too() {
    let world = World::with("plain", Times { start: Duration::from_mins(10), ..Times::default() });
    world.state(|state| state.is_deaf = true);
    let hasty = Ask { deadline: Duration::from_secs(5), ..ask("echo", json!({})) };
    let error = world.pool.ask(&key("one"), None, hasty).await.unwrap_err();
    assert_eq!(error, AskError::Timeout { after: Duration::from_secs(5), was_sent: false });
    assert!(!error.may_be_done());
    assert_eq!(world.heard("tools/call"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_asked_reach_nobody() {
    let world = World::new();
    let other = world.calling("slow", json!({ "ms": 50 }));
    let answer = result(world.call("twice", json!({ "a": 1 })).await);
    assert_eq!((&answer["arguments"], answer.get("second")), (&json!({ "a": 1 }), None));
    assert_eq!(result(other.await.unwrap())["arguments"], json!({ "ms": 50 }));
    assert_eq!(result(world.call("echo", json!({ "b": 1 })).await)["arguments"], json!({ "b": 1 }));
}

/// Also one that knows the ids of another server's calls.
#[tokio::test(start_paused = true)]
async fn a_server_answers_no_call_of_another() {
    let world = World::new();
    result(world.call("echo", json!({})).await);
    let other = world.asking(key("two"), ask("slow", json!({ "ms": 1_000 })));
    rest().await;
    let id = world.heard("tools/call")[1]["id"].clone();
    world.says_line(json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [], "stolen": true } })).await;
    rest().await;
    let answer = result(other.await.unwrap());
    assert_eq!((&answer["key"], answer.get("stolen")), (&json!("two"), None));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_answer_is_no_success() {
    let world = World::new();
    for how in ["deep", "two", "number"] {
        let error = world.call("broken", json!({ "how": how })).await.unwrap_err();
        assert!(matches!(error, AskError::Malformed(_)), "{how}: {error:?}");
    }
    let error = world.call("nothing", json!({})).await.unwrap_err();
    assert!(matches!(error, AskError::Malformed(_)), "{error:?}");
    let answer = world.call("error", json!({})).await.unwrap();
    assert_eq!(answer, Answer::Error(json!({ "code": -32050, "message": "no", "data": { "why": 1 } })));
}

#[tokio::test(start_paused = true)]
async fn there_is_an_end_to_what_may_wait() {
    let world = World::new();
    let calls: Vec<_> = (0..1_024).map(|_| world.calling("silent", json!({}))).collect();
    rest().await;
    let error = world.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code().as_str(), "FH-SERVER-BUSY");
    // Another server has nothing to do with it.
    let other = world.asking(key("two"), ask("echo", json!({})));
    result(other.await.unwrap());
    for call in &calls {
        call.abort();
    }
    pass(Duration::from_millis(1)).await;
    result(world.call("echo", json!({})).await);
}

/// Case 43, in small: nothing is kept of calls that have ended.
#[tokio::test]
async fn memory_does_not_grow_with_calls() {
    let world = World::new();
    let resident = || -> usize {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let mut early = 0;
    for round in 0..10_000 {
        result(world.call("echo", json!({ "round": round })).await);
        world.state(|state| state.heard.clear());
        if round == 2_000 {
            early = resident();
        }
    }
    assert!(resident() * 10 <= early * 11 + 2_560, "{early} pages, then {}", resident());
    assert_eq!(world.pool.keys().len(), 1);
}
