//! Sockets of the host's programs: by name, and by path through a mount.

use std::io::Write as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use testkit::world::Caller;

use crate::scene::{SECRET, Scene};
use crate::table::Control::{None, Off};
use crate::table::{Case, case, findings, prove};

pub(crate) const CASES: &[Case] = &[
    case(
        "by abstract name",
        "abstract,{name},{secret}",
        &[libc::ECONNREFUSED, libc::EPERM],
        Off("network-namespace,landlock"),
    ),
    case("by a path that is not mounted", "by-path,{socket},{secret}", &[libc::ENOENT], Off("root,landlock")),
    case(
        "the container engine's",
        "by-path,/var/run/docker.sock",
        &[libc::ENOENT],
        None("which daemons a host runs differs; the cases above have theirs"),
    ),
];

/// Those of the tests below.
pub(crate) const GUARDS: &[&str] = &["socket-scan,landlock"];

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    let scene = Scene::new(caller);
    let name = format!("hostile-{}", scene.world.folder().file_name().unwrap().to_str().unwrap());
    scene.world.make_folder("daemon").unwrap();
    let path = scene.world.path("daemon/socket");
    let by_path = UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let by_name = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    for daemon in [by_path, by_name] {
        // It lives as long as the test, and says its secret to everybody.
        std::thread::spawn(move || {
            for mut peer in daemon.incoming().flatten() {
                drop(peer.write_all(SECRET.as_bytes()));
            }
        });
    }
    scene.word("name", name).place("socket", "daemon/socket").place("daemon", "daemon")
}

#[test]
fn programs_of_the_host_do_not_answer() {
    prove("sockets", CASES, stage);
}

#[test]
fn a_mount_with_a_socket_is_refused_for_a_read_only_one_would_not_stop_it() {
    for caller in Caller::all() {
        let scene = stage(caller, Option::None).flags(["--mount", "{daemon}"]);
        let words = ["sockets".to_owned(), scene.filled("through a mount=by-path,{socket},{secret}")];
        let ran = scene.try_words(Option::None, &words);
        assert_eq!(ran.code, Some(12), "{ran:?}");
        assert!(ran.stderr.contains("Unix socket"), "{ran:?}");
        let ran = scene.try_words(Some("socket-scan,landlock"), &words);
        assert!(findings(&ran).get("through a mount").is_some_and(|finding| finding.got_in), "{ran:?}");
    }
}
