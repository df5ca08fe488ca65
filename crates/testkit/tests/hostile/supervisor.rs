//! A supervisor that a cell has taken over: what is left to it once it has confined itself.
//!
//! The attempts are made by the test-only twin of the product in the place of the code that was taken over. With the
//! guard left out each of them succeeds.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use testkit::world::{Caller, World};

/// The guard, and a name that is no guard's: the twin with everything in its place.
pub(crate) const GUARDS: &[&str] = &[GUARD];
const GUARD: &str = "supervisor-confinement";
const NONE: &str = "none";

/// A program of the host that ends with the test.
struct Companion(Child);

impl Drop for Companion {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(command: &mut std::process::Command) -> Companion {
    let quiet = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    Companion(quiet.spawn().unwrap())
}

/// The socket of the one supervisor that there is.
fn socket(world: &World) -> PathBuf {
    let cells = world.path("state/fumehood/cells");
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let found = std::fs::read_dir(&cells).into_iter().flatten().flatten();
        let mut sockets = found.map(|cell| cell.path().join("api.sock"));
        if let Some(socket) = sockets.find(|socket| socket.exists()) {
            return socket;
        }
        assert!(Instant::now() < deadline, "no supervisor came up");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the log says became of each attempt.
fn told(world: &World) -> Vec<(String, String)> {
    let mut told = Vec::new();
    let mut pending = vec![world.path("state/fumehood/logs")];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                pending.push(entry.path());
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let lines = text.lines().filter_map(|line| line.split_once("taken over: ")?.1.split_once(": "));
            told.extend(lines.map(|(what, said)| (what.to_owned(), said.to_owned())));
        }
    }
    told
}

fn try_all(caller: Caller, off: &str) -> (World, Vec<(String, String)>) {
    let world = World::new(caller).expect("the world can be made");
    for folder in ["data/fumehood", "home/.ssh"] {
        world.make_folder(folder).unwrap();
    }
    let secret = |below: &str| text(&world.make_file(below, "canary-of-the-host", 0o600).unwrap());
    let vault = secret("data/fumehood/vault.age");
    let key = secret("home/.ssh/id_ed25519");
    let config = text(&world.make_folder("config/fumehood").unwrap());
    let _other =
        start(world.product(None).args(["exec", "--limit", "require=none", "--", "/bin/sleep", "60"]));
    let socket = text(&socket(&world));
    let victim = start(world.program(Path::new("/bin/sleep")).arg("60"));
    let pid = victim.0.id();
    let tries = [
        format!("read={vault}"),
        format!("write={vault}"),
        format!("read={key}"),
        format!("list={}", text(&world.path("home"))),
        format!("write={config}/config.toml"),
        format!("connect={socket}"),
        "run=/bin/true".to_owned(),
        format!("memory={pid}"),
        format!("handle={pid}"),
        format!("signal={pid}"),
        "dumpable=".to_owned(),
        "read=/proc/self/environ".to_owned(),
        "look-up=localhost".to_owned(),
    ];
    let mut command = world.product(Some(off));
    command.env("FUMEHOOD_SUPERVISOR_TRIES", tries.join(";"));
    command.args(["exec", "--limit", "require=none", "--", "/bin/true"]);
    let ran = world.run(&mut command, "").unwrap();
    assert_eq!((ran.code, ran.late), (Some(0), false), "{ran:?}");
    let told = told(&world);
    assert_eq!(told.iter().map(|(what, _)| what.clone()).collect::<Vec<_>>(), tries);
    (world, told)
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_supervisor_that_was_taken_over_reaches_nothing_of_the_user() {
    for caller in Caller::all() {
        let (_world, told) = try_all(caller, NONE);
        for (what, said) in &told {
            // What it needs for its work is left to it.
            let expected = if what.starts_with("look-up=") { "done" } else { "refused: " };
            assert!(said.starts_with(expected), "{caller:?}: {what}: {said}");
        }
        let (_world, told) = try_all(caller, GUARD);
        for (what, said) in &told {
            assert_eq!(said, "done", "without the guard, {caller:?}: {what}");
        }
    }
}

#[test]
fn how_a_supervisor_is_confined_is_said() {
    for caller in Caller::all() {
        let world = World::new(caller).expect("the world can be made");
        let _other =
            start(world.product(None).args(["exec", "--limit", "require=none", "--", "/bin/sleep", "60"]));
        socket(&world);
        let deadline = Instant::now() + Duration::from_secs(20);
        let layers = loop {
            let ran = world.run(world.product(None).args(["ps", "--json"]), "").unwrap();
            let packed: String = ran.stdout.split_whitespace().collect();
            if packed.contains("\"name\":\"supervisor\"") || Instant::now() > deadline {
                break packed;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        assert!(layers.contains(r#""name":"supervisor","state":"enforced""#), "{caller:?}: {layers}");
    }
}
