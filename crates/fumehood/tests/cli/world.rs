//! A user of their own for each test, with nothing but an empty home.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    fmt::Write as _,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use cell_api::info::CellInfo;
use tempfile::TempDir;

/// The user's home and project.
pub(crate) struct World {
    root: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("fumehood-cli-").tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        Self { root }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.path().join("state/fumehood")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data/fumehood")
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fumehood"));
        let root = self.root.path();
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", root)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("XDG_STATE_HOME", root.join("state"))
            .env("XDG_DATA_HOME", root.join("data"))
            .env("XDG_CONFIG_HOME", root.join("config"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it with this stdin, to its end.
    pub(crate) fn run_with(&self, stdin: &str, arguments: &[&str]) -> Output {
        let mut child = self.command(arguments).spawn().unwrap();
        // It may end without reading all of it.
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).ok();
        child.wait_with_output().unwrap()
    }

    /// Runs it, and puts all it said into one text for a snapshot.
    pub(crate) fn said(&self, arguments: &[&str]) -> String {
        self.shown(&self.run_with("", arguments))
    }

    /// Exit code, stdout and stderr, with this world's folder and what depends on the host left out.
    pub(crate) fn shown(&self, output: &Output) -> String {
        let mut text = format!("exit code {}\n", output.status.code().map_or(-1, |code| code));
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let words = String::from_utf8_lossy(bytes);
            let words: String =
                words.split_inclusive('\n').filter(|line| !line.contains("not held on this host")).collect();
            if !words.is_empty() {
                write!(text, "--- {name}\n{words}").unwrap();
            }
        }
        let root = self.root.path().display().to_string();
        text.replace(&root, "ROOT").trim_end().to_owned()
    }

    /// A person has read what this project's file asks for, and trusts it.
    pub(crate) fn trust(&self) {
        let told = self.run_with("", &["trust", "--json"]);
        let request: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        let trusted =
            self.run_with("", &["trust", "--accept", request.get("digest").unwrap().as_str().unwrap()]);
        assert!(trusted.status.success(), "{}", self.shown(&trusted));
    }

    /// Starts it and waits until its cell runs.
    pub(crate) fn start(&self, arguments: &[&str]) -> (Child, CellInfo) {
        let child = self.command(arguments).spawn().unwrap();
        let mut found = None;
        assert!(
            within(Duration::from_secs(20), || {
                found = self.cells().into_iter().find(|cell| cell.jail.is_some());
                found.is_some()
            }),
            "no cell came up"
        );
        (child, found.unwrap())
    }

    /// What `ps --json` says.
    pub(crate) fn cells(&self) -> Vec<CellInfo> {
        serde_json::from_slice(&self.run_with("", &["ps", "--json"]).stdout).unwrap()
    }

    /// Folders of cells that are still there.
    pub(crate) fn folders(&self) -> usize {
        fs::read_dir(self.state().join("cells")).map_or(0, Iterator::count)
    }
}

/// Whether something becomes true in time.
pub(crate) fn within(patience: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        if is_true() {
            return true;
        }
        if begin.elapsed() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal to a process that this test started.
pub(crate) fn signal(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Whether a process is there and not a zombie.
pub(crate) fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}
