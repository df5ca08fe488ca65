//! Declared mounts: what each refusal says, and what a writable one keeps read-only.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use model::mount::Mount;

use super::super::{MountError, PlanError};
use super::{World, lines, ro, rw};

fn refusal(world: &World, mount: &Mount) -> MountError {
    match world.plan_with("sh", std::slice::from_ref(mount)) {
        Err(PlanError::Mount(error)) => error,
        other => panic!("{}: {other:?}", mount.path.display()),
    }
}

#[test]
fn forbidden_places_are_named() {
    let world = World::new()
        .dir("/run/user/1000")
        .link("/var/run", "/run")
        .dir("/proc/1")
        .dir("/sys/kernel")
        .dir("/dev/shm")
        .dir("/boot")
        .dir("/var/lib/docker/overlay2")
        .dir("/home/u/.local/share/containers/storage")
        .dir("/home/u/.config/fumehood/keys")
        .dir("/usr/sbin")
        .link("/srv/here", "/home/u");
    let rows = [
        ("/", "is the root of the host's file system"),
        ("/home/u", "is a home folder (`/home/u`)"),
        ("/home/u/../u/", "is a home folder (`/home/u`)"),
        ("/srv/here", "is a home folder (`/home/u`)"),
        ("/home", "contains a folder of Fumehood's own (`/home/u/.config/fumehood`)"),
        ("/usr/sbin", "is a home folder (`/usr/sbin`)"),
        ("/usr", "contains a home folder (`/usr/sbin`)"),
        ("/root", "is a home folder (`/root`)"),
        ("/run", "is the run-time state of the host's daemons (`/run`)"),
        ("/var/run", "is the run-time state of the host's daemons (`/run`)"),
        ("/run/user/1000", "lies in the run-time state of the host's daemons (`/run`)"),
        ("/proc/1", "lies in a folder of the kernel (`/proc`)"),
        ("/sys", "is a folder of the kernel (`/sys`)"),
        ("/dev/shm", "lies in a folder of the kernel (`/dev`)"),
        ("/boot", "is a folder of the kernel (`/boot`)"),
        ("/etc", "is the host's configuration (`/etc`)"),
        ("/var/lib/docker/overlay2", "lies in a container engine's folder (`/var/lib/docker`)"),
        ("/var/lib", "contains a container engine's folder (`/var/lib/docker`)"),
        (
            "/home/u/.local/share/containers",
            "is a container engine's folder (`/home/u/.local/share/containers`)",
        ),
        ("/home/u/.local", "contains a container engine's folder (`/home/u/.local/share/docker`)"),
        ("/home/u/.config/fumehood", "is a folder of Fumehood's own (`/home/u/.config/fumehood`)"),
        ("/home/u/.config/fumehood/keys", "lies in a folder of Fumehood's own (`/home/u/.config/fumehood`)"),
        ("/home/u/.config", "contains a folder of Fumehood's own (`/home/u/.config/fumehood`)"),
    ];
    for (path, rule) in rows {
        let error = refusal(&world, &ro(path));
        let text = error.to_string();
        assert!(
            text.starts_with("mount `") && text.ends_with(&format!("` is refused: it {rule}")),
            "{path}: {text}"
        );
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn what_is_not_there_or_no_folder_is_refused() {
    let world = World::new().socket("/srv/a.sock");
    assert!(matches!(refusal(&world, &ro("/srv/none")), MountError::Missing { .. }));
    assert!(matches!(refusal(&world, &ro("srv")), MountError::Relative { .. }));
    assert!(matches!(refusal(&world, &ro("/srv/a.sock")), MountError::Special { .. }));
    let world = World::new().dir("/srv/a");
    let twice = world.plan_with("sh", &[ro("/srv/a"), rw("/srv/a/")]);
    assert!(matches!(twice, Err(PlanError::Mount(MountError::Twice { .. }))));
}

#[test]
fn a_socket_anywhere_in_the_tree_refuses_the_mount() {
    let world = World::new().socket("/srv/a/deep/down/.hidden/s").file("/srv/b/x", "");
    let error = refusal(&world, &ro("/srv/a"));
    assert_eq!(
        error.to_string(),
        "mount `/srv/a` is refused: it holds the Unix socket `/srv/a/deep/down/.hidden/s`"
    );
    assert!(matches!(refusal(&world, &rw("/srv")), MountError::Socket { .. }));
    // A link out of the tree is harmless: it leads nowhere inside.
    let world = world.link("/srv/b/out", "/srv/a");
    assert_eq!(lines(&world.plan_with("sh", &[ro("/srv/b")]).unwrap().entries), ["ro /srv/b"]);
}

#[test]
fn a_folder_that_could_be_opened_later_refuses_the_mount() {
    if rustix::process::geteuid().is_root() {
        // Root lists everything: there is no such folder.
        return;
    }
    let world = World::new().dir("/srv/a/closed");
    let closed = world.outside("/srv/a/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let error = refusal(&world, &ro("/srv/a"));
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(error, MountError::Unreadable { .. }), "{error}");
}

#[test]
fn a_writable_mount_guards_what_programs_trust_wherever_it_lies() {
    let world = World::new()
        .file("/srv/p/.git/hooks/x", "")
        .file("/srv/p/.git/modules/.git/x", "")
        .file("/srv/p/.envrc", "")
        .file("/srv/p/fumehood.toml", "")
        .file("/srv/p/fumehood.lock", "")
        .file("/srv/p/sub/.git", "gitdir: elsewhere")
        .file("/srv/p/sub/.claude/settings.json", "")
        .file("/srv/p/sub/.GIT/config", "")
        .file("/srv/p/src/main.rs", "");
    let plan = world.plan_with("sh", &[rw("/srv/p")]).unwrap();
    assert_eq!(
        lines(&plan.entries),
        ["rw /srv/p (.envrc) (.git) (fumehood.lock) (fumehood.toml) (sub/.GIT) (sub/.claude) (sub/.git)"]
    );
    assert_eq!(plan.notes[0].to_string(), "mount: /srv/p (writable but for 7 guarded entries)");
    let plan = world.plan_with("sh", &[ro("/srv/p")]).unwrap();
    assert_eq!(lines(&plan.entries), ["ro /srv/p"]);
}

#[test]
fn a_guarded_name_that_cannot_be_kept_refuses_a_writable_mount() {
    let world =
        World::new().dir("/srv/real").link("/srv/p/sub/.claude", "/srv/real").dir("/srv/q/.git/hooks");
    let error = refusal(&world, &rw("/srv/p"));
    assert!(
        matches!(&error, MountError::GuardedLink { link, .. } if link.ends_with("sub/.claude")),
        "{error}"
    );
    assert!(world.plan_with("sh", &[ro("/srv/p")]).is_ok());
    assert!(matches!(refusal(&world, &rw("/srv/q/.git")), MountError::Guarded { .. }));
    assert!(matches!(refusal(&world, &rw("/srv/q/.git/hooks")), MountError::Guarded { .. }));
    assert!(world.plan_with("sh", &[ro("/srv/q/.git")]).is_ok());
}

#[test]
fn nested_and_linked_mounts_come_in_order() {
    let world = World::new()
        .dir("/srv/a/b/c")
        .file("/srv/a/f.txt", "")
        .link("/home/u/work", "/srv/a")
        .dir("/home/u/in");
    let mounts = [rw("/srv/a/b/c"), ro("/home/u/work"), ro("/srv/a/b"), ro("/home/u/in"), ro("/srv/a/f.txt")];
    let plan = world.plan_with("sh", &mounts).unwrap();
    assert_eq!(
        lines(&plan.entries),
        [
            "/home/u/work -> /srv/a",
            "ro /home/u/in",
            "ro /srv/a",
            "ro /srv/a/b",
            "rw /srv/a/b/c",
            "ro /srv/a/f.txt",
        ]
    );
    let notes: Vec<String> = plan.notes.iter().map(ToString::to_string).collect();
    assert!(notes.contains(&"mount: /home/u/work at /srv/a (read-only)".to_owned()), "{notes:?}");
}

/// With its guard off, in a process of its own, each refusal is gone.
#[cfg(feature = "guard-off")]
#[test]
fn each_refusal_hangs_on_its_guard() {
    for (guard, refused) in [("socket-scan", "socket"), ("mount-rules", "home"), ("guarded-names", "link")] {
        for (off, wanted) in [("", true), (guard, false)] {
            let child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "host::tests::mounts::one_refusal", "--ignored"])
                .env(crate::guard::VARIABLE, off)
                .env("REFUSED", refused)
                .output()
                .unwrap();
            assert_eq!(child.status.success(), wanted, "{guard} off: `{off}`");
        }
    }
}

#[cfg(feature = "guard-off")]
#[test]
#[ignore = "run by `each_refusal_hangs_on_its_guard`"]
fn one_refusal() {
    let world = World::new().socket("/srv/s/sock").dir("/srv/real").link("/srv/p/.claude", "/srv/real");
    let mount = match std::env::var("REFUSED").as_deref() {
        Ok("socket") => ro("/srv/s"),
        Ok("home") => ro("/root"),
        _ => rw("/srv/p"),
    };
    let command = ["sh".to_owned()];
    let plan = super::plan(&world.host, &command, &[mount], None);
    let plan = plan.and_then(|plan| Ok(plan.unsearched.iter().try_for_each(super::Unsearched::search)?));
    assert!(matches!(plan, Err(PlanError::Mount(_))), "{plan:?}");
}
