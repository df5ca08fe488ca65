//! Using up what a host has: processes, memory, disks, files, fds, logs.

use std::process::Command;

use testkit::world::{Caller, World};

use crate::scene::{Scene, behind};
use crate::table::Control::Off;
use crate::table::{Case, case, findings, note_trouble, prove};

const FULL: &[i32] = &[libc::ENOSPC];
const PROCESSES: crate::table::Control = Off("rlimit-nproc,cgroup-limits");
const SCRATCH: crate::table::Control = Off("tmpfs-ceilings");

pub(crate) const CASES: &[Case] = &[
    case("fork bomb", "forks,60", &[libc::EAGAIN], PROCESSES),
    case("zombies", "zombies,60", &[libc::EAGAIN], PROCESSES),
    case("filling /tmp", "fill,24,/tmp", FULL, SCRATCH),
    case("filling /workspace", "fill,24,/workspace", FULL, SCRATCH),
    case("filling the home", "fill,24,/home/tool", FULL, SCRATCH),
    case("filling /dev/shm", "fill,24,/dev/shm", FULL, SCRATCH),
    case("names in /tmp", "inodes,400,/tmp", FULL, SCRATCH),
    case("names in the home", "inodes,400,/home/tool", FULL, SCRATCH),
    case("a large file", "file-size,12,/dev/shm/large", &[libc::EFBIG], Off("rlimit-fsize")),
    case("a large file in a mount", "file-size,12,{folder}/large", &[libc::EFBIG], Off("rlimit-fsize")),
    case("open files", "fds,200", &[libc::EMFILE], Off("rlimit-nofile")),
];

/// Those of the tests below.
pub(crate) const GUARDS: &[&str] = &[MEMORY];

const MEMORY: &str = "cgroup-limits,memory-watch";

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    let scene = Scene::new(caller);
    scene.world.make_folder("folder").unwrap();
    scene
        .place("folder", "folder")
        .flags(["--mount", "{folder}:rw", "--limit", "processes=20", "--limit", "open_files=100"])
        .flags(["--limit", "scratch=16MiB", "--limit", "scratch_files=256", "--limit", "file_size=8MiB"])
}

#[test]
fn what_a_cell_may_use_has_an_end() {
    prove("bombs", CASES, stage);
}

/// Each needs some 200 MiB.
const BOMBS: &[&str] = &["heap,200", "memfd,200", "fill,50,/tmp,/workspace,/home/tool,/dev/shm"];

#[test]
fn memory_has_a_ceiling_and_its_end_a_reason() {
    let mut faults = Vec::new();
    for caller in Caller::all() {
        for bomb in BOMBS {
            let scene = Scene::new(caller).flags(["--limit", "memory=64MiB"]);
            // The cell's main process itself, whose end is the cell's.
            let words = ["--alone".to_owned(), "bombs".to_owned(), format!("x={bomb}")];
            let ran = scene.try_words(None, &words);
            if findings(&ran).get("x").is_some_and(|finding| finding.got_in) || ran.code == Some(0) {
                faults.push(format!("{caller:?}: {bomb}: {ran:?}"));
            }
            if !ran.stderr.contains("memory ceiling") {
                faults.push(format!("{caller:?}: {bomb}: the reason is not told: {ran:?}"));
            }
            if ran.late || !ran.remains.is_empty() {
                faults.push(format!("{caller:?}: {bomb}: {ran:?}"));
            }
            let ran = scene.try_words(Some(MEMORY), &words);
            if !findings(&ran).get("x").is_some_and(|finding| finding.got_in) {
                faults.push(format!("{caller:?}: {bomb}, without {MEMORY}: {ran:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_gigabyte_of_stderr_neither_hangs_nor_fills_the_disk() {
    // Without a control: that the log is bounded is no guard that could be left out; the tests of `cell` fill one.
    for caller in Caller::all() {
        let scene = Scene::new(caller).flags(["--limit", "cpu=1"]).wrapped(unheard);
        let ran = scene.try_words(None, &["bombs".to_owned(), "x=flood,1024".to_owned()]);
        assert!(findings(&ran).get("x").is_some_and(|finding| finding.got_in), "{caller:?}: {ran:?}");
        let used = size_of_folder(&scene.world.path("state"));
        assert!(used < 40 << 20, "{caller:?}: {used} bytes of logs");
        let mut faults = Vec::new();
        note_trouble(&ran, "flood", &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
    }
}

/// Runs a command whose stderr nobody wants.
fn unheard(_: &World, command: &Command) -> Command {
    behind(Command::new("sh").args(["-c", "exec \"$@\" 2>/dev/null", "sh"]), command)
}

fn size_of_folder(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => size_of_folder(&entry.path()),
            Ok(facts) => facts.len(),
            Err(_) => 0,
        })
        .sum()
}

#[test]
fn kill_9_of_everyone_ends_the_cell_alone() {
    // Without a control: without a PID namespace it would be the host's processes that are killed.
    for caller in Caller::all() {
        let mut scene = Scene::new(caller);
        let mut beside = scene.world.program(&scene.world.attacker());
        beside.args(["--victim", "beside"]);
        scene.accompany(&mut beside);
        let ran = scene.try_words(None, &["bombs".to_owned(), "x=kill-all".to_owned()]);
        assert_eq!(ran.code, Some(128 + libc::SIGKILL), "{caller:?}: {ran:?}");
        assert!(!ran.late && ran.remains.is_empty(), "{caller:?}: {ran:?}");
        assert!(scene.companions_live(), "{caller:?}: a process of the host was killed");
    }
}

#[test]
fn processes_that_end_unwaited_for_take_no_place() {
    for caller in Caller::all() {
        let scene = Scene::new(caller).flags(["--limit", "processes=20"]);
        let ran = scene.try_words(None, &["bombs".to_owned(), "x=orphans,300".to_owned()]);
        assert!(findings(&ran).get("x").is_some_and(|finding| finding.got_in), "{caller:?}: {ran:?}");
    }
}
