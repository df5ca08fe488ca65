//! Two hundred connections through ten cells, kept busy for a minute while hosts come and go.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant, SystemTime},
};

use serde::Deserialize;
use testkit::world::{Caller, World, skip};

use self::{peers::Peers, supervisor::Supervisor};
use crate::origin::Origin;

mod peers;
mod supervisor;

const CELLS: usize = 10;
/// Connections of each cell, as `busy.py` opens them.
const EACH: usize = 20;
const SECONDS: u64 = 60;
/// Between two changes; each cell has its turn after the others.
const CHANGES: Duration = Duration::from_millis(50);
/// An attempt has the patience of `busy.py`, for a connection and an answer. Longer is stuck.
const STUCK: f64 = 30.0;
/// Descriptors of the empty pipes that an egress keeps for the next large answer: eight pipes.
const SPARE_PIPES: usize = 16;
/// Listeners of hosts that were taken away refuse for a minute; then all is as it was.
const FAREWELL: Duration = Duration::from_secs(90);
/// How much more memory a supervisor may have in the end than after a fifth of the time, in KiB, where a fifth more is
/// less: its log of 2,048 entries is full only later.
const GROWTH: u64 = 2048;

/// What one of the twenty did.
#[derive(Debug, Deserialize)]
struct Worker {
    host: String,
    order: String,
    /// From the question to the answer.
    answered: Vec<(f64, f64)>,
    /// From the last sign of life to the failure, and what it was.
    failed: Vec<(f64, f64, String)>,
    stuck: bool,
}

/// A time in which a host was not allowed: when that was ordered and acknowledged, and when its return was.
#[derive(Debug, Clone, Copy)]
struct Gap {
    ordered: f64,
    since: f64,
    until: f64,
    returned: f64,
}

/// A cell with its twenty connections.
struct Busy {
    name: String,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    supervisor: Supervisor,
    gaps: BTreeMap<String, Vec<Gap>>,
}

fn now() -> f64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64()
}

/// The rules for all hosts of one fate.
fn rules(fate: &str) -> [String; 3] {
    [
        format!("http://http.{fate}.example"),
        format!("https://tls.{fate}.example"),
        format!("tcp://raw.{fate}.example:5432"),
    ]
}

fn host(rule: &str) -> String {
    let name = rule.split("://").nth(1).unwrap();
    name.split(':').next().unwrap().to_owned()
}

fn base() -> Vec<String> {
    [rules("stays"), rules("goes")].concat()
}

fn prepared(caller: Caller, peers: &Peers) -> World {
    let world = World::new(caller).unwrap();
    world.make_folder("config/fumehood").unwrap();
    let services = [("http", &peers.http), ("tls", &peers.tls), ("raw", &peers.raw)];
    let pin = |fate: &str, kind: &str, origin: &Origin| {
        format!("[upstreams.\"{kind}.{fate}.example\"]\naddress = \"{}\"\nloopback = true\n", origin.address)
    };
    let pins = |fate| services.map(|(kind, origin)| pin(fate, kind, origin)).concat();
    let text = ["stays", "goes"].map(pins).concat();
    world.make_file("config/fumehood/config.toml", &text, 0o600).unwrap();
    world.make_file("tool/busy.py", include_str!("load/busy.py"), 0o644).unwrap();
    world.make_file("tool/roots.pem", &peers.certificate, 0o644).unwrap();
    world
}

