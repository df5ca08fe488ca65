//! The control of the matrix: what is planted is found, each kind of thing, and no longer found once it is taken away.

use std::{
    fs::{self, File},
    io::Write as _,
    os::unix::{net::UnixListener, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{FlockOperation, flock};
use testkit::leftovers::{Leftover, PLANTED, Traces};

/// A folder like a world's, and what was there before.
#[derive(Debug)]
struct Ground {
    folder: tempfile::TempDir,
    traces: Traces,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix(PLANTED).tempdir().unwrap();
        let cells = folder.path().join("state/cells");
        fs::create_dir_all(&cells).unwrap();
        fs::create_dir_all(folder.path().join("state/logs")).unwrap();
        let marker = folder.path().to_str().unwrap();
        let state = folder.path().join("state");
        let kept = [folder.path().join("state/logs")];
        let traces = Traces::before(marker, &[state], &cells, &kept).unwrap();
        let ground = Self { folder, traces };
        assert_eq!(ground.traces.all().unwrap(), [], "nothing is planted yet");
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until something planted is listed.
    fn await_found(&self, what: &str, is: impl Fn(&Leftover) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.traces.all().unwrap().iter().any(&is) {
            assert!(Instant::now() < deadline, "{what} is not found: {:?}", self.traces.all());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn assert_clean(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.traces.all().unwrap().is_empty() {
            assert!(Instant::now() < deadline, "taken away and still found: {:?}", self.traces.all());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        testkit::world::skip(
            "planted leftovers that only root can plant",
            "the tests run as an ordinary user",
        );
    }
    is_root
}

/// Ends a planted program and whatever it started, which share its group.
fn uproot(mut planted: Child) {
    let group = rustix::process::Pid::from_child(&planted);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    planted.wait().unwrap();
}

fn plant(command: &mut Command) -> Child {
    command.process_group(0).stdin(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_process_is_found_by_its_descent_even_when_nothing_in_it_names_the_run() {
    let _alone = crate::stage::alone();
    let ground = Ground::new();
    // The shell between is gone before the look: only a process that collects orphans sees what it started.
    let status = Command::new("sh").args(["-c", "sleep 1000 & echo $! >$0"]).arg(ground.path("pid")).status();
    assert!(status.unwrap().success());
    let pid: i32 = fs::read_to_string(ground.path("pid")).unwrap().trim().parse().unwrap();
    ground.await_found("an orphan", |left| matches!(left, Leftover::Process(found, _) if found.pid == pid));
    crate::stage::kill(pid, rustix::process::Signal::KILL);
    ground.assert_clean();
}

#[test]
fn a_process_is_found_by_a_variable_of_its_environment() {
    let _alone = crate::stage::alone();
    let mut first = Command::new("sleep").arg("1000").spawn().unwrap();
    let ground = Ground::new();
    assert_eq!(ground.traces.all().unwrap(), [], "what was there before does not count");
    let mut marked = Command::new("sleep");
    let marked = plant(marked.arg("1000").env("MARK", ground.folder.path()));
    let pid = marked.id().cast_signed();
    ground.await_found(
        "a marked process",
        |left| matches!(left, Leftover::Process(found, _) if found.pid == pid),
    );
    uproot(marked);
    ground.assert_clean();
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_namespace_is_found_by_a_process_in_it_an_open_file_and_a_mount() {
    let _alone = crate::stage::alone();
    if !is_root() {
        return;
    }
    let mut ground = Ground::new();
    let mut command = Command::new("unshare");
    let inside = plant(command.args(["--net", "--uts", "sleep", "1000"]));
    let pid = inside.id();
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    let theirs = || fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    while theirs() == own {
        thread::sleep(Duration::from_millis(1));
    }
    ground.traces.look();
    let name = theirs().to_str().unwrap().to_owned();
    assert!(ground.traces.namespaces().contains(&name), "{:?}", ground.traces);
    let held = |by: &'static str| {
        let name = name.clone();
        move |left: &Leftover| matches!(left, Leftover::Namespace(found, who) if *found == name && who.contains(by))
    };
    ground.await_found("a process in a namespace", held("by process"));
    let open = File::open(format!("/proc/{pid}/ns/net")).unwrap();
    let place = ground.path("bound");
    fs::write(&place, "").unwrap();
    mount(&["--bind", &format!("/proc/{pid}/ns/net")], &place);
    uproot(inside);
    ground.await_found("an open file", held("open file"));
    drop(open);
    ground.await_found("a mount of a namespace", held("mount"));
    unmount(&place);
    ground.assert_clean();
}

#[test]
fn a_mount_is_found() {
    let _alone = crate::stage::alone();
    if !is_root() {
        return;
    }
    let ground = Ground::new();
    let place = ground.path("mounted");
    fs::create_dir(&place).unwrap();
    mount(&["-t", "tmpfs", "planted"], &place);
    ground.await_found("a mount", |left| matches!(left, Leftover::Mount(line) if line.contains(PLANTED)));
    unmount(&place);
    ground.assert_clean();
}

#[test]
fn a_control_group_is_found_in_every_hierarchy() {
    let _alone = crate::stage::alone();
    if !is_root() {
        return;
    }
    let mut ground = Ground::new();
    let cell = format!("planted-{}", std::process::id());
    fs::create_dir(ground.path("state/cells").join(&cell)).unwrap();
    ground.traces.look();
    let created = sandbox::cgroup::Hierarchies::detect().create(&cell, &model::limits::Limits::server());
    let paths = created.groups.paths();
    if paths.is_empty() {
        testkit::world::skip("planted control groups", "no control group can be made here");
    }
    for path in paths {
        ground.await_found("a group", |left| matches!(left, Leftover::Group(found) if *found == path));
    }
    assert_eq!(created.groups.remove(Duration::from_secs(2)), []);
    fs::remove_dir(ground.path("state/cells").join(&cell)).unwrap();
    ground.assert_clean();
}

#[test]
fn a_host_id_is_found_while_somebody_holds_it() {
    let _alone = crate::stage::alone();
    if !is_root() {
        return;
    }
    let mut ground = Ground::new();
    let id = sandbox::identity::FIRST_ID + sandbox::identity::IDS - 1;
    fs::create_dir_all(sandbox::identity::LOCKS).unwrap();
    let path = Path::new(sandbox::identity::LOCKS).join(id.to_string());
    let lock = File::create(&path).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut command = Command::new("sleep");
    let inside = plant(command.arg("1000").uid(id).gid(id));
    while ground.traces.host_ids().is_empty() {
        ground.traces.look();
    }
    uproot(inside);
    ground.await_found("a host id", |left| matches!(left, Leftover::HostId(found) if *found == path));
    drop(lock);
    ground.assert_clean();
}

#[test]
fn files_and_sockets_are_found_but_for_what_may_stay() {
    let _alone = crate::stage::alone();
    let ground = Ground::new();
    let cell = ground.path("state/cells/one");
    fs::create_dir(&cell).unwrap();
    let socket = cell.join("api.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    File::create(ground.path("state/logs/kept")).unwrap().write_all(b"said").unwrap();
    ground.await_found("a socket", |left| *left == Leftover::File(socket.clone()));
    ground.await_found("a folder", |left| *left == Leftover::File(cell.clone()));
    assert_eq!(ground.traces.all().unwrap().len(), 2);
    drop(listener);
    fs::remove_dir_all(&cell).unwrap();
    ground.assert_clean();
}

fn mount(how: &[&str], place: &Path) {
    assert!(Command::new("mount").args(how).arg(place).status().unwrap().success());
}

fn unmount(place: &Path) {
    assert!(Command::new("umount").arg(place).status().unwrap().success());
}
