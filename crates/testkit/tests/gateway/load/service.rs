//! The service, its servers and its people, with the record on a small disk of its own where that can be had.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead as _, BufReader},
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use model::digest::Digest;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::world::{Caller, World, skip};

use crate::drive::{PATIENCE, Scene};

pub(crate) const SERVERS: [&str; 5] = ["counter", "ledger", "slow", "mine", "web"];
pub(crate) const PEOPLE: [Person; 3] = [
    Person { name: "alice", key: "fh_keyOfAlice", role: "admin" },
    Person { name: "bob", key: "fh_keyOfBob", role: "support" },
    Person { name: "carol", key: "fh_keyOfCarol", role: "reader" },
];

/// Where the record is, in a world.
const RECORD: &str = "data/fumehood/audit";
/// As many lines of the log are kept for a failure.
const LINES: usize = 60;

/// Somebody with a key.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    role: &'static str,
}

/// A running service.
pub(crate) struct Service {
    pub(crate) scene: Scene,
    /// What has its record mounted; none where that cannot be.
    disk: Option<Child>,
    program: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    /// Ids of cells that were seen.
    pub(crate) cells: Mutex<BTreeSet<String>>,
    tables: String,
}

/// What it holds, when nobody asks anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// Memory, in KiB: all of it, as what is shared depends on who else runs the same program.
    pub(crate) rss: u64,
    /// That of it which is no file's.
    pub(crate) anonymous: u64,
    /// File descriptors.
    pub(crate) files: usize,
    pub(crate) threads: usize,
}

