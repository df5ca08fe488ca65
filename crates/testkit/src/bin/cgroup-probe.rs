//! Run inside a test machine: makes a cell's control groups there, tries each ceiling with a program that goes over
//! it, and says on stdout what happened, one `result: {…}` line for each thing tried.
//!
//! usage: cgroup-probe layers | cgroup-probe ceilings | cgroup-probe delegate FOLDER

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use model::limits::Limits;
use sandbox::cgroup::{CellGroups, Created, Hierarchies};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(10);
const MIB: u64 = 1024 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["layers"] => layers(),
        ["ceilings"] => ceilings(),
        ["delegate", folder] => delegate(folder),
        ["eat"] => eat(),
        ["count"] => count(),
        _ => Err(io::Error::other("usage: cgroup-probe layers | ceilings | delegate FOLDER")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cgroup-probe: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What is held here, where, and whether it goes away again.
fn layers() -> io::Result<()> {
    let created = create(&Limits::server());
    let layers: serde_json::Map<String, Value> =
        created.layers.iter().map(|layer| (layer.name.to_string(), json!(layer))).collect();
    let paths = created.groups.paths();
    let left = created.groups.remove(PATIENCE);
    say(&json!({
        "tried": "layers",
        "layers": layers,
        "paths": paths,
        "view": created.groups.spec().view,
        "gone": left.is_empty() && paths.iter().all(|path| !path.exists()),
        "own": std::fs::read_to_string("/proc/self/cgroup")?,
    }));
    Ok(())
}

/// Each ceiling twice: so low that the program goes over it, and high enough.
fn ceilings() -> io::Result<()> {
    let server = Limits::server();
    for (what, memory) in [("memory", 32 * MIB), ("memory, high enough", 256 * MIB)] {
        let created = create(&Limits { memory, ..server.clone() });
        let (ended_well, _) = run(&created.groups, "exec cgroup-probe eat")?;
        say(&json!({
            "tried": what,
            "ended_well": ended_well,
            "oom_kills": created.groups.oom_kills(),
            "peak": created.groups.memory().and_then(|memory| memory.peak),
            "gone": gone(&created.groups),
        }));
    }
    for (what, processes) in [("processes", 5), ("processes, high enough", 64)] {
        let created = create(&Limits { processes, ..server.clone() });
        let forks = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & echo started; done; wait";
        let (_, said) = run(&created.groups, forks)?;
        say(&json!({
            "tried": what,
            "started": said.lines().count(),
            "denied": created.groups.pids_denied(),
            "gone": gone(&created.groups),
        }));
    }
    for (what, cpu_milli) in [("cpu", 100), ("cpu, high enough", 1000)] {
        let created = create(&Limits { cpu_milli, ..server.clone() });
        let (_, said) = run(&created.groups, "exec cgroup-probe count")?;
        say(
            &json!({ "tried": what, "counted": said.trim().parse::<u64>().ok(), "gone": gone(&created.groups) }),
        );
    }
    freezing(&create(&server).groups)
}

fn freezing(groups: &CellGroups) -> io::Result<()> {
    let file = std::env::temp_dir().join(format!("ticks-{}", std::process::id()));
    let ticks = || std::fs::metadata(&file).map_or(0, |data| data.len());
    let mut child =
        start(groups, &format!("while :; do echo tick >>'{}'; sleep 0.01; done", file.display()))?;
    let began = grows_over(&ticks, 0);
    let frozen = groups.freeze(PATIENCE).map_err(|error| error.to_string());
    let at = ticks();
    std::thread::sleep(Duration::from_millis(300));
    let stopped = ticks() == at;
    let thawed = groups.thaw(PATIENCE).map_err(|error| error.to_string());
    let went_on = grows_over(&ticks, at);
    // The last test is of killing what is frozen.
    let frozen_again = groups.freeze(PATIENCE).is_ok();
    let killed = groups.kill();
    if !killed {
        child.kill()?;
    }
    let died = !child.wait()?.success();
    say(&json!({
        "tried": "freezing",
        "began": began, "frozen": frozen.err(), "stopped": stopped, "thawed": thawed.err(), "went_on": went_on,
        "frozen_again": frozen_again, "killed": killed, "died": died,
        "gone": gone(groups),
    }));
    std::fs::remove_file(file)
}

fn create(limits: &Limits) -> Created {
    Hierarchies::detect().create(&format!("probe-{}", std::process::id()), limits)
}

/// Starts a shell that enters the groups as the jail does, and then runs `script`.
fn start(groups: &CellGroups, script: &str) -> io::Result<Child> {
    let spec = groups.spec();
    let enter = |folder: &PathBuf| format!("echo $$ >'{}/cgroup.procs' || exit 99\n", folder.display());
    let entries: Vec<String> = spec.legacy.iter().chain(&spec.unified).map(enter).collect();
    Command::new("sh")
        .arg("-c")
        .arg(format!("{}{script}", entries.concat()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
}

/// Runs it to its end: whether that was a good one, and what it said.
fn run(groups: &CellGroups, script: &str) -> io::Result<(bool, String)> {
    let mut child = start(groups, script)?;
    let mut said = String::new();
    if let Some(pipe) = &mut child.stdout {
        pipe.read_to_string(&mut said)?;
    }
    Ok((child.wait()?.success(), said))
}

fn gone(groups: &CellGroups) -> bool {
    groups.remove(PATIENCE).is_empty() && groups.paths().iter().all(|path: &PathBuf| !Path::exists(path))
}

fn grows_over(value: &impl Fn() -> u64, than: u64) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while value() <= than {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Marks a group as systemd marks one it delegates.
fn delegate(folder: &str) -> io::Result<()> {
    Ok(rustix::fs::setxattr(folder, "user.delegate", b"1", rustix::fs::XattrFlags::empty())?)
}

/// Uses 96 MiB of memory, page by page.
fn eat() -> io::Result<()> {
    let mut eaten = vec![0_u8; 96 << 20];
    for page in eaten.chunks_mut(4096) {
        page.fill(1);
    }
    if eaten.iter().step_by(4096).any(|byte| *byte != 1) {
        return Err(io::Error::other("memory does not hold what was written"));
    }
    Ok(())
}

/// Counts for a second, and says how far it came.
#[expect(clippy::unnecessary_wraps, reason = "one of the things to do in `main`")]
fn count() -> io::Result<()> {
    let begin = Instant::now();
    let mut counted: u64 = 0;
    while begin.elapsed() < Duration::from_secs(1) {
        counted += 1;
    }
    println!("{counted}");
    Ok(())
}

fn say(value: &Value) {
    println!("result: {value}");
}
