//! The product in a world of its own: run as root or as the ordinary test user, with folders nobody else uses, within
//! a time limit, and looked after until nothing of it is left.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

mod caller;
pub mod index;
mod programs;
pub mod registry;
mod remains;

pub use caller::Caller;

/// How long one run may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// What is named lives no longer than this after the end of a run.
const TIDY_WITHIN: Duration = Duration::from_secs(3);

/// One caller's folders, and what it needs to run the product.
#[derive(Debug)]
pub struct World {
    caller: Caller,
    folder: tempfile::TempDir,
    programs: PathBuf,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; nothing where a signal ended it.
    pub code: Option<i32>,
    /// Everything it said on stdout.
    pub stdout: String,
    /// Everything it said on stderr.
    pub stderr: String,
    /// Whether it had to be ended because it took too long.
    pub late: bool,
    /// Processes of it that lived on, by command line; they have been ended since.
    pub remains: Vec<String>,
}

impl World {
    /// Makes one for `caller`.
    pub fn new(caller: Caller) -> io::Result<Self> {
        // Not below `/tmp`, which a cell has of its own; short, for the sake of socket paths.
        let folder = tempfile::Builder::new().prefix("fh-").tempdir_in("/var/tmp")?;
        let programs = programs::reachable(&folder.path().join("bin"))?;
        let world = Self { caller, folder, programs };
        fs::set_permissions(world.folder(), fs::Permissions::from_mode(0o755))?;
        for name in ["home", "state", "data", "config", "run", "tool"] {
            world.make_folder(name)?;
        }
        fs::set_permissions(world.path("run"), fs::Permissions::from_mode(0o700))?;
        fs::copy(world.programs.join("fumehood-attacker"), world.attacker())?;
        Ok(world)
    }

    /// Who runs the product here.
    pub fn caller(&self) -> Caller {
        self.caller
    }

    /// The folder of this world; it and everything in it goes with the value.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A path below [`World::folder`].
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Makes a folder (mode 0755) that belongs to the caller, with its parents.
    pub fn make_folder(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path(name);
        for made in path.ancestors().take_while(|above| *above != self.folder()) {
            fs::create_dir_all(made)?;
            self.caller.own(made)?;
        }
        Ok(path)
    }

    /// Makes a file that belongs to the caller.
    pub fn make_file(&self, name: &str, content: &str, mode: u32) -> io::Result<PathBuf> {
        let path = self.path(name);
        fs::write(&path, content)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        self.caller.own(&path)?;
        Ok(path)
    }

    /// The attack program, alone in a folder that can be mounted.
    pub fn attacker(&self) -> PathBuf {
        self.path("tool/attacker")
    }

    /// The product's program, or with guards to be left out (names with commas between) its test-only twin.
    pub fn product(&self, off: Option<&str>) -> Command {
        let name = if off.is_some() { "fumehood-guard-off" } else { "fumehood" };
        let mut command = self.program(&self.programs.join(name));
        if let Some(off) = off {
            command.env("FUMEHOOD_GUARD_OFF", off);
        }
        command
    }

    /// Where the product's program is, for other programs of the caller to start.
    pub fn product_path(&self) -> PathBuf {
        self.programs.join("fumehood")
    }

    /// Any program of the host, as the caller, with the world's environment.
    pub fn program(&self, program: &Path) -> Command {
        let mut command = self.caller.command(program);
        command.env_clear().current_dir(self.folder());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            command.env(name, self.path(folder));
        }
        command
    }

    /// The pids of all processes that name the world's folder, or have it mounted.
    pub fn processes(&self) -> Vec<i32> {
        remains::find(self.folder())
    }

    /// Lets the servers of the `fumehood.toml` in this world's folder be used, as a person does who has read it.
    pub fn trust_project(&self) -> io::Result<()> {
        let trust = |words: &[&str]| {
            let ran = self.run(self.product(None).arg("trust").args(words), "")?;
            if ran.code == Some(0) { Ok(ran.stdout) } else { Err(io::Error::other(format!("{ran:?}"))) }
        };
        let told: serde_json::Value = serde_json::from_str(&trust(&["--json"])?)?;
        let digest = told.get("digest").and_then(serde_json::Value::as_str).unwrap_or_default();
        trust(&["--accept", digest]).map(drop)
    }

    /// `fumehood exec` of the attack program: `flags` go before the command, `words` are its arguments.
    pub fn attack(&self, off: Option<&str>, flags: &[String], words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = self.product(off);
        command.args(["exec", "--limit", "require=none", "--mount"]).arg(self.path("tool")).args(flags);
        command.arg("--").arg(self.attacker()).args(words);
        command
    }

    /// Runs it to its end, with `input` on stdin.
    pub fn run(&self, command: &mut Command, input: &str) -> io::Result<Ran> {
        self.run_within(PATIENCE, command, input)
    }

    /// The same, for what may take longer than most.
    pub fn run_within(&self, patience: Duration, command: &mut Command, input: &str) -> io::Result<Ran> {
        let others = remains::find(self.folder());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // What is not read was not needed.
            stdin.write_all(input.as_bytes()).ok();
        }
        let stdout = child.stdout.take().map(listen);
        let stderr = child.stderr.take().map(listen);
        let deadline = Instant::now() + patience;
        let mut late = false;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                late = true;
                child.kill()?;
            }
            thread::sleep(Duration::from_millis(5));
        };
        let remains = remains::end(self.folder(), &others, TIDY_WITHIN);
        let heard = |said: Option<thread::JoinHandle<String>>| {
            said.and_then(|said| said.join().ok()).unwrap_or_default()
        };
        Ok(Ran { code: status.code(), stdout: heard(stdout), stderr: heard(stderr), late, remains })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A test that failed half way may have left something running.
        remains::end(self.folder(), &[], TIDY_WITHIN);
    }
}

fn listen(mut pipe: impl io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut said = Vec::new();
        // What was said before an error counts.
        pipe.read_to_end(&mut said).ok();
        String::from_utf8_lossy(&said).into_owned()
    })
}

/// Adds a line to the list of what this test run could not do.
pub fn skip(what: &str, why: &str) {
    eprintln!("skipped: {what}: {why}");
    let Some(list) = std::env::var_os("FUMEHOOD_SKIPS") else { return };
    let line = format!("{what}: {why}\n");
    let written = fs::OpenOptions::new().append(true).create(true).open(&list);
    if let Err(error) = written.and_then(|mut list| list.write_all(line.as_bytes())) {
        eprintln!("`{}` cannot be written: {error}", list.display());
    }
}
