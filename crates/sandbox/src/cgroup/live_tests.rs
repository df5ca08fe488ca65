//! What this machine's own kernel does with the groups. Each test needs root and, by its nature, a hierarchy; one
//! that cannot be had is a visible skip.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use model::layer::{Layer, LayerName, LayerState};
use model::limits::Limits;

use super::{CellGroups, Created, Hierarchies, sweep};

const PATIENCE: Duration = Duration::from_secs(5);

macro_rules! skip {
    ($($reason:tt)*) => {{
        skipped(std::thread::current().name().unwrap_or("?"), &format!($($reason)*));
        return;
    }};
}

fn skipped(test: &str, reason: &str) {
    eprintln!("skipped {test}: {reason}");
    if let Some(list) = std::env::var_os("FUMEHOOD_SKIPS") {
        let mut list =
            std::fs::OpenOptions::new().append(true).create(true).open(list).expect("the skip list");
        writeln!(list, "{test}: {reason}").expect("the skip list is writable");
    }
}

fn create(limits: &Limits) -> Created {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let id = format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Hierarchies::detect().create(&id, limits)
}

fn layer(created: &Created, name: LayerName) -> &Layer {
    created.layers.iter().find(|layer| layer.name == name).expect("every layer is told")
}

/// The reason why a test cannot be done.
fn lacking(created: &Created, name: LayerName) -> Option<String> {
    let layer = layer(created, name);
    (layer.state != LayerState::Enforced).then(|| {
        assert_eq!(created.groups.remove(PATIENCE), []);
        format!("no {name} group: {}", layer.detail)
    })
}

/// Starts a shell that enters the groups as the jail does, and then runs `script`.
fn start(groups: &CellGroups, script: &str) -> Child {
    let spec = groups.spec();
    let enter = |folders: &[PathBuf]| {
        let lines = folders.iter().map(|f| format!("echo $$ > '{}/cgroup.procs' && ", f.display()));
        lines.collect::<Vec<_>>().concat()
    };
    Command::new("sh")
        .arg("-c")
        .arg(format!("{}{}{script}", enter(&spec.legacy), enter(spec.unified.as_slice())))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sh runs")
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn all_gone(groups: &CellGroups) {
    assert_eq!(groups.remove(PATIENCE), []);
    for path in groups.paths() {
        assert!(!path.exists(), "{} is still there", path.display());
    }
}

#[test]
fn a_group_is_made_used_and_leaves_nothing() {
    let created = create(&Limits::server());
    if created.groups.paths().is_empty() {
        skip!("{}", layer(&created, LayerName::Lifecycle).detail);
    }
    assert_eq!(created.groups.populated(), Some(false));
    let mut child = start(&created.groups, "exec sleep 600");
    wait_until("the child's entry", || created.groups.populated() == Some(true));
    if layer(&created, LayerName::Memory).state == LayerState::Enforced {
        wait_until("a charge", || created.groups.memory().is_some_and(|m| m.current > 0));
    }
    if lacks_kill(&created) {
        child.kill().expect("the child is ours");
    }
    all_gone(&created.groups);
    assert!(!child.wait().expect("the child is ours").success(), "the child was killed");
}

fn lacks_kill(created: &Created) -> bool {
    !layer(created, LayerName::Lifecycle).detail.contains("kill")
}

#[test]
fn the_process_ceiling_stops_forks() {
    let limits = Limits { processes: 5, ..Limits::server() };
    let created = create(&limits);
    if let Some(reason) = lacking(&created, LayerName::Processes) {
        skip!("{reason}");
    }
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 60 & echo started; done; wait";
    let child = start(&created.groups, script);
    wait_until("a refused fork", || created.groups.pids_denied().is_some_and(|n| n > 0));
    assert!(created.groups.kill() || kill_processes(&created), "the tree can be ended");
    let output = child.wait_with_output().expect("the child is ours");
    let started = String::from_utf8_lossy(&output.stdout).lines().count();
    // The shell itself is one; where it is not told apart from PID 1, PID 1's place is free for one more.
    assert!((4..=5).contains(&started), "{started} processes were started under a ceiling of 5");
    all_gone(&created.groups);
}

#[test]
fn without_the_process_ceiling_the_same_forks_succeed() {
    let created = create(&Limits::server());
    if let Some(reason) = lacking(&created, LayerName::Processes) {
        skip!("{reason}");
    }
    let child =
        start(&created.groups, "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0 & echo started; done; wait");
    let output = child.wait_with_output().expect("the child is ours");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 10);
    assert_eq!(created.groups.pids_denied(), Some(0));
    all_gone(&created.groups);
}

