//! One run of the product with everything that is known of it.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::ExitStatusExt as _},
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::{Pid, Signal, kill_process},
};
use testkit::{
    leftovers::{Leftover, Process, Traces},
    world::{Caller, World},
};

use crate::{ending::End, tool::Tool};

/// `SIGKILL` is acted on when a process next runs: on a busy host not before this.
const AT_ONCE: Duration = Duration::from_millis(300);
/// The kernel takes a process and its namespaces apart afterwards; on a busy host some do it at once.
const TAKEN_APART: Duration = Duration::from_secs(1);
/// What has a name may live this long.
const SOON: Duration = Duration::from_secs(2);
/// A step that should take milliseconds, on an overloaded host.
const PATIENCE: Duration = Duration::from_secs(20);

/// Orphans of every run become children of this process: one run at a time, or they could not be told apart.
static ALONE: Mutex<()> = Mutex::new(());

/// Nobody else's run goes on as long as this is kept.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    // A test that failed has said so itself.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A world to run the product in, one run after the other.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) world: World,
    _alone: MutexGuard<'static, ()>,
}

/// One run.
#[derive(Debug)]
pub(crate) struct Play<'a> {
    stage: &'a Stage,
    pub(crate) run: Child,
    /// Its stdin and stdout, or the process that holds them.
    client: Client,
    pub(crate) traces: Traces,
}

#[derive(Debug)]
enum Client {
    Ours { stdin: Option<OwnedFd>, _stdout: OwnedFd },
    Process(Child),
    Gone,
}

impl Stage {
    pub(crate) fn new(caller: Caller) -> Self {
        let alone = alone();
        let world = World::new(caller).expect("the world can be made");
        for folder in ["work", "tmp"] {
            world.make_folder(folder).unwrap();
        }
        Self { world, _alone: alone }
    }

    fn cells(&self) -> PathBuf {
        self.world.path("state/fumehood/cells")
    }

    /// A command of the product with a folder of ours for temporary files.
    pub(crate) fn product(&self) -> Command {
        let mut command = self.world.product(None);
        command.env("TMPDIR", self.world.path("tmp"));
        command
    }

    /// `fumehood run` of a shell script in the world's folder `work`.
    pub(crate) fn script(&self, flags: &[&str], script: &str) -> Command {
        let work = self.world.path("work");
        let mut command = self.product();
        command.args(["run", "--unreviewed", "--name", "played", "--grace", "1", "--mount"]);
        command.arg(format!("{}:rw", work.display())).args(flags);
        command.arg("--env").arg(format!("MARK={}", self.world.folder().display()));
        command.args(["--", "sh", "-c"]).arg(format!("cd {}; {script}", work.display()));
        command
    }

    /// `fumehood run` of the same script as a declared server that a person has accepted; it has to speak the protocol first.
    pub(crate) fn accepted(&self, script: &str) -> Command {
        let product = |words: &[&str]| {
            let out = self.product().args(words).stdin(Stdio::null()).output().unwrap();
            let said = [out.stdout, out.stderr].concat();
            (out.status.code(), String::from_utf8_lossy(&said).into_owned())
        };
        // Whatever played before.
        product(&["remove", "played"]);
        let work = self.world.path("work");
        let (mount, mark) =
            (format!("{}:rw", work.display()), format!("MARK={}", self.world.folder().display()));
        let line = format!("cd {}; {script}", work.display());
        let flags = ["add", "--global", "--mount", &mount, "--env", &mark, "played", "--", "sh", "-c", &line];
        let (_, said) = product(&flags);
        let fingerprint = said.find("v1:sha256:").and_then(|at| said.get(at..at + 74));
        let fingerprint = fingerprint.unwrap_or_else(|| panic!("it was not read: {said}"));
        let accepted = product(&["review", "played", "--accept", fingerprint]);
        assert_eq!(accepted.0, Some(0), "{said} {accepted:?}");
        let mut command = self.product();
        command.args(["run", "--grace", "1", "played"]);
        command
    }

