//! The package a cell runs from: nothing inside changes it, and nothing but a tree of the store becomes one.
//!
//! No command line names a package, so these cells are asked for as the product itself asks for them.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::limits::Limits;
use serde_json::{Value, json};
use testkit::attack::Finding;
use testkit::world::{Caller, World};

use crate::scene::{SECRET, text};

/// Guards whose controls are here.
pub(crate) const GUARDS: &[&str] = &[PLACE, READ_ONLY, REMOUNT];
const PLACE: &str = "package-place";
const READ_ONLY: &str = "read-only,landlock";
/// The tree stays read-only at first.
const REMOUNT: &str = "landlock,seccomp-mount,capabilities";

const PATIENCE: Duration = Duration::from_secs(20);

/// A supervisor and the one connection to it.
struct Supervised {
    child: Child,
    connection: Option<BufReader<UnixStream>>,
}

impl Supervised {
    fn start(command: &mut Command) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(PATIENCE)).unwrap();
        command.args(["cell", "--owner-fd", "0"]).stdin(OwnedFd::from(theirs));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Its end of the pair closes here too.
        command.stdin(Stdio::null());
        Self { child, connection: Some(BufReader::new(ours)) }
    }

    fn ask(&mut self, line: &str, body: &str) -> (u16, Value) {
        let connection = self.connection.as_mut().unwrap();
        let request =
            format!("{line} HTTP/1.1\r\nhost: cell\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        connection.get_mut().write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            connection.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            head.push(line.to_lowercase());
        }
        let status = head.first().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.iter().find_map(|line| line.strip_prefix("content-length:")).unwrap();
        let mut body = vec![0; length.trim().parse().unwrap()];
        connection.read_exact(&mut body).unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.connection = None;
        self.child.wait().ok();
    }
}

fn word<'a>(said: &'a Value, pointer: &str) -> &'a str {
    said.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A world with a tree in its store, which nobody but its owner can enter: where root starts the cell, the owner of the
/// tree is the tool inside.
fn world(caller: Caller) -> World {
    let world = World::new(caller).expect("the world can be made");
    let store = world.make_folder("data/fumehood/store").unwrap();
    let tree = world.make_folder("data/fumehood/store/tree").unwrap();
    world.make_file("data/fumehood/store/tree/file", SECRET, 0o444).unwrap();
    world.make_file("data/fumehood/store/tree/program", "#!/bin/sh\nexec \"$@\"\n", 0o555).unwrap();
    world.make_folder("data/fumehood/elsewhere").unwrap();
    world.make_file("data/fumehood/elsewhere/file", SECRET, 0o444).unwrap();
    for closed in [&tree, &store, &world.path("data/fumehood"), &world.path("data")] {
        std::fs::set_permissions(closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    world
}

/// Makes one attempt in a cell with this package: what came of it, or the code of the refusal.
fn attempt(world: &World, off: Option<&str>, package: &Path, attack: &str) -> Result<Finding, String> {
    let mut supervised = Supervised::start(&mut world.product(off));
    let (family, attack) = attack.split_once(' ').unwrap();
    let mut spec = json!({
        "name": "package",
        "kind": "code",
        "command": ["/package/program", "/bin/sh", "-c", "\"$0\" \"$@\" > /data/found", world.attacker(), family,
                    format!("x={attack}")],
        "mounts": [{ "path": world.path("tool") }],
        "data": { "name": "found", "size": 1 << 20 },
        "package": package,
        "limits": Limits { require: BTreeSet::new(), ..Limits::code() },
    });
    if !package.join("program").exists() {
        spec.pointer_mut("/command").and_then(Value::as_array_mut).unwrap().remove(0);
    }
    let (status, said) = supervised.ask("PUT /v1/cell", &spec.to_string());
    assert_eq!(status, 201, "{said}");
    let (status, said) = supervised.ask("POST /v1/cell/start", "");
    if status != 200 {
        return Err(word(&said, "/code").to_owned());
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (_, said) = supervised.ask("GET /v1/cell", "");
        if word(&said, "/state") == "ended" {
            break;
        }
        assert!(Instant::now() < deadline, "it did not end: {said}");
        std::thread::sleep(Duration::from_millis(10));
    }
    let found = std::fs::read_to_string(world.path("data/fumehood/data/found/found")).unwrap_or_default();
    let found = found.lines().find_map(|line| serde_json::from_str::<Finding>(line).ok());
    Ok(found.expect("the attempt was made"))
}

#[test]
fn a_package_is_what_it_was_before_the_cell() {
    for caller in Caller::all() {
        let world = world(caller);
        let tree = world.path("data/fumehood/store/tree");
        let finding = attempt(&world, None, &tree, &format!("mounts read,/package/file,{SECRET}")).unwrap();
        assert!(finding.got_in, "{caller:?}: it cannot even be read: {finding:?}");
        for (attack, errnos, guards) in [
            ("mounts create,/package/made", [libc::EROFS, libc::EACCES], READ_ONLY),
            ("mounts remove,/package/file", [libc::EROFS, libc::EACCES], READ_ONLY),
            ("mounts remount,/package,/package/again", [libc::EPERM, libc::EPERM], REMOUNT),
        ] {
            let finding = attempt(&world, None, &tree, attack).unwrap();
            let errno = finding.errno.unwrap_or_default();
            assert!(!finding.got_in && errnos.contains(&errno), "{caller:?}: {attack}: {finding:?}");
            let finding = attempt(&world, Some(guards), &tree, attack).unwrap();
            assert!(finding.got_in, "{caller:?}: {attack}, without {guards}: {finding:?}");
        }
    }
}

#[test]
fn nothing_but_a_tree_of_the_store_becomes_a_package() {
    for caller in Caller::all() {
        let world = world(caller);
        let elsewhere = world.path("data/fumehood/elsewhere");
        let link = world.path("data/fumehood/store/link");
        symlink(&elsewhere, &link).unwrap();
        let up = world.path("data/fumehood/store/../elsewhere");
        for package in [&elsewhere, &link, &up] {
            let attack = format!("mounts read,/package/file,{SECRET}");
            let shown = text(package);
            let refusal = attempt(&world, None, package, &attack).unwrap_err();
            assert_eq!(refusal, "FH-CELL-MOUNT", "{caller:?}: {shown}");
            let finding = attempt(&world, Some(PLACE), package, &attack).unwrap();
            assert!(finding.got_in, "{caller:?}: {shown}, without {PLACE}: {finding:?}");
        }
    }
}