/// `tail` keeps the last line, and this one has no end.
const EAT_MEMORY: &str = "head -c 100000000 /dev/zero | tail | wc -c";

#[test]
fn the_memory_ceiling_kills() {
    let created = create(&Limits { memory: 32 * 1024 * 1024, ..Limits::server() });
    if let Some(reason) = lacking(&created, LayerName::Memory) {
        skip!("{reason}");
    }
    let output = start(&created.groups, EAT_MEMORY).wait_with_output().expect("the child is ours");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("100000000"), "{output:?}");
    assert!(created.groups.oom_kills().is_some_and(|n| n > 0), "{:?}", created.groups.oom_kills());
    let most = created.groups.memory().and_then(|memory| memory.peak).expect("this kernel tells the peak");
    assert!(most <= 48 * 1024 * 1024, "{most} bytes were used");
    all_gone(&created.groups);
}

#[test]
fn without_the_memory_ceiling_the_same_program_succeeds() {
    let created = create(&Limits::server());
    if let Some(reason) = lacking(&created, LayerName::Memory) {
        skip!("{reason}");
    }
    let output = start(&created.groups, EAT_MEMORY).wait_with_output().expect("the child is ours");
    assert!(String::from_utf8_lossy(&output.stdout).contains("100000000"), "{output:?}");
    assert_eq!(created.groups.oom_kills(), Some(0));
    all_gone(&created.groups);
}

#[test]
fn the_cpu_ceiling_throttles() {
    let created = create(&Limits { cpu_milli: 100, ..Limits::server() });
    if let Some(reason) = lacking(&created, LayerName::Cpu) {
        skip!("{reason}");
    }
    let begin = Instant::now();
    let child = start(
        &created.groups,
        "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done & sleep 1; kill $!; wait; times",
    );
    let output = child.wait_with_output().expect("the child is ours");
    let wall = begin.elapsed();
    let used = children_time(&String::from_utf8_lossy(&output.stdout));
    // A tenth of a core; twice that leaves room for the period the loop began in.
    assert!(used < wall.mul_f64(0.25), "{used:?} of CPU in {wall:?}");
    assert!(used > Duration::ZERO, "the loop ran at all: {output:?}");
    all_gone(&created.groups);
}

/// The second line of the shell's `times`: user and system time of its children, `0m0.10s 0m0.00s`.
fn children_time(times: &str) -> Duration {
    let line = times.lines().nth(1).expect("two lines");
    line.split_whitespace()
        .map(|word| {
            let (minutes, seconds) = word.trim_end_matches('s').split_once('m').expect("XmY.YYs");
            let minutes: f64 = minutes.parse().expect("minutes");
            Duration::from_secs_f64(minutes * 60.0 + seconds.parse::<f64>().expect("seconds"))
        })
        .sum()
}

