//! Declared folders of the host: what a tool may not do in them, and what cannot be declared.

use testkit::world::Caller;

use crate::scene::{SECRET, Scene, text};
use crate::table::Control::{None, Off};
use crate::table::{Case, case, each, findings, prove};

const NO_LINK: &str = "the kernel makes none between two mounts";
const INSIDE_ONLY: &str = "`/data` is a place inside only, so that without a root of its own it is not there; the mounts \
                           beside it have a control";
const READ_ONLY: &[i32] = &[libc::EROFS, libc::EACCES];
const GUARDED: &[i32] = &[libc::EROFS];
const BUSY: &[i32] = &[libc::EBUSY];

pub(crate) const CASES: &[Case] = &[
    case("a link out that was there", "read,{rw}/link-out,{secret}", &[libc::ENOENT], Off("root,landlock")),
    each(
        "a link out that it makes",
        "through-link,{rw}/made,{outside},{secret}",
        &[libc::ENOENT],
        Off("root,landlock,identity"),
        Off("root,landlock"),
    ),
    case(
        "a link out of its data",
        "through-link,/data/made,{outside},{secret}",
        &[libc::ENOENT],
        None(INSIDE_ONLY),
    ),
    case("a second name in its data", "link,{ro}/file,/data/second", &[libc::EXDEV], None(NO_LINK)),
    case(
        "moving its data away",
        "rename,/data,/moved",
        &[libc::EBUSY, libc::EROFS, libc::EXDEV, libc::EACCES],
        None(INSIDE_ONLY),
    ),
    case("the folder above", "read,{rw}/../outside,{secret}", &[libc::ENOENT], Off("root,landlock")),
    case("names above", "list,{rw}/..,outside", &[], Off("root,landlock")),
    case("writing where read-only", "write,{ro}/file", READ_ONLY, Off("read-only,landlock")),
    case("making where read-only", "create,{ro}/made", READ_ONLY, Off("read-only,landlock")),
    case("removing where read-only", "remove,{ro}/spare", READ_ONLY, Off("read-only,landlock")),
    case("a second name across mounts", "link,{ro}/file,{rw}/second", &[libc::EXDEV], None(NO_LINK)),
    case("writing in the root", "create,/planted", READ_ONLY, Off("read-only,landlock")),
    case("writing in /etc", "write,/etc/passwd", READ_ONLY, Off("read-only,landlock")),
    case("a hook in .git", "create,{rw}/.git/hooks/post-checkout", GUARDED, Off("guarded-names")),
    case("the config of .git", "write,{rw}/.git/config", GUARDED, Off("guarded-names")),
    case("a repository deeper down", "write,{rw}/sub/.git/config", GUARDED, Off("guarded-names")),
    case(".envrc", "write,{rw}/.envrc", GUARDED, Off("guarded-names")),
    case(".vscode", "write,{rw}/.vscode/settings.json", GUARDED, Off("guarded-names")),
    case(".mcp.json", "write,{rw}/.mcp.json", GUARDED, Off("guarded-names")),
    case(".claude", "write,{rw}/.claude/settings.json", GUARDED, Off("guarded-names")),
    case("fumehood.toml", "write,{rw}/fumehood.toml", GUARDED, Off("guarded-names")),
    case("fumehood.lock", "write,{rw}/fumehood.lock", GUARDED, Off("guarded-names")),
    case(
        "a second name of what is guarded",
        "link,{rw}/.git/config,{rw}/config",
        &[libc::EXDEV],
        Off("guarded-names"),
    ),
    case("another file in place of .envrc", "rename,{rw}/plain,{rw}/.envrc", BUSY, Off("guarded-names")),
    case("removing .mcp.json", "remove,{rw}/.mcp.json", BUSY, Off("guarded-names")),
    case("moving .git away", "rename,{rw}/.git,{rw}/moved", BUSY, Off("guarded-names")),
];

/// Of a host whose root made a device in a mount.
pub(crate) const DEVICES: &[Case] =
    &[case("a device", "read,{rw}/device", &[libc::EACCES], Off("mount-flags"))];