impl Service {
    /// With a record on a disk of so many MiB, where there are tests of a full one; or without a guard.
    pub(crate) fn begin(caller: Caller, disk: Option<u32>, off: Option<&str>) -> Self {
        let mut tables = String::new();
        let scene = Scene::new(caller, |scene| {
            let script = include_str!("../programs/load_server.py");
            scene.world.make_file("servers/load_server.py", script, 0o644).unwrap();
            tables = SERVERS.iter().map(|name| table(&scene.world, name)).collect();
            tables.clone()
        });
        for name in SERVERS {
            scene.accept(name);
        }
        let disk = disk.and_then(|size| mounted(&scene.world, size));
        let mut service = Self {
            program: Command::new("true").spawn().unwrap(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            log: Arc::default(),
            cells: Mutex::default(),
            scene,
            disk,
            tables,
        };
        service.write(0);
        service.program.wait().unwrap();
        service.start(off);
        service
    }

    fn start(&mut self, off: Option<&str>) {
        let mut serve = self.scene.world.product(off);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
        let mut serve = self.inside(serve);
        self.program = serve.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(self.program.stderr.take().unwrap());
        let log = Arc::clone(&self.log);
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                if log.len() == LINES {
                    log.remove(0);
                }
                log.push(line);
            }
        });
        let line = self.wait("serving", |line| line["message"] == "serving");
        self.address = line["address"].as_str().and_then(|text| text.parse().ok()).unwrap();
    }

    /// Waits for a line of the log, which may be there already.
    fn wait(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let lines = self.lines();
            let mut values = lines.iter().rev().filter_map(|line| serde_json::from_str(line).ok());
            if let Some(line) = values.find(|line| is_it(line)) {
                return line;
            }
            assert!(Instant::now() < deadline, "{what} was not said: {lines:#?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The last lines of its log.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the policy of this number, all at once.
    pub(crate) fn write(&self, number: u32) {
        let world = &self.scene.world;
        let text = format!("{}{}", self.tables, policy(number));
        let path = world.make_file("config/fumehood/config.new", &text, 0o600).unwrap();
        fs::rename(path, world.path("config/fumehood/config.toml")).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        signal_to(self.pid(), signal).unwrap();
    }

    pub(crate) fn pid(&self) -> i32 {
        self.program.id().cast_signed()
    }

    /// The place of its record, as this process reaches it.
    pub(crate) fn record(&self) -> Option<PathBuf> {
        let disk = self.disk.as_ref()?;
        let path = self.scene.world.path(RECORD);
        Some(Path::new(&format!("/proc/{}/root", disk.id())).join(path.strip_prefix("/").unwrap()))
    }

    /// A command of the product where its record is what the service's is.
    pub(crate) fn asked(&self, words: &[&str]) -> Command {
        let mut command = self.scene.world.product(None);
        command.args(words);
        self.inside(command)
    }

    fn inside(&self, command: Command) -> Command {
        let Some(disk) = &self.disk else { return command };
        let mut within = Command::new("nsenter");
        within.args(["--target", &disk.id().to_string(), "--mount", "--"]);
        within.arg(command.get_program()).args(command.get_args());
        within.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        within
    }

    /// The pid of the first process of each cell that runs, by its name.
    pub(crate) fn jails(&self) -> Vec<(String, i32)> {
        let mut found = Vec::new();
        let listed = self.asked(&["ps", "--json"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in listed.as_array().into_iter().flatten() {
            cells.extend(cell["id"].as_str().map(str::to_owned));
            let jail = cell["jail"].as_i64().and_then(|pid| i32::try_from(pid).ok());
            if let (Some(name), Some(jail)) = (cell["name"].as_str(), jail) {
                found.push((name.to_owned(), jail));
            }
        }
        found
    }

    /// What it holds: the least of some looks.
    pub(crate) fn held(&self) -> Held {
        let looks = (0..5).map(|_| {
            thread::sleep(Duration::from_millis(300));
            look(self.pid()).unwrap()
        });
        looks.min_by_key(|held| held.anonymous).unwrap()
    }

    /// Waits for its end.
    pub(crate) fn wait_for_end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.program.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end: {:#?}", self.lines());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What is left of it after its end: processes, control groups, sockets, folders of cells.
    pub(crate) fn left(&self) -> Vec<String> {
        let world = &self.scene.world;
        let disk = self.disk.as_ref().map(|disk| disk.id().cast_signed());
        let mut left = Vec::new();
        for pid in world.processes().into_iter().filter(|pid| Some(*pid) != disk) {
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            left.push(format!("process {pid}: {}", line.replace('\0', " ")));
        }
        let cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(!cells.is_empty(), "no cell was seen");
        for cell in cells.iter() {
            let name = format!("fumehood-{cell}");
            let hierarchies = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
            let groups = hierarchies.map(|entry| entry.path().join(&name));
            left.extend(groups.filter(|path| path.exists()).map(|path| format!("group {}", path.display())));
        }
        for folder in ["state/fumehood/cells", "run"] {
            let entries = fs::read_dir(world.path(folder)).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| format!("file {}", entry.path().display())));
        }
        left
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // One that has ended needs neither; its cells end without it.
        self.program.kill().ok();
        self.program.wait().ok();
        if let Some(disk) = &mut self.disk {
            disk.kill().ok();
            disk.wait().ok();
        }
    }
}

/// Sends a signal.
pub(crate) fn signal_to(pid: i32, signal: Signal) -> io::Result<()> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(kill_process(pid, signal)?)
}

fn table(world: &World, name: &str) -> String {
    let folder = world.path("servers").display().to_string();
    let (word, more) = match name {
        "web" => ("http\", \"8300", "transport = \"http\"\nport = 8300\n"),
        "mine" => ("stdio", "cell = \"user\"\n"),
        _ => ("stdio", ""),
    };
    format!(
        "[servers.{name}]\ncommand = [\"python3\", \"{folder}/load_server.py\", \"{name}\", \"{word}\"]\n\
         mounts = [\"{folder}\"]\ndata = true\n{more}"
    )
}

/// Who may use what: with an odd number Bob may do less, and some things less often.
fn policy(number: u32) -> String {
    let support = match number % 2 {
        0 => "\"*\"",
        _ => "\"counter/*\", \"slow/*\", \"mine/*\", \"web/next\", \"web/wait\"",
    };
    let roles = format!(
        "[serve]\ndrain = \"20s\"\nidle_freeze = \"1s\"\n[roles.admin]\ntools = [\"*\"]\n[roles.support]\ntools = [{support}]\n\
         [roles.reader]\ntools = [\"*/next\"]\n"
    );
    let rules = SERVERS.iter().map(|name| {
        let (next, wait) = match (*name, number % 2) {
            ("counter", 1) => ("rate = \"120/m\"\n", ""),
            ("slow", 1) => ("", "concurrency = 3\n"),
            _ => ("", ""),
        };
        let time = if *name == "slow" { "15s" } else { "2s" };
        let bind = "bind.user_id = \"subject\"\n";
        format!(
            "[servers.{name}.tools.next]\ntier = 1\n{bind}{next}[servers.{name}.tools.wait]\ntier = 1\n\
             time = \"{time}\"\n{bind}{wait}[servers.{name}.tools.append]\ntier = 2\n{bind}"
        )
    });
    let keys = PEOPLE.iter().map(|Person { name, key, role }| {
        let digest = Digest::of(key.as_bytes()).hex();
        format!("[keys.{name}]\nsha256 = \"{digest}\"\nsubject = \"{name}\"\nroles = [\"{role}\"]\n")
    });
    std::iter::once(roles).chain(rules).chain(keys).collect()
}

/// A process in a mount namespace of its own, where the record's folder is a small disk.
fn mounted(world: &World, size: u32) -> Option<Child> {
    if !rustix::process::geteuid().is_root() {
        skip("a full disk below the service", "only root mounts one");
        return None;
    }
    let folder = world.make_folder(RECORD).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let (uid, gid) = world.caller().ids();
    let options = format!("size={size}m,mode=0700,uid={uid},gid={gid}");
    // It ends with this process: nothing holds the other end of its stdin then.
    let script = "mount -t tmpfs -o \"$1\" record \"$2\" && echo mounted && exec cat";
    let mut holder = Command::new("unshare")
        .args(["--mount", "--", "sh", "-c", script, "sh", &options])
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "mounted\n");
    Some(holder)
}

/// proc(5): `smaps_rollup`, `fd`, `task`.
fn look(pid: i32) -> io::Result<Held> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let size = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|size| size.parse().ok()).unwrap_or_default()
    };
    let count = |name: &str| fs::read_dir(format!("/proc/{pid}/{name}")).map(Iterator::count);
    Ok(Held { rss: size("Rss:"), anonymous: size("Pss_Anon:"), files: count("fd")?, threads: count("task")? })
}
