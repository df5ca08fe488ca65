//! Sixty-four clients and five servers, while servers die, rules change and the disk of the record is full: each caller gets
//! the answer to its own question or is told why not, nothing is done twice or unrecorded, and nothing grows.

use std::{
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use testkit::world::Caller;

use self::{
    checks::problems,
    client::Clients,
    history::{Answer, Call},
    service::{Held, Service},
    troubles::Troubles,
};

mod asking;
mod checks;
mod client;
mod controls;
mod history;
mod record;
mod service;
mod troubles;
mod wire;

const CLIENTS: u64 = 64;
/// What caches of the record and arenas of the allocator grow by until they are full, in KiB: less than a hundred bytes for
/// each call of the long run.
const FILLING: u64 = 7 << 10;
/// As many problems are told.
const TOLD: usize = 12;
/// What has a name may live this long after the end of the service.
const SOON: Duration = Duration::from_secs(3);

#[test]
fn nothing_is_wrong_lost_doubled_or_unrecorded_within_a_minute() {
    let caller = Caller::all().remove(0);
    run(caller, Duration::from_mins(1), Duration::from_millis(250), Duration::from_millis(900), 192);
}

#[test]
fn long_nothing_is_wrong_lost_doubled_or_unrecorded_within_ten_minutes() {
    let caller = Caller::all().pop().unwrap();
    run(caller, Duration::from_mins(10), Duration::from_millis(400), Duration::from_millis(1_500), 768);
}

#[test]
fn a_service_that_is_told_to_end_answers_every_call_under_way() {
    let mut service = Service::begin(Caller::all().remove(0), None, None);
    let clients = Clients::begin(service.address, CLIENTS, Duration::from_millis(60));
    thread::sleep(Duration::from_secs(6));
    assert!(!service.jails().is_empty());
    service.signal(Signal::TERM);
    let status = service.wait_for_end();
    assert!(status.success(), "{status}: {:#?}", service.lines());
    let calls = clients.end();
    let done = calls.iter().filter(|call| matches!(call.answer, Answer::Done { .. })).count();
    assert!(done > 200, "{done} of {} calls were done", calls.len());
    finish(&service, calls, true);
}

#[test]
fn the_control_without_intents_is_noticed() {
    let mut service = Service::begin(Caller::all().remove(0), None, Some("road-intent"));
    let clients = Clients::begin(service.address, CLIENTS / 4, Duration::from_millis(50));
    thread::sleep(Duration::from_secs(3));
    let calls = clients.end();
    service.signal(Signal::TERM);
    assert!(service.wait_for_end().success(), "{:#?}", service.lines());
    let found = problems(&service.history(calls, false));
    for told in ["not one intent", "performed before it was recorded"] {
        assert!(found.iter().any(|one| one.contains(told)), "{told}: {found:#?}");
    }
}

/// A run of so long, with the pace of each client, the pause between troubles, and the size of the disk in MiB.
fn run(caller: Caller, time: Duration, pace: Duration, pause: Duration, disk: u32) {
    let mut service = Service::begin(caller, Some(disk), None);
    let clients = Clients::begin(service.address, CLIENTS, pace);
    let begin = Instant::now();
    let mut troubles = Troubles::new(&service);
    let mut held = Vec::new();
    for fifth in 1..=5 {
        troubles.until(begin + time * fifth / 5, pause);
        held.push(quiet(&service, &clients));
    }
    let running = clients.running();

    let Troubles { witness, done, .. } = troubles;
    let (kills, reloads, full) = (done.kills, done.reloads, done.full);
    assert!(kills > 3 && reloads > 3 && (full > 1 || service.record().is_none()), "{done:?}");
    let mut calls = clients.end();
    calls.extend(witness.calls);
    service.signal(Signal::TERM);
    let status = service.wait_for_end();
    assert!(status.success(), "{status}: {:#?}", service.lines());
    eprintln!("{} calls, {done:?}; held: {held:#?}", calls.len());
    finish(&service, calls, false);
    assert_eq!(running, usize::try_from(CLIENTS).unwrap(), "a client was given up");
    let (early, late) = (held[0], held[4]);
    assert!(late.rss * 10 <= early.rss * 11, "memory: {held:#?}");
    // Most of that is the program's own text: of what it keeps, caches and the allocator take more until they are full.
    assert!(late.anonymous <= early.anonymous + FILLING, "memory: {held:#?}");
    // A cell that runs or does not makes a difference of some.
    assert!(late.files <= early.files + 24 && late.threads <= early.threads + 4, "{held:#?}");
}

/// What it holds when nobody asks anything.
fn quiet(service: &Service, clients: &Clients) -> Held {
    clients.pause();
    thread::sleep(Duration::from_secs(1));
    let held = service.held();
    clients.go_on();
    held
}

/// Everything that must be true once the service has ended.
fn finish(service: &Service, calls: Vec<Call>, was_stopped: bool) {
    let deadline = Instant::now() + SOON;
    while !service.left().is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(service.left(), [""; 0], "left of the service");
    service.verify();
    let found = problems(&service.history(calls, was_stopped));
    let some: Vec<&String> = found.iter().take(TOLD).collect();
    assert!(found.is_empty(), "{} problems, such as {some:#?}\n{:#?}", found.len(), service.lines());
}
