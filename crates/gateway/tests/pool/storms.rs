//! Everything at once, many times, in an order that chance makes.

use std::{collections::HashMap, time::Duration};

use gateway::pool::{Ask, Times};
use proptest::prelude::*;
use serde_json::json;
use tokio::time::sleep;

use crate::world::{World, ask, key};

/// One thing that happens, after a pause in milliseconds.
#[derive(Debug, Clone)]
enum Step {
    /// A call of a tool that takes so long, whose caller goes away after so long.
    Call { tool: &'static str, takes: u64, leaves: Option<u64> },
    /// Something that cells depend on changes.
    Reload,
    /// Nothing, so that cells come to rest.
    Rest,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let tool = prop_oneof![
        20 => Just("echo"),
        20 => Just("slow"),
        3 => Just("silent"),
        3 => Just("twice"),
        2 => Just("ask"),
        1 => Just("die"),
    ];
    let leaves = prop_oneof![3 => Just(None), 1 => (0..150_u64).prop_map(Some)];
    let step = prop_oneof![
        20 => (tool, 0..120_u64, leaves).prop_map(|(tool, takes, leaves)| Step::Call { tool, takes, leaves }),
        1 => Just(Step::Reload),
        1 => Just(Step::Rest),
    ];
    proptest::collection::vec((prop_oneof![Just(0_u64), 0..60_u64], step), 1..150)
}

/// Small, so that a storm meets every state of a cell.
fn times() -> Times {
    Times {
        idle_freeze: Duration::from_millis(30),
        idle_stop: Duration::from_millis(90),
        drain: Duration::from_millis(80),
        steady: Duration::from_millis(50),
        backoff: Duration::from_millis(10),
        longest_backoff: Duration::from_millis(40),
        ..Times::default()
    }
}

async fn storm(steps: Vec<(u64, Step)>) {
    let world = World::with("elicitation", times());
    world.state(|state| (state.start, state.end) = (Duration::from_millis(5), Duration::from_millis(5)));
    let is_alive = !steps.iter().any(|(_, step)| matches!(step, Step::Call { tool: "die", .. }));
    let mut calls = Vec::new();
    // Those that nothing stands in the way of.
    let mut sure = Vec::new();
    for (pause, step) in steps {
        sleep(Duration::from_millis(pause)).await;
        match step {
            Step::Call { tool, takes, leaves } => {
                let is_short = matches!(tool, "echo" | "twice") || tool == "slow" && takes < 70;
                sure.push(is_alive && is_short && leaves.is_none());
                let arguments = json!({ "number": calls.len(), "ms": takes });
                let call = Ask { deadline: Duration::from_millis(100), ..ask(tool, arguments) };
                let call = world.asking(key("one"), call);
                if let Some(after) = leaves {
                    let call = call.abort_handle();
                    tokio::spawn(async move {
                        sleep(Duration::from_millis(after)).await;
                        call.abort();
                    });
                }
                calls.push(call);
            }
            Step::Reload => {
                world.state(|state| state.version += 1);
                world.pool.reload();
            }
            Step::Rest => sleep(Duration::from_millis(250)).await,
        }
    }
    let mut outcomes = Vec::new();
    for call in calls {
        outcomes.push(call.await);
    }
    let mut heard: HashMap<usize, usize> = HashMap::new();
    for line in world.heard("tools/call") {
        let number = line["params"]["arguments"]["number"].as_u64().unwrap();
        *heard.entry(usize::try_from(number).unwrap()).or_default() += 1;
    }
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let times = heard.get(&number).copied().unwrap_or(0);
        assert!(times <= 1, "{number} was made {times} times");
        match outcome {
            // Its caller has gone.
            Err(left) => assert!(left.is_cancelled(), "{number}: {left}"),
            Ok(Ok(gateway::pool::Answer::Result(result))) => {
                assert_eq!(times, 1, "{number}: {result}");
                let own = result.get("arguments").map(|arguments| &arguments["number"]);
                assert!(own.is_none_or(|own| *own == json!(number)), "{number}: {result}");
            }
            Ok(Ok(other)) => panic!("{number}: {other:?}"),
            Ok(Err(error)) => {
                assert!(times == 0 || error.may_be_done(), "{number} was made, but: {error}");
                assert!(!sure[number], "{number} was lost: {error}");
            }
        }
    }
    world.pool.stop(Duration::from_secs(1)).await;
    let (starts, ends) = world.state(|state| (state.starts.len(), state.ends));
    assert!(ends <= starts && starts <= ends + 1, "{starts} starts, {ends} ends");
    assert_eq!(world.state(|state| std::mem::take(&mut state.held)), Vec::<bool>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn no_call_is_lost_doubled_or_somebody_elses(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(storm(steps));
    }
}