/// Starts a cell, as far as all that its connections need is there.
fn start(world: &World, name: String) -> Busy {
    let tool = world.path("tool").display().to_string();
    let mut command = world.product(None);
    command.args(["exec", "--name", &name, "--limit", "require=none", "--limit", "memory=1GiB"]);
    command.args(["--mount", &tool]);
    for rule in base() {
        command.args(["--host", &rule]);
    }
    command.args(["--", "python3", &format!("{tool}/busy.py"), &SECONDS.to_string()]);
    command.arg(format!("{tool}/roots.pem"));
    let said = File::create(world.path(&format!("{name}.said"))).unwrap();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{}", std::fs::read_to_string(world.path(&format!("{name}.said"))).unwrap());
    let listed = world.run(world.product(None).args(["ps", "--json"]), "").unwrap();
    let cells: Vec<serde_json::Value> = serde_json::from_str(&listed.stdout).unwrap();
    let cell = cells.iter().find(|cell| cell["name"] == name.as_str()).unwrap();
    let supervisor = Supervisor::of(cell, &world.path("state/fumehood"));
    let stdin = child.stdin.take().unwrap();
    Busy { name, child, stdin, stdout, supervisor, gaps: BTreeMap::new() }
}

impl Busy {
    /// Takes hosts away, and next time gives them back; hosts nobody ever saw come and go as well.
    fn change(&mut self, step: usize) {
        let goes = rules("goes");
        let leave = step.is_multiple_of(2);
        let gone: &[String] = match (leave, step / 2 % 4) {
            (false, _) => &[],
            (true, 3) => &goes,
            (true, one) => &goes[one..=one],
        };
        let mut wanted: Vec<String> = base().into_iter().filter(|rule| !gone.contains(rule)).collect();
        if leave {
            wanted.push(format!("tcp://fresh-{step}.example:1"));
        }
        let ordered = now();
        let changed = self.supervisor.set_hosts(&wanted);
        let done = now();
        assert_eq!(changed["unopened"], serde_json::json!([]), "{changed}");
        for rule in &goes {
            let gaps = self.gaps.entry(host(rule)).or_default();
            if gone.contains(rule) {
                let never = f64::INFINITY;
                gaps.push(Gap { ordered, since: done, until: never, returned: never });
            } else if let Some(gap) = gaps.last_mut().filter(|gap| gap.until.is_infinite()) {
                (gap.until, gap.returned) = (ordered, done);
            }
        }
    }

    fn report(&mut self) -> Vec<Worker> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{}: {error}: {line}", self.name))
    }

    /// Every attempt was answered, or a change of the list explains why it was not.
    fn judge(&self, workers: &[Worker]) {
        assert_eq!(workers.len(), EACH);
        let cut = workers.iter().map(|worker| worker.failed.len()).sum::<usize>();
        assert!(cut > EACH, "{}: the changes cut next to nothing, {cut} times", self.name);
        for worker in workers {
            let Worker { host, order, answered, failed, stuck } = worker;
            let what = format!("{}: `{order}` of {host}", self.name);
            assert!(!stuck && answered.len() >= 10, "{what}: {} answers, {failed:?}", answered.len());
            let longest = answered.iter().map(|(from, to)| to - from).fold(0.0, f64::max);
            assert!(longest < STUCK, "{what} took {longest} s");
            let gaps = self.gaps.get(host).map_or(&[][..], Vec::as_slice);
            for (from, to, why) in failed {
                let explained = gaps.iter().any(|gap| *from <= gap.returned && gap.ordered <= *to);
                assert!(explained, "{what} failed though nothing was taken away: {why}, {from} to {to}");
                assert!(
                    to - from < STUCK && !why.contains("timed out"),
                    "{what} hung: {why}, {from} to {to}"
                );
            }
            for (from, to) in answered {
                let forbidden = gaps.iter().find(|gap| gap.since < *from && *to < gap.until);
                assert!(forbidden.is_none(), "{what} was answered from {from} to {to}, within {forbidden:?}");
            }
        }
    }
}

/// Changes one cell after the other until `over`; how often, and the most connections there were at once.
fn keep_changing(cells: &mut [Busy], over: &AtomicBool) -> (usize, u64) {
    let (mut steps, mut most) = (0, 0);
    while !over.load(Ordering::Acquire) {
        for cell in &mut *cells {
            cell.change(steps);
            thread::sleep(CHANGES);
        }
        steps += 1;
        most = most.max(cells.iter().map(|cell| cell.supervisor.flows()).sum());
    }
    // Whoever is still busy finds everything as it was.
    if !steps.is_multiple_of(2) {
        for cell in cells {
            cell.change(steps);
        }
    }
    (steps, most)
}

