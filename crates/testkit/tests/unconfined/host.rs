//! Hosts that lack something, simulated around the product.

use std::{
    ffi::OsString,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use testkit::world::{Caller, World};

/// What is not as the product would like it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lack {
    /// Nothing: the control of what is around the product for the others.
    Nothing(Around),
    /// System calls that fail, in the words of `fumehood-without`.
    Calls(&'static [&'static str]),
    /// What a shell script has done to a mount namespace of its own.
    Mounts(&'static str),
    /// A kind of namespace of which there may be none: `user`, `net`, …
    Namespaces(&'static str),
    /// The right to map the ids of a cell.
    IdMap,
    /// A kernel that is new enough, by what it says of itself.
    Release,
    /// The jail's program.
    Jail,
    /// Its executable bit.
    ExecutableJail,
}

/// What is around the product.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Around {
    /// A filter of system calls.
    Filter,
    /// A mount namespace.
    MountNamespace,
    /// A user namespace with every id.
    UserNamespace,
    /// A copy of the product's programs.
    Copy,
}

/// A host with a lack, and a caller on it.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) world: World,
    lack: Lack,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Host {
    pub(crate) fn new(caller: Caller, lack: Lack) -> Self {
        let world = World::new(caller).expect("the world can be made");
        // Where a host cannot map its owner, the tool has to be able to write there all the same.
        let work = world.make_folder("work").unwrap();
        fs::set_permissions(work, fs::Permissions::from_mode(0o777)).unwrap();
        let host = Self { world, lack };
        fs::copy(built("fumehood-without"), host.without()).unwrap();
        if matches!(lack, Lack::Jail | Lack::ExecutableJail | Lack::Nothing(Around::Copy)) {
            let built = host.product();
            for name in ["fumehood", "fumehood-jail"] {
                fs::copy(built.with_file_name(name), host.world.path("tool").join(name)).unwrap();
            }
        }
        match lack {
            Lack::Jail => fs::remove_file(host.world.path("tool/fumehood-jail")).unwrap(),
            Lack::ExecutableJail => {
                let mode = fs::Permissions::from_mode(0o644);
                fs::set_permissions(host.world.path("tool/fumehood-jail"), mode).unwrap();
            }
            _ => {}
        }
        host
    }

    /// The file that whatever runs in a cell makes.
    pub(crate) fn mark(&self) -> PathBuf {
        self.world.path("work/ran")
    }

    /// Arguments for a cell that makes [`Host::mark`] and goes on until its stdin ends.
    pub(crate) fn marking(&self, verb: &str, flags: &[&str]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![verb.into(), "--mount".into()];
        words.push(format!("{}:rw", self.world.path("work").display()).into());
        words.extend(flags.iter().map(OsString::from));
        let script = format!(": >{}; cat >/dev/null", self.mark().display());
        words.extend(["--".into(), "sh".into(), "-c".into(), script.into()]);
        words
    }

    /// Runs the product to its end, with nothing on stdin.
    pub(crate) fn run(&self, words: &[OsString]) -> Ran {
        let child = self.start(words);
        let out = child.wait_with_output().unwrap();
        Ran {
            code: out.status.code(),
            stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
        }
    }

    /// Starts the product on this host. `wait_with_output` closes its stdin first.
    pub(crate) fn start(&self, words: &[OsString]) -> Child {
        let (outside, inside, maps) = self.around();
        let inner = match self.lack {
            Lack::IdMap if self.world.caller() == Caller::Ordinary => self.of_two_minds(),
            _ => self.world.program(Path::new(inside.first().unwrap_or(&self.product().into_os_string()))),
        };
        let mut all: Vec<OsString> = outside;
        all.push(inner.get_program().into());
        all.extend(inner.get_args().map(Into::into));
        all.extend(inside.iter().skip(1).cloned());
        if !inside.is_empty() {
            all.push(self.product().into());
        }
        all.extend_from_slice(words);
        let (first, rest) = all.split_first().expect("there is a program");
        let mut command = Command::new(first);
        command.args(rest).env_clear().current_dir(self.world.folder());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        if let Some(map) = maps {
            map_ids(&mut child, &map);
        }
        child
    }

    /// What lies around the caller, what between the caller and the product, and the id map of a user namespace.
    fn around(&self) -> (Vec<OsString>, Vec<OsString>, Option<String>) {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let unshared = |script: &str| {
            words(&["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        };
        let user = |script: &str| {
            // The maps come from outside; only a program started after that has the rights of its new root.
            let mut all = words(&["unshare", "--user", "--mount", "--propagation", "private"]);
            all.extend(words(&["sh", "-c", "read go; exec \"$@\"", "sh", "sh", "-c", script, "sh"]));
            all
        };
        let everyone = Some(format!("0 0 {}", u32::MAX));
        match self.lack {
            Lack::Nothing(Around::Filter) => {
                let mut filter = vec![self.without().into_os_string()];
                // Nobody opens a file system without a name.
                filter.extend(words(&["fsopen:0=0=ENOSYS", "--"]));
                (Vec::new(), filter, None)
            }
            Lack::Nothing(Around::MountNamespace) => (unshared("exec \"$@\""), Vec::new(), None),
            Lack::Nothing(Around::UserNamespace) => (user("exec \"$@\""), Vec::new(), everyone),
            Lack::Calls(calls) => {
                let mut filter = vec![self.without().into_os_string()];
                filter.extend(words(calls));
                filter.push("--".into());
                (Vec::new(), filter, None)
            }
            Lack::Mounts(script) => (unshared(&format!("set -e; {script}; exec \"$@\"")), Vec::new(), None),
            Lack::Namespaces(kind) => {
                let script = format!("set -e; echo 0 >/proc/sys/user/max_{kind}_namespaces; exec \"$@\"");
                (user(&script), Vec::new(), everyone)
            }
            // As in a container whose range of ids is a usual one: the ids of cells lie beyond it.
            Lack::IdMap if self.world.caller() == Caller::Root => {
                (user("exec \"$@\""), Vec::new(), Some("0 0 65536".to_owned()))
            }
            Lack::Nothing(Around::Copy) | Lack::Jail | Lack::ExecutableJail | Lack::IdMap => {
                (Vec::new(), Vec::new(), None)
            }
            Lack::Release => (Vec::new(), words(&["/usr/bin/setarch", "--uname-2.6"]), None),
        }
    }

    /// The caller with the real uid of somebody else: the kernel lets nobody map another's id.
    fn of_two_minds(&self) -> Command {
        let (uid, gid) = self.world.caller().ids();
        let mut command = self.world.program(&self.product());
        let mut other = Command::new("setpriv");
        other.args([
            "--ruid",
            "65533",
            "--euid",
            &uid.to_string(),
            "--regid",
            &gid.to_string(),
            "--clear-groups",
        ]);
        other.arg("--").arg(self.product());
        other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        std::mem::swap(&mut command, &mut other);
        command
    }

    fn product(&self) -> PathBuf {
        if matches!(self.lack, Lack::Jail | Lack::ExecutableJail | Lack::Nothing(Around::Copy)) {
            let copy = self.world.path("tool/fumehood");
            if copy.exists() {
                return copy;
            }
        }
        let command = self.world.product(None);
        let program = command.get_args().last().unwrap_or(command.get_program());
        program.into()
    }

    fn without(&self) -> PathBuf {
        self.world.path("tool/without")
    }
}

/// A program that was copied a moment ago may still be open in a child that another test is just starting.
fn spawn(command: &mut Command) -> Child {
    for _ in 0..1_000 {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(1));
            }
            other => return other.unwrap(),
        }
    }
    panic!("`{}` stays busy", command.get_program().display())
}

/// Writes the id maps of a program that has made itself a user namespace and waits for a line.
fn map_ids(child: &mut Child, map: &str) {
    let theirs = PathBuf::from(format!("/proc/{}", child.id()));
    let own = fs::read_link("/proc/self/ns/user").unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while fs::read_link(theirs.join("ns/user")).unwrap() == own {
        assert!(Instant::now() < deadline, "no user namespace was made");
        thread::sleep(Duration::from_millis(1));
    }
    for name in ["uid_map", "gid_map"] {
        fs::write(theirs.join(name), format!("{map}\n")).unwrap();
    }
    child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
}

/// A program that was built with the tests.
fn built(name: &str) -> PathBuf {
    let folder = match std::env::var_os("FUMEHOOD_BIN_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_BIN_EXE_fumehood-without")).parent().unwrap().to_owned(),
    };
    folder.join(name)
}

/// The callers of the simulated hosts: only root can simulate one.
pub(crate) fn callers() -> Vec<Caller> {
    if rustix::process::geteuid().is_root() {
        return Caller::all();
    }
    testkit::world::skip("hosts that lack something", "only root can simulate them");
    Vec::new()
}