/// Those of the tests below.
pub(crate) const GUARDS: &[&str] = &["mount-rules,socket-scan,landlock", "guarded-names", "source-links"];

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    let scene = Scene::new(caller);
    let world = &scene.world;
    for folder in ["rw/.git/hooks", "rw/sub/.git", "rw/.vscode", "rw/.claude", "rw/other", "ro"] {
        world.make_folder(folder).unwrap();
    }
    for file in [
        "rw/.git/config",
        "rw/sub/.git/config",
        "rw/.vscode/settings.json",
        "rw/.claude/settings.json",
        "rw/.envrc",
        "rw/.mcp.json",
        "rw/fumehood.toml",
        "rw/fumehood.lock",
        "rw/plain",
        "ro/file",
        "ro/spare",
    ] {
        world.make_file(file, "as it was\n", 0o644).unwrap();
    }
    world.make_file("outside", SECRET, 0o644).unwrap();
    std::os::unix::fs::symlink(world.path("outside"), world.path("rw/link-out")).unwrap();
    scene
        .place("rw", "rw")
        .place("ro", "ro")
        .place("outside", "outside")
        .flags(["--mount", "{rw}:rw", "--mount", "{ro}", "--data", "theirs"])
}

#[test]
fn a_mount_is_no_way_out_and_what_others_trust_stays_as_it_was() {
    prove("mounts", CASES, stage);
}

fn with_device(caller: Caller, off: Option<&str>) -> Scene {
    let scene = stage(caller, off);
    let path = scene.world.path("rw/device");
    let (kind, mode) = (rustix::fs::FileType::CharacterDevice, rustix::fs::Mode::from_raw_mode(0o666));
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, rustix::fs::makedev(1, 5)).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    scene
}

#[test]
fn a_device_in_a_mount_does_not_open() {
    if rustix::process::geteuid().is_root() {
        prove("mounts", DEVICES, with_device);
    } else {
        testkit::world::skip("a device in a mount", "only root can make one");
    }
}

#[test]
fn new_files_that_others_trust_are_told() {
    for caller in Caller::all() {
        let scene = stage(caller, Option::None);
        let words = ["mounts=create,{rw}/other/.envrc", "again=plant-after-rename,{rw}/sub"]
            .map(|word| scene.filled(word));
        let words: Vec<String> = std::iter::once("mounts".to_owned()).chain(words).collect();
        let ran = scene.try_words(Option::None, &words);
        assert!(findings(&ran).values().all(|finding| finding.got_in), "{ran:?}");
        for path in ["other/.envrc", "sub/.git"] {
            let path = text(&scene.world.path("rw").join(path));
            assert!(ran.stderr.contains(&path), "{caller:?}: {path} is not told: {ran:?}");
        }
    }
}

/// Places that no mount may show, and something to be seen in each.
const REFUSED: &[(&str, &str)] = &[
    ("{run}", "list,/run"),
    ("{boot}", "list,/boot"),
    ("{state}", "list,{state},canary"),
    ("{state}/below", "list,{state}/below,canary"),
    ("{home-link}", "read,{home}/canary,{secret}"),
];

#[test]
fn places_that_no_mount_may_show() {
    for caller in Caller::all() {
        for (place, attack) in REFUSED {
            let scene = Scene::new(caller).place("state", "state/fumehood").place("home", "home");
            // By a link: what the command line itself refuses by its spelling never comes to the rules.
            let scene = scene
                .place("run", "link-to-run")
                .place("boot", "link-to-boot")
                .place("home-link", "link-to-home");
            for (link, target) in
                [("link-to-run", "/run"), ("link-to-boot", "/boot"), ("link-to-home", "home")]
            {
                std::os::unix::fs::symlink(target, scene.world.path(link)).unwrap();
            }

            scene.world.make_folder("state/fumehood/below").unwrap();
            for file in ["home/canary", "state/fumehood/canary", "state/fumehood/below/canary"] {
                scene.world.make_file(file, SECRET, 0o600).unwrap();
            }
            refused(&scene.flags(["--mount", place]), attack, "mount-rules,socket-scan,landlock");
        }
    }
}

