//! `SIGKILL` while the cell is still being built: after some time, and at each step that can be seen from outside.

use std::{
    thread,
    time::{Duration, Instant},
};

use testkit::world::Caller;

use crate::{
    ending::End,
    stage::{Play, Stage, kill_together, own_depth},
    tool::Tool,
};

/// When.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// This long after `run` was started.
    After(Duration),
    /// When the supervisor is there.
    Supervisor,
    /// When the cell has a folder.
    Folder,
    /// When the first of the cell's control groups is there, if it gets any, and others are still to be made.
    Group,
    /// When the jail's launcher is there.
    Launcher,
    /// When PID 1 is there.
    PidOne,
}

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Run,
    Supervisor,
    /// `run` and supervisor at the same instant.
    Both,
    /// The jail: its launcher, or PID 1 where there is one.
    Jail,
}

const MOMENTS: [Moment; 15] = [
    Moment::After(Duration::ZERO),
    Moment::After(Duration::from_millis(2)),
    Moment::After(Duration::from_millis(5)),
    Moment::After(Duration::from_millis(9)),
    Moment::After(Duration::from_millis(14)),
    Moment::After(Duration::from_millis(20)),
    Moment::After(Duration::from_millis(30)),
    Moment::After(Duration::from_millis(45)),
    Moment::Supervisor,
    Moment::Folder,
    // A narrow one: not every try meets it.
    Moment::Group,
    Moment::Group,
    Moment::Group,
    Moment::Launcher,
    Moment::PidOne,
];

#[test]
fn run_is_killed_while_the_cell_is_built() {
    every_moment(Victim::Run);
}

#[test]
fn the_supervisor_is_killed_while_it_builds_the_cell() {
    every_moment(Victim::Supervisor);
}

#[test]
fn run_and_supervisor_are_killed_while_the_cell_is_built() {
    every_moment(Victim::Both);
}

#[test]
fn the_jail_is_killed_while_the_cell_is_built() {
    every_moment(Victim::Jail);
}

fn every_moment(victim: Victim) {
    for caller in Caller::all() {
        let stage = Stage::new(caller);
        for moment in MOMENTS {
            one(&stage, victim, moment);
        }
    }
}

fn one(stage: &Stage, victim: Victim, moment: Moment) {
    let case = format!("{victim:?} killed at {moment:?} as {:?}", stage.world.caller());
    let began = Instant::now();
    let mut play = stage.start(&mut stage.script(&[], &Tool::Obedient.script(false)), false);
    wait(&mut play, moment, began);
    let run = play.run_pid();
    let supervisor = play.supervisor();
    let victims: Vec<i32> = match victim {
        Victim::Run => vec![run],
        Victim::Supervisor => supervisor.into_iter().collect(),
        Victim::Both => supervisor.into_iter().chain([run]).collect(),
        Victim::Jail => play.builders().first().map(|process| process.pid).into_iter().collect(),
    };
    let since = Instant::now();
    kill_together(&victims);
    play.traces.look_for_cells();
    if victims.is_empty() || (victim == Victim::Jail && play.comes_up_without(&victims)) {
        // Too early for that victim, or too late: a launcher has done its work when there is a PID 1. Then everything
        // has to go its way, until the client leaves.
        play.await_tool(Tool::Obedient);
        play.close_stdin();
        assert_eq!(play.end(&case), End::Code(0), "{case}: {}", play.stderr());
        play.assert_gone_soon(Instant::now(), &case);
        return;
    }
    // A supervisor that lives has to notice, and `run` is told.
    let spared: Vec<i32> =
        [Some(run), supervisor].into_iter().flatten().filter(|pid| !victims.contains(pid)).collect();
    if victim != Victim::Jail {
        play.assert_gone_at_once(since, &spared, &case);
    }
    let end = play.end(&case);
    let expected: &[End] = match victim {
        Victim::Run | Victim::Both => &[End::Killed],
        Victim::Supervisor => &[End::Code(1)],
        // What was the jail when it was looked for may have become the tool when the signal came.
        Victim::Jail => &[End::Code(1), End::Code(137)],
    };
    assert!(expected.contains(&end), "{case}: {end:?}: {}", play.stderr());
    if victims.contains(&run) && victims.len() > 1 {
        stage.next_start();
    }
    play.assert_gone_soon(Instant::now(), &case);
}

fn wait(play: &mut Play<'_>, moment: Moment, began: Instant) {
    match moment {
        Moment::After(delay) => {
            thread::sleep(delay.saturating_sub(began.elapsed()));
            play.traces.look_for_cells();
        }
        Moment::Supervisor => play.await_that("a supervisor", |play| play.supervisor().is_some()),
        Moment::Folder => play.await_that("a folder", |play| play.traces.sees_a_folder()),
        Moment::Group => play.await_group(),
        Moment::Launcher => play.await_that("a launcher", |play| !play.builders().is_empty()),
        Moment::PidOne => play.await_that("a PID 1", |play| {
            play.builders().iter().any(|process| process.depth() > own_depth())
        }),
    }
}