#[test]
fn freezing_stops_and_thawing_goes_on() {
    let created = create(&Limits::server());
    if let Some(reason) = lacking(&created, LayerName::Lifecycle) {
        skip!("{reason}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ticks");
    let script = format!("while :; do echo tick >> '{}'; sleep 0.01; done", file.display());
    let mut child = start(&created.groups, &script);
    let ticks = |file: &Path| std::fs::metadata(file).map_or(0, |data| data.len());
    wait_until("the first tick", || ticks(&file) > 0);

    created.groups.freeze(PATIENCE).expect("it freezes");
    let then = ticks(&file);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(ticks(&file), then, "nothing runs while frozen");

    created.groups.thaw(PATIENCE).expect("it thaws");
    wait_until("a tick after the thaw", || ticks(&file) > then);

    created.groups.freeze(PATIENCE).expect("it freezes again");
    all_gone(&created.groups);
    assert!(!child.wait().expect("the child is ours").success(), "a frozen process is killed as well");
}

#[test]
fn a_sweep_removes_what_a_dead_owner_left_and_nothing_else() {
    let created = create(&Limits::server());
    if let Some(reason) = lacking(&created, LayerName::Lifecycle) {
        skip!("{reason}");
    }
    let mut child = start(&created.groups, "exec sleep 600");
    wait_until("the child's entry", || created.groups.populated() == Some(true));
    let mut record = created.groups.paths();
    let group = record.first().expect("a group").clone();
    let foreign = group.parent().expect("our own group").join("other");
    std::fs::create_dir(&foreign).expect("a group beside it");
    let with_steps = group.join("..").join("fumehood-x");
    record.extend([foreign.clone(), with_steps.clone(), PathBuf::from("/tmp/fumehood-x/../..")]);

    let left: Vec<PathBuf> = sweep(&record, PATIENCE).into_iter().map(|left| left.path).collect();
    assert_eq!(left, [foreign.clone(), with_steps, PathBuf::from("/tmp/fumehood-x/../..")]);
    assert!(foreign.exists(), "a group that is not ours stays");
    std::fs::remove_dir(&foreign).expect("it is empty");
    assert!(!child.wait().expect("the child is ours").success(), "what was inside was killed");
    for path in created.groups.paths() {
        assert!(!path.exists(), "{} is still there", path.display());
    }
}

#[test]
fn a_folder_called_like_a_group_elsewhere_is_not_swept() {
    let folder = tempfile::tempdir().expect("a folder");
    let like = folder.path().join("fumehood-x");
    std::fs::create_dir(&like).expect("made");
    let left = sweep(std::slice::from_ref(&like), Duration::ZERO);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(like.exists());
}

#[test]
fn a_group_in_use_is_not_taken_over_and_an_empty_one_is_made_anew() {
    let found = Hierarchies::detect();
    let id = format!("test-{}-twice", std::process::id());
    let first = found.create(&id, &Limits::code());
    if let Some(reason) = lacking(&first, LayerName::Lifecycle) {
        skip!("{reason}");
    }
    let again = found.create(&id, &Limits::server());
    assert_eq!(layer(&again, LayerName::Lifecycle).state, LayerState::Enforced, "the first was empty");
    let mut child = start(&again.groups, "exec sleep 600");
    wait_until("the child's entry", || again.groups.populated() == Some(true));
    let third = found.create(&id, &Limits::server());
    for layer in &third.layers {
        assert_eq!(layer.state, LayerState::Missing, "{layer:?}");
        assert!(layer.detail.contains("in use"), "{layer:?}");
    }
    assert!(child.try_wait().expect("the child is ours").is_none(), "and it was left alone");
    all_gone(&again.groups);
    child.wait().expect("the child is ours");
}

#[test]
fn an_id_that_leads_out_of_a_folder_makes_no_group() {
    for id in ["../x", "a/b", "", "a b", &"x".repeat(65)] {
        let created = Hierarchies::detect().create(id, &Limits::server());
        assert!(created.groups.paths().is_empty());
        assert!(created.layers.iter().all(|layer| layer.state == LayerState::Missing), "{id}");
    }
}

#[test]
fn an_ordinary_user_without_delegation_is_told_what_is_missing() {
    if !rustix::process::geteuid().is_root() {
        skip!("changing the user needs root");
    }
    // System calls that change the user work on one thread; this one is given up to an ordinary user.
    let as_user = std::thread::spawn(|| {
        let (uid, gid) = (rustix::thread::Uid::from_raw(65534), rustix::thread::Gid::from_raw(65534));
        rustix::thread::set_thread_groups(&[]).expect("root may");
        rustix::thread::set_thread_res_gid(gid, gid, gid).expect("root may");
        rustix::thread::set_thread_res_uid(uid, uid, uid).expect("root may");
        create(&Limits::server())
    });
    let created = as_user.join().expect("no panic");
    assert!(created.groups.paths().is_empty(), "{:?}", created.groups);
    assert_eq!(created.layers.len(), 4);
    for layer in &created.layers {
        assert_eq!(layer.state, LayerState::Missing, "{layer:?}");
        assert!(!layer.detail.is_empty() && !layer.remedy.is_empty(), "{layer:?}");
    }
}

fn kill_processes(created: &Created) -> bool {
    created.groups.paths().iter().all(|folder| {
        let procs = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        procs
            .lines()
            .filter_map(|pid| rustix::process::Pid::from_raw(pid.parse().ok()?))
            .all(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok())
    })
}
