//! Every ending of every tool, started by root and by an ordinary user.

use std::{process::Command, time::Instant};

use rustix::process::Signal;
use testkit::world::Caller;

use crate::{
    ending::Ending,
    stage::{Play, Stage, kill, kill_together},
    tool::Tool,
};

/// One test for each ending, so that they can run beside one another.
macro_rules! endings {
    ($($test:ident: $ending:expr;)*) => {
        $(#[test]
        fn $test() {
            every_tool($ending);
        })*

        mod of_an_accepted_server {
            use crate::ending::Ending;
            $(#[test]
            fn $test() {
                super::accepted($ending);
            })*
        }
    };
}

endings! {
    a_tool_that_ends_by_itself: Ending::ByItself;
    a_client_that_closes_stdin: Ending::StdinClosed;
    a_client_that_is_killed: Ending::ClientKilled;
    run_is_terminated: Ending::Terminated;
    run_is_interrupted: Ending::Interrupted;
    run_is_killed: Ending::RunKilled;
    the_supervisor_is_terminated: Ending::SupervisorTerminated;
    the_supervisor_is_killed: Ending::SupervisorKilled;
    pid_1_is_killed: Ending::JailKilled;
    run_and_supervisor_are_killed: Ending::BothKilled;
    run_and_supervisor_and_pid_1_are_killed: Ending::AllKilled;
}

fn every_tool(ending: Ending) {
    for caller in Caller::all() {
        let stage = Stage::new(caller);
        for tool in Tool::ALL {
            if ending != Ending::ByItself || tool.can_end() {
                let script = tool.script(ending == Ending::ByItself);
                one(&stage, ending, tool, &mut stage.script(&[], &script));
            }
        }
    }
}

/// What passes is compared and held here, by another part of `run`.
fn accepted(ending: Ending) {
    for caller in Caller::all() {
        let stage = Stage::new(caller);
        for tool in [Tool::Obedient, Tool::Stubborn, Tool::Daemons] {
            let script = tool.server(ending == Ending::ByItself);
            one(&stage, ending, tool, &mut stage.accepted(&script));
        }
    }
}

fn one(stage: &Stage, ending: Ending, tool: Tool, command: &mut Command) {
    let case = format!("{ending:?} of {tool:?} as {:?}", stage.world.caller());
    let mut play = stage.start(command, ending == Ending::ClientKilled);
    play.await_tool(tool);
    if tool == Tool::Frozen {
        play.freeze();
    }
    let (run, supervisor, jail) = (play.run_pid(), play.supervisor().expect("it is there"), play.jail());
    let mut since = Instant::now();
    match ending {
        Ending::ByItself => play.let_go(),
        Ending::StdinClosed => play.close_stdin(),
        Ending::ClientKilled => play.kill_client(),
        Ending::Terminated => kill(run, Signal::TERM),
        Ending::Interrupted => kill(run, Signal::INT),
        Ending::RunKilled => kill(run, Signal::KILL),
        Ending::SupervisorTerminated => kill(supervisor, Signal::TERM),
        Ending::SupervisorKilled => kill(supervisor, Signal::KILL),
        Ending::JailKilled => kill(jail, Signal::KILL),
        Ending::BothKilled => kill_together(&[run, supervisor]),
        Ending::AllKilled => kill_together(&[run, supervisor, jail]),
    }
    if ending.is_abrupt() {
        play.assert_gone_at_once(since, &ending.spares(run, supervisor), &case);
    }
    let end = play.end(&case);
    if !ending.is_abrupt() {
        since = Instant::now();
        play.assert_gone_at_once(since, &[], &case);
    }
    tell(&play, ending, tool, end, &case);
    if ending.leaves_names() {
        stage.next_start();
        since = Instant::now();
    }
    play.assert_gone_soon(since, &case);
}

fn tell(play: &Play<'_>, ending: Ending, tool: Tool, end: crate::ending::End, case: &str) {
    let (expected, words) = ending.told(tool);
    let said = play.stderr();
    assert_eq!(end, expected, "{case}: {said}");
    // How a host holds the layers is not this test's business.
    let told: Vec<&str> = said.lines().filter(|line| !line.contains("not held on this host")).collect();
    match words {
        Some(words) => assert!(said.contains(words), "{case}: {said}"),
        None => assert!(told.is_empty(), "{case}: {said}"),
    }
}