#[test]
fn a_guarded_place_is_not_mounted_writable() {
    for caller in Caller::all() {
        let scene = Scene::new(caller).place("git", "project/.git");
        scene.world.make_folder("project/.git/hooks").unwrap();
        let scene = scene.flags(["--mount", "{git}:rw"]);
        refused(&scene, "create,{git}/hooks/post-checkout", "guarded-names");
        let scene = Scene::new(caller).place("project", "project");
        scene.world.make_folder("project").unwrap();
        std::os::unix::fs::symlink("elsewhere", scene.world.path("project/.envrc")).unwrap();
        let scene = scene.flags(["--mount", "{project}:rw"]);
        refused(&scene, "remove,{project}/.envrc", "guarded-names");
    }
}

#[test]
fn the_roots_of_the_host_are_no_mounts() {
    // Without a control: these are refused by their spelling, as what the command line cannot mean (2), or by the
    // rules (12); and a bind of `/` over the cell's root, or of `/etc` over its own, is what no spec can say.
    for caller in Caller::all() {
        for place in
            ["/", "/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/var/run/docker.sock", "{home}"]
        {
            let scene = Scene::new(caller).place("home", "home").flags(["--mount", place]);
            let ran = scene.try_words(Option::None, &["mounts".to_owned(), "x=list,/home".to_owned()]);
            assert!(matches!(ran.code, Some(2 | 12)) && ran.stdout.is_empty(), "{caller:?} {place}: {ran:?}");
        }
    }
}

/// The start is refused by policy, and without the guards the attack works.
fn refused(scene: &Scene, attack: &str, guards: &str) {
    let words = ["mounts".to_owned(), format!("x={}", scene.filled(attack))];
    let ran = scene.try_words(Option::None, &words);
    assert_eq!(ran.code, Some(12), "{words:?}: {ran:?}");
    let ran = scene.try_words(Some(guards), &words);
    let got_in = findings(&ran).get("x").is_some_and(|finding| finding.got_in);
    assert!(got_in, "{words:?}, without {guards}: {ran:?}");
}

/// How often a start is tried while the mount changes under it: a hit is likely in one of five.
const STARTS: usize = 60;

#[test]
fn a_mount_that_becomes_a_link_after_it_was_looked_at_leads_nowhere() {
    for caller in Caller::all() {
        let hits = |off: Option<&str>| {
            let scene = Scene::new(caller).place("sub", "project/sub").place("home", "home");
            scene.world.make_folder("project/sub").unwrap();
            scene.world.make_file("home/canary", SECRET, 0o644).unwrap();
            let scene = scene.flags(["--mount", "{sub}"]);
            let words = ["mounts".to_owned(), scene.filled("x=read,{sub}/canary,{secret}")];
            let swapping = Swapping::begin(&scene.world.path("project"), &scene.world.path("home"));
            let hit = (0..STARTS).find(|_| {
                let ran = scene.try_words(off, &words);
                findings(&ran).get("x").is_some_and(|finding| finding.got_in)
            });
            drop(swapping);
            hit
        };
        assert_eq!(hits(Option::None), Option::None, "{caller:?}");
        assert!(hits(Some("source-links")).is_some(), "{caller:?}: not hit once in {STARTS} starts");
    }
}

/// Makes `sub` of a folder by turns a folder and a link to a place that no mount may show, as another cell that may
/// write in the folder could.
struct Swapping {
    on: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Swapping {
    fn begin(folder: &std::path::Path, target: &std::path::Path) -> Self {
        let on = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let (goes_on, folder, target) = (on.clone(), folder.to_owned(), target.to_owned());
        std::os::unix::fs::symlink(target, folder.join("link")).unwrap();
        let thread = std::thread::spawn(move || {
            let (sub, link) = (folder.join("sub"), folder.join("link"));
            while goes_on.load(std::sync::atomic::Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &sub, rustix::fs::CWD, &link, exchange).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        });
        Self { on, thread: Some(thread) }
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        self.on.store(false, std::sync::atomic::Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