/// The descriptors of a supervisor that has begun to write what happens, and that whoever started the cell has begun to
/// listen to: both come soon after the start.
fn settled(supervisor: &Supervisor) -> BTreeMap<String, usize> {
    assert_eq!(supervisor.set_hosts(&base())["cut"], 0);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let found = supervisor.descriptors();
        thread::sleep(Duration::from_secs(1));
        if found.keys().any(|path| path.contains("/state/fumehood/egress/"))
            && found == supervisor.descriptors()
        {
            return found;
        }
        assert!(Instant::now() < deadline, "{found:?}");
    }
}

/// The same descriptors as before, whatever pipes are kept beside.
fn is_as_before(before: &BTreeMap<String, usize>, now: &BTreeMap<String, usize>) -> bool {
    let pipes = |counts: &BTreeMap<String, usize>| counts.get("pipe").copied().unwrap_or_default();
    let others = |counts: &BTreeMap<String, usize>| {
        let mut counts = counts.clone();
        counts.remove("pipe");
        counts
    };
    others(before) == others(now) && pipes(now) <= pipes(before) + SPARE_PIPES
}

#[test]
fn long_two_hundred_busy_connections_while_hosts_come_and_go() {
    let caller = Caller::all()[0];
    if caller != Caller::Root {
        return skip("load through ten cells", "only root sees the descriptors of a supervisor");
    }
    let names = ["stays", "goes"].map(|fate| format!("tls.{fate}.example"));
    let peers = Peers::start(names.to_vec());
    let world = prepared(caller, &peers);
    let mut cells: Vec<Busy> = (0..CELLS).map(|number| start(&world, format!("busy-{number}"))).collect();
    let supervisors: Vec<Supervisor> = cells.iter().map(|cell| cell.supervisor.clone()).collect();
    let before: Vec<_> = supervisors.iter().map(settled).collect();

    for cell in &mut cells {
        cell.stdin.write_all(b"go\n").unwrap();
    }
    let over = AtomicBool::new(false);
    let (fifth, (steps, most)) = thread::scope(|scope| {
        let changing = scope.spawn(|| keep_changing(&mut cells, &over));
        thread::sleep(Duration::from_secs(SECONDS / 5));
        let fifth: Vec<u64> = supervisors.iter().map(Supervisor::memory).collect();
        thread::sleep(Duration::from_secs(SECONDS - SECONDS / 5));
        over.store(true, Ordering::Release);
        (fifth, changing.join().unwrap())
    });
    let mut answers = 0;
    for cell in &mut cells {
        let workers = cell.report();
        cell.judge(&workers);
        answers += workers.iter().map(|worker| worker.answered.len()).sum::<usize>();
    }
    println!("{answers} answers, {} changes, {most} connections at once", steps * CELLS);
    // Some are always between two connections, or lead to a host that is away.
    assert!(most > (CELLS * EACH / 2) as u64, "{most} connections at once");

    let deadline = Instant::now() + FAREWELL;
    for (supervisor, before) in supervisors.iter().zip(&before) {
        while !is_as_before(before, &supervisor.descriptors()) {
            assert!(Instant::now() < deadline, "{before:?} became {:?}", supervisor.descriptors());
            thread::sleep(Duration::from_millis(500));
        }
        assert_eq!(supervisor.flows(), 0);
    }
    for (supervisor, fifth) in supervisors.iter().zip(fifth) {
        let end = supervisor.memory();
        println!("{fifth} KiB after a fifth of the time, {end} KiB in the end");
        assert!(end <= (fifth * 6 / 5).max(fifth + GROWTH), "{fifth} KiB became {end} KiB");
    }
    for mut cell in cells {
        drop(cell.stdin);
        assert!(cell.child.wait().unwrap().success(), "{}", cell.name);
    }
}
