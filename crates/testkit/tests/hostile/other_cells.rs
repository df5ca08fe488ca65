//! Two cells at once: neither may see, reach or signal what is the other's.

use std::collections::BTreeSet;
use std::fs;

use testkit::world::Caller;

use crate::scene::Scene;
use crate::table::Control::{None, Off};
use crate::table::{Case, case, each, findings, prove};

const OWN_SCRATCH: &str = "each cell's scratch folders are made for it, which no guard decides; \
                           `neighbours_without_a_wall_are_reached` shows that the attack works";
const OWN_DATA: &str = "which folder is mounted is the name that was declared, which no guard decides; \
                        `neighbours_without_a_wall_are_reached` shows that the attack works";
const NO_GROUP: &str = "whether an ordinary user's cell has a cgroup of its own depends on the host";

pub(crate) const CASES: &[Case] = &[
    case("seeing", "see,{other}", &[], Off("pid-namespace")),
    each(
        "signalling",
        "signal,{other}",
        &[],
        Off("pid-namespace,user-namespace,landlock"),
        Off("pid-namespace,landlock"),
    ),
    case("a file in its data", "data,{other}", &[libc::ENOENT], None(OWN_DATA)),
    case("a file in /tmp", "file,{other}", &[libc::ENOENT], None(OWN_SCRATCH)),
    case("a TCP port", "tcp,{other},{port}", &[libc::ECONNREFUSED], Off("network-namespace")),
    case(
        "an abstract socket",
        "abstract,{other}",
        &[libc::ECONNREFUSED, libc::EPERM],
        Off("network-namespace,landlock"),
    ),
    case("a System V segment", "segment,{other},{port},{key}", &[libc::ENOENT], Off("ipc-namespace")),
    case("a POSIX queue", "queue,{other}", &[libc::ENOENT, libc::EACCES], Off("ipc-namespace,landlock")),
    case("the host's name", "host-name,{host}", &[], Off("uts-namespace")),
    each("the host's cgroups", "cgroup-path", &[], Off("cgroup-namespace"), None(NO_GROUP)),
];

/// Those of the tests below.
pub(crate) const GUARDS: &[&str] = &["identity"];

fn stage(caller: Caller, off: Option<&str>) -> Scene {
    let mut scene = alone(caller);
    let words = ["--victim", "{other}", "{port}", "{key}"].map(|word| scene.filled(word));
    let mut other = scene.world.attack(off, &["--data".to_owned(), "theirs".to_owned()], &words);
    scene.accompany(&mut other);
    scene
}

/// The words, without another cell.
fn alone(caller: Caller) -> Scene {
    let scene = Scene::new(caller);
    let name = format!("cell-{}", scene.world.folder().file_name().unwrap().to_str().unwrap());
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let key = (u32::from(free) << 12) | (std::process::id() & 0xfff);
    scene
        .word("other", name)
        .word("port", free.to_string())
        .word("host", host)
        .word("key", key.to_string())
        .flags(["--data", "ours"])
}

#[test]
fn cells_share_nothing() {
    prove("other_cells", CASES, stage);
}

#[test]
fn neighbours_without_a_wall_are_reached() {
    for caller in Caller::all() {
        let scene = alone(caller);
        // Queues are refused by Landlock even within one cell.
        let apart = |case: &&Case| !case.label.starts_with("the host's") && !case.label.contains("queue");
        let within = CASES.iter().filter(apart);
        let mut words = vec!["--beside".to_owned(), scene.filled("{other},{port},{key}")];
        words.extend(scene.attempts("other_cells", within));
        let ran = scene.try_words(Option::None, &words);
        let found = findings(&ran);
        assert!(found.len() > 5 && found.values().all(|finding| finding.got_in), "{caller:?}: {ran:?}");
    }
}

#[test]
fn cells_of_root_have_host_ids_of_their_own() {
    if !Caller::all().contains(&Caller::Root) {
        return;
    }
    for (off, ids) in [(Option::None, 2), (Some("identity"), 1)] {
        let mut scene = alone(Caller::Root);
        for _ in 0..2 {
            let mut cell = scene.world.attack(off, &[], &["--victim", "cell-of-root"]);
            scene.accompany(&mut cell);
        }
        let found = host_ids(&scene.filled("{other}").replace("cell-", ""));
        assert_eq!(found.len(), ids, "{off:?}: {found:?}");
        assert_eq!(found.contains(&0), off.is_some(), "{off:?}: {found:?}");
    }
}

/// The host's uids of the victims of a world.
fn host_ids(world: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split('\0');
        let is_victim =
            words.next().is_some_and(|program| program.contains(world)) && words.next() == Some("--victim");
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let uid = status
            .lines()
            .find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next()?.parse().ok());
        if let (true, Some(uid)) = (is_victim, uid) {
            found.insert(uid);
        }
    }
    found
}