    /// Starts it with its pipes in the hands of `sleep`, or ours.
    pub(crate) fn start(&self, command: &mut Command, client_is_a_process: bool) -> Play<'_> {
        for name in ["up", "go"] {
            // None there is what is wanted.
            fs::remove_file(self.world.path("work").join(name)).ok();
        }
        let folders: Vec<PathBuf> =
            ["state", "data", "config", "run", "tmp", "home"].map(|name| self.world.path(name)).into();
        // The folder of all cells is made once and stays, and so is what all cells trust; logs are to stay.
        for kept in ["state/fumehood", "state/fumehood/cells"] {
            self.world.make_folder(kept).unwrap();
        }
        let kept = ["state/fumehood/logs", "state/fumehood/egress", "state/fumehood/trust"];
        let kept = kept.map(|name| self.world.path(name));
        let marker = self.world.folder().to_str().unwrap();
        let mut traces = Traces::before(marker, &folders, &self.cells(), &kept).unwrap();
        let (stdin, their_stdin) = pipe();
        let (their_stdout, stdout) = pipe();
        let stderr = File::create(self.world.path("stderr")).unwrap();
        let run = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
        // The command holds our copies of the other ends.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        traces.leave(&run);
        let client = if client_is_a_process {
            let mut sleep = Command::new("sleep");
            let holder = sleep.arg("1000").stdin(their_stdout).stdout(their_stdin).spawn().unwrap();
            traces.leave(&holder);
            Client::Process(holder)
        } else {
            Client::Ours { stdin: Some(their_stdin), _stdout: their_stdout }
        };
        Play { stage: self, run, client, traces }
    }

    /// Any start of the product clears up after dead supervisors.
    pub(crate) fn next_start(&self) {
        let out = self.product().arg("ps").stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success() && !said.contains("cannot"), "the next start: {said}");
    }
}

impl Play<'_> {
    /// Waits until the tool is up, with as many processes as it should have.
    pub(crate) fn await_tool(&mut self, tool: Tool) {
        let up = self.stage.world.path("work/up");
        self.await_that("the tool is up", |play| {
            let inside = play.inside().len();
            let mut stopped = || play.inside().iter().any(|process| process.is_stopped);
            up.exists()
                && inside >= tool.processes()
                && (tool != Tool::Stopped || stopped())
                && play.is_attached()
        });
        self.traces.look();
        let (cells, namespaces, ids) =
            (self.traces.cells().len(), self.traces.namespaces().len(), self.traces.host_ids().len());
        assert!(cells == 1 && namespaces >= 7, "{:?}", self.traces);
        assert_eq!(ids, usize::from(self.stage.world.caller() == Caller::Root), "{:?}", self.traces);
    }

    /// Waits until the tool is up in a cell whose PID 1 was not killed, or until `run` has ended; whether it is up.
    pub(crate) fn comes_up_without(&mut self, killed: &[i32]) -> bool {
        let up = self.stage.world.path("work/up");
        let deadline = Instant::now() + PATIENCE;
        while self.run.try_wait().unwrap().is_none() && Instant::now() < deadline {
            let inside = self.inside();
            let init = inside.iter().find(|process| process.inner_pid() == Some(1));
            if up.exists() && init.is_some_and(|init| !killed.contains(&init.pid)) {
                return true;
            }
            thread::sleep(Duration::from_millis(1));
        }
        false
    }

    /// Waits until the cell has its first control group, or until the tool is up. It does not sleep: all are made within
    /// less than a millisecond.
    pub(crate) fn await_group(&mut self) {
        let up = self.stage.world.path("work/up");
        let deadline = Instant::now() + PATIENCE;
        while !self.traces.sees_a_group() && !up.exists() {
            self.traces.look_for_cells();
            assert!(Instant::now() < deadline, "neither a control group nor the tool: {}", self.stderr());
        }
    }

    /// Waits until something is so, and looks at the run meanwhile.
    pub(crate) fn await_that(&mut self, what: &str, so: impl Fn(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !so(self) {
            let can_come = Instant::now() < deadline && self.run.try_wait().unwrap().is_none();
            assert!(can_come, "{what}: not so. {:?}\n{}", self.traces.look(), self.stderr());
            thread::sleep(Duration::from_micros(300));
        }
    }

    /// The processes in the cell, PID 1 first.
    pub(crate) fn inside(&mut self) -> Vec<Process> {
        let own = own_depth();
        let mut inside: Vec<Process> =
            self.traces.look().into_iter().filter(|process| process.depth() > own).collect();
        inside.sort_by_key(Process::inner_pid);
        inside
    }

    pub(crate) fn run_pid(&self) -> i32 {
        self.run.id().cast_signed()
    }

    /// The supervisor, once it is there.
    pub(crate) fn supervisor(&self) -> Option<i32> {
        Traces::children_of(self.run_pid()).first().map(|child| child.pid)
    }

    /// The jail while it builds the cell, newest first: PID 1 and its launcher.
    pub(crate) fn builders(&self) -> Vec<Process> {
        let Some(supervisor) = self.supervisor() else { return Vec::new() };
        let first = Traces::children_of(supervisor);
        let second = first.iter().flat_map(|child| Traces::children_of(child.pid)).collect::<Vec<_>>();
        let is_jail =
            |one: &Process| one.line().split(' ').next().is_some_and(|path| path.ends_with("-jail"));
        let mut found: Vec<Process> = first.into_iter().chain(second).filter(is_jail).collect();
        found.sort_unstable_by_key(|process| std::cmp::Reverse(process.pid));
        found
    }

    /// The cell's PID 1.
    pub(crate) fn jail(&mut self) -> i32 {
        self.inside().first().expect("the cell has a PID 1").pid
    }

    /// The word of the API that freezes the cell.
    pub(crate) fn freeze(&mut self) {
        let answer = self.ask("POST /v1/cell/freeze").expect("the API answers");
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"frozen\""), "{answer}");
    }

    /// Whether `run` has taken over the tool's streams: before that it cannot say how the tool ends.
    fn is_attached(&self) -> bool {
        self.ask("GET /v1/processes").is_ok_and(|answer| answer.contains("\"attached\":true"))
    }

    fn ask(&self, what: &str) -> std::io::Result<String> {
        let cell = self.traces.cells().first().ok_or(std::io::ErrorKind::NotFound)?;
        let mut stream = UnixStream::connect(self.stage.cells().join(cell).join("api.sock"))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let rest = "HTTP/1.1\r\nhost: cell\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(format!("{what} {rest}").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Lets the tool that ends by itself do so.
    pub(crate) fn let_go(&self) {
        fs::write(self.stage.world.path("work/go"), "").unwrap();
    }

    pub(crate) fn close_stdin(&mut self) {
        if let Client::Ours { stdin, .. } = &mut self.client {
            drop(stdin.take().expect("stdin is closed once"));
        }
    }

    /// Kills the process that holds the pipes.
    pub(crate) fn kill_client(&mut self) {
        let Client::Process(mut holder) = std::mem::replace(&mut self.client, Client::Gone) else {
            panic!("the client is this process")
        };
        holder.kill().unwrap();
        holder.wait().unwrap();
    }

    /// Waits until `run` has ended.
    pub(crate) fn end(&mut self, case: &str) -> End {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.run.try_wait().unwrap() {
                return match (status.code(), status.signal()) {
                    (Some(code), _) => End::Code(code),
                    (None, Some(9)) => End::Killed,
                    _ => panic!("{status}"),
                };
            }
            assert!(
                Instant::now() < deadline,
                "{case}: `run` does not end: {}\n{}",
                self.stderr(),
                lines(&self.traces.all().unwrap())
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// What `run` said.
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.stage.world.path("stderr")).unwrap()
    }

    /// Nothing of the cell can run any more, and soon after the kernel has nothing of it; `but` are processes that may
    /// take their time.
    pub(crate) fn assert_gone_at_once(&self, since: Instant, but: &[i32], case: &str) {
        let list = |counts: &dyn Fn(&Process) -> bool| {
            let is_left = |left: &Leftover| match left {
                Leftover::Process(process, _) => !but.contains(&process.pid) && counts(process),
                _ => true,
            };
            self.traces.in_kernel().unwrap().into_iter().filter(is_left).collect::<Vec<_>>()
        };
        let runs = |left: &Leftover| matches!(left, Leftover::Process(..));
        await_none(since + AT_ONCE, case, || {
            list(&|process| !process.is_ending && !process.is_killed()).into_iter().filter(runs).collect()
        });
        await_none(since + TAKEN_APART, case, || list(&|_| true));
    }

    /// Nothing at all is left.
    pub(crate) fn assert_gone_soon(&self, since: Instant, case: &str) {
        await_none(since + SOON, case, || self.traces.all().unwrap());
    }
}

