//! Files of the host that nobody declared.

use testkit::world::Caller;

use crate::scene::{SECRET, Scene, text};
use crate::table::Control::{None, Off};
use crate::table::{Case, case, each, prove};

const INIT_ROOT: &str = "the family proc opens it without `dumpable`; what lies behind it is the cell's root, which the cases above try";
const HOST_REFUSES: &str = "the host itself refuses this user";
const IN_INITIAL: &str =
    "the kernel asks a capability of the initial user namespace, which an ordinary user never has";

pub(crate) const CASES: &[Case] = &[
    each("shadow", "read,/etc/shadow", &[libc::ENOENT], Off("root,landlock,identity"), None(HOST_REFUSES)),
    each(
        "own 0600 in /var/tmp",
        "read,{var-private},{secret}",
        &[libc::ENOENT],
        Off("root,landlock,identity"),
        Off("root,landlock"),
    ),
    case("open 0644 in /var/tmp", "read,{var-open},{secret}", &[libc::ENOENT], Off("root,landlock")),
    each(
        "own 0600 in /tmp",
        "read,{tmp-private},{secret}",
        &[libc::ENOENT],
        Off("root,landlock,identity"),
        Off("root,landlock"),
    ),
    case("open 0644 in /tmp", "read,{tmp-open},{secret}", &[libc::ENOENT], Off("root,landlock")),
    each(
        "home",
        "read,{home-private},{secret}",
        &[libc::ENOENT],
        Off("root,landlock,identity"),
        Off("root,landlock"),
    ),
    each(
        "names in the home",
        "list,{home}",
        &[libc::ENOENT],
        Off("root,landlock,identity"),
        Off("root,landlock"),
    ),
    case("names beside what is mounted", "list,{world},open", &[], Off("root,landlock")),
    case(
        "the host's /etc",
        "read,/etc/hosts.allow",
        &[libc::ENOENT],
        None("which files a host has there differs; `root` is tried by the others"),
    ),
    case("above the root", "read,/../../..{var-open},{secret}", &[libc::ENOENT], Off("root,landlock")),
    case(
        "above the root by proc",
        "read,/proc/self/root/..{var-open},{secret}",
        &[libc::ENOENT],
        Off("root,landlock"),
    ),
    case(
        "through the working folder",
        "read,/proc/self/cwd/../../..{var-open},{secret}",
        &[libc::ENOENT],
        Off("root,landlock"),
    ),
    case(
        "through the root of PID 1",
        "read,/proc/1/root{var-open},{secret}",
        &[libc::EACCES, libc::EPERM],
        None(INIT_ROOT),
    ),
    each(
        "by handle",
        "by-handle,{tool},{below-device},{secret}",
        &[libc::EPERM],
        Off("seccomp-open_by_handle_at,user-namespace,capabilities,landlock"),
        None(IN_INITIAL),
    ),
];

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    let mut scene = Scene::new(caller)
        .secret("var-private", "private", 0o600)
        .secret("var-open", "open", 0o644)
        .place("tool", "tool");
    let world = text(scene.world.folder());
    // `/var/tmp` and the root may be one file system, or two.
    let mount = mount_point(scene.world.folder());
    let below_device =
        text(&scene.world.path("open")).strip_prefix(mount.trim_end_matches('/')).unwrap().to_owned();
    scene = scene.word("world", world).word("below-device", below_device);
    let (uid, gid) = caller.ids();
    for (folder, private, open) in
        [("/tmp", "tmp-private", "tmp-open"), (home(caller), "home-private", "home-open")]
    {
        let place = tempfile::Builder::new().prefix("fh-canary-").tempdir_in(folder).unwrap();
        for (name, mode) in [(private, 0o600), (open, 0o644)] {
            let path = place.path().join(name);
            std::fs::write(&path, SECRET).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            std::os::unix::fs::lchown(&path, Some(uid), Some(gid)).unwrap();
            scene = scene.word(name, text(&path));
        }
        std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        scene.keep(place);
    }
    scene.word("home", home(caller))
}

/// The home folder of the account itself, not the world's.
fn home(caller: Caller) -> &'static str {
    static HOMES: std::sync::Mutex<Vec<(u32, &'static str)>> = std::sync::Mutex::new(Vec::new());
    let uid = caller.ids().0;
    let mut homes = HOMES.lock().unwrap();
    if let Some((_, home)) = homes.iter().find(|(known, _)| *known == uid) {
        return home;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let fields: Vec<&str> = users
        .lines()
        .map(|line| line.split(':').collect())
        .find(|f: &Vec<&str>| f.get(2) == Some(&uid.to_string().as_str()))
        .unwrap();
    let home: &'static str = fields.get(5).unwrap().to_string().leak();
    homes.push((uid, home));
    home
}

/// Where the file system of a path is mounted.
fn mount_point(path: &std::path::Path) -> String {
    use std::os::unix::fs::MetadataExt as _;
    let device = path.metadata().unwrap().dev();
    let same = |above: &&std::path::Path| above.metadata().is_ok_and(|facts| facts.dev() == device);
    text(path.ancestors().take_while(same).last().unwrap())
}

#[test]
fn files_of_the_host_are_out_of_reach() {
    prove("host_files", CASES, stage);
}