impl Drop for Play<'_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        for process in self.traces.look() {
            kill(process.pid, Signal::KILL);
        }
        // Groups can be removed once their processes have ended.
        thread::sleep(AT_ONCE);
        testkit::leftovers::remove_groups(&self.traces);
    }
}

/// How many pid namespaces lie around this process.
pub(crate) fn own_depth() -> usize {
    Process::of_this().expect("`/proc` shows this process").depth()
}

/// The last look begins before the deadline.
fn await_none(deadline: Instant, case: &str, list: impl Fn() -> Vec<Leftover>) {
    loop {
        let began = Instant::now();
        let left = list();
        if left.is_empty() {
            return;
        }
        assert!(began <= deadline, "{case}: left behind:\n  {}", lines(&left));
        thread::sleep(Duration::from_millis(5));
    }
}

fn lines(left: &[Leftover]) -> String {
    left.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")
}

/// Sends a signal. A process that has ended needs none.
pub(crate) fn kill(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        kill_process(pid, signal).ok();
    }
}

/// Kills them at the same instant: none of them runs again to see that another has died.
pub(crate) fn kill_together(pids: &[i32]) {
    for signal in [Signal::STOP, Signal::KILL] {
        for pid in pids {
            kill(*pid, signal);
        }
    }
}

fn pipe() -> (OwnedFd, OwnedFd) {
    pipe_with(PipeFlags::CLOEXEC).unwrap()
}
