//! The entry script's code: what comes with it, and what stays hidden.

use super::super::{PlanError, Topic};
use super::{World, lines, ro};

fn node() -> World {
    World::new()
        .program("/usr/bin/node")
        .program("/usr/bin/python3")
        .file("/home/u/.ssh/id_ed25519", "PRIVATE KEY")
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn what_comes_with_a_script() {
    let rows: Vec<(&str, World, &str, &str, &[&str])> = vec![
        (
            "an installed package: its node_modules and nothing above",
            node().file("/srv/app/node_modules/pkg/dist/index.js", "").file("/srv/app/package.json", "{}"),
            "node /srv/app/node_modules/pkg/dist/index.js",
            "/srv/app/node_modules/pkg/dist/index.js",
            &["ro /srv/app/node_modules"],
        ),
        (
            "a nested node_modules: the top-most",
            node().file("/srv/app/node_modules/a/node_modules/b/i.js", ""),
            "node /srv/app/node_modules/a/node_modules/b/i.js",
            "/srv/app/node_modules/a/node_modules/b/i.js",
            &["ro /srv/app/node_modules"],
        ),
        (
            "a project",
            node()
                .file("/srv/app/dist/server.js", "")
                .file("/srv/app/package.json", "{}")
                .file("/srv/other/x", ""),
            "node /srv/app/dist/server.js",
            "/srv/app/dist/server.js",
            &["ro /srv/app"],
        ),
        (
            "a project in the home, by a relative path",
            node()
                .file("/home/u/app/server.js", "")
                .file("/home/u/app/package.json", "{}")
                .cwd("/home/u/app"),
            "node ./server.js",
            "/home/u/app/server.js",
            &["ro /home/u/app"],
        ),
        (
            "the folder itself",
            node().file("/home/u/app/index.js", "").file("/home/u/app/package.json", "{}").cwd("/home/u/app"),
            "node .",
            "/home/u/app",
            &["ro /home/u/app"],
        ),
        (
            "without its ending",
            node().file("/srv/app/server.js", "").file("/srv/app/package.json", "{}").cwd("/srv/app"),
            "node server",
            "/srv/app/server",
            &["ro /srv/app"],
        ),
        (
            "a way up and down",
            node()
                .file("/srv/app/server.js", "")
                .file("/srv/app/package.json", "{}")
                .dir("/srv/x")
                .cwd("/srv/x"),
            "node ../app/server.js",
            "/srv/app/server.js",
            &["ro /srv/app"],
        ),
        (
            "a package.json in the home opens nothing",
            node()
                .file("/home/u/server.js", "")
                .file("/home/u/package.json", "{}")
                .file("/home/u/node_modules/a/i.js", ""),
            "node /home/u/server.js",
            "/home/u/server.js",
            &["ro /home/u/node_modules", "ro /home/u/server.js"],
        ),
        (
            "nor one in ~/.config or ~/Documents",
            node().file("/home/u/.config/x/s.js", "").file("/home/u/.config/package.json", "{}"),
            "node /home/u/.config/x/s.js",
            "/home/u/.config/x/s.js",
            &["ro /home/u/.config/x/s.js"],
        ),
        (
            "nor one in /tmp",
            node().file("/tmp/x/s.js", "").file("/tmp/package.json", "{}"),
            "node /tmp/x/s.js",
            "/tmp/x/s.js",
            &["ro /tmp/x/s.js"],
        ),
        (
            "a script alone",
            node().file("/srv/server.js", "").file("/srv/other.js", ""),
            "node /srv/server.js",
            "/srv/server.js",
            &["ro /srv/server.js"],
        ),
        (
            "a package of a workspace, with the packages beside it",
            node()
                .file("/srv/mono/packages/a/dist/s.js", "")
                .file("/srv/mono/packages/a/package.json", "{}")
                .file("/srv/mono/package.json", r#"{"workspaces":["packages/*"]}"#),
            "node /srv/mono/packages/a/dist/s.js",
            "/srv/mono/packages/a/dist/s.js",
            &["ro /srv/mono"],
        ),
        (
            "packages installed in a folder above",
            node()
                .file("/srv/up/app/s.js", "")
                .file("/srv/up/app/package.json", "{}")
                .file("/srv/up/node_modules/x/i.js", ""),
            "node /srv/up/app/s.js",
            "/srv/up/app/s.js",
            &["ro /srv/up/app", "ro /srv/up/node_modules"],
        ),
        (
            "behind a link",
            node().file("/srv/v2/s.js", "").file("/srv/v2/package.json", "{}").link("/srv/current", "v2"),
            "node /srv/current/s.js",
            "/srv/current/s.js",
            &["/srv/current -> v2", "ro /srv/v2"],
        ),
        (
            "Python alone",
            node().file("/srv/s.py", "").file("/srv/t.py", ""),
            "python3 -u /srv/s.py",
            "/srv/s.py",
            &["ro /srv/s.py"],
        ),
        (
            "a Python package",
            node().file("/srv/p/s.py", "").file("/srv/p/__init__.py", ""),
            "python3 /srv/p/s.py",
            "/srv/p/s.py",
            &["ro /srv/p"],
        ),
        (
            "a Python project",
            node().file("/srv/p/src/s.py", "").file("/srv/p/pyproject.toml", ""),
            "python3 /srv/p/src/s.py",
            "/srv/p/src/s.py",
            &["ro /srv/p"],
        ),
    ];
    for (name, world, command, script, entries) in rows {
        let plan = world.plan(command).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(plan.argv.contains(&script.to_owned()), "{name}: {:?}", plan.argv);
        assert_eq!(lines(&plan.entries), entries, "{name}");
        assert!(plan.notes.iter().any(|note| note.topic == Topic::Code), "{name}");
    }
}

#[test]
fn programs_by_their_path() {
    let world = node()
        .script("/srv/app/bin/srv", "#!/usr/bin/env node\n")
        .file("/srv/app/package.json", "{}")
        .program("/srv/rust/target/release/srv")
        .file("/srv/rust/Cargo.toml", "")
        .file("/srv/py/pyproject.toml", "")
        .file("/srv/py/.venv/pyvenv.cfg", "home = /usr/bin\n")
        .link("/srv/py/.venv/bin/python", "/usr/bin/python3")
        .script("/srv/py/.venv/bin/srv", "#!/srv/py/.venv/bin/python\n")
        .cwd("/srv/app");
    let rows: [(&str, &str, &[&str]); 4] = [
        ("bin/srv", "/srv/app/bin/srv", &["ro /srv/app"]),
        (
            "/srv/rust/target/release/srv",
            "/srv/rust/target/release/srv",
            &["ro /srv/rust/target/release/srv"],
        ),
        ("/srv/py/.venv/bin/srv", "/srv/py/.venv/bin/srv", &["ro /srv/py"]),
        ("/srv/py/.venv/bin/python -m srv", "/srv/py/.venv/bin/python", &["ro /srv/py"]),
    ];
    for (command, exec, entries) in rows {
        let plan = world.plan(command).unwrap();
        assert_eq!(plan.argv[0], exec);
        assert_eq!(lines(&plan.entries), entries, "{command}");
    }
    assert!(matches!(world.plan("./missing"), Err(PlanError::Missing { .. })));
    assert!(matches!(world.plan("/srv/app/package.json"), Err(PlanError::NotExecutable { .. })));
}

#[test]
fn keys_and_history_stay_hidden() {
    let world = node()
        .file("/srv/app/package.json", "{}")
        .file("/srv/app/server.js", "")
        .file("/srv/app/.env", "KEY=1")
        .file("/srv/app/.env.production", "KEY=1")
        .file("/srv/app/.environment", "")
        .file("/srv/app/.git/config", "")
        .file("/srv/app/.npmrc", "")
        .file("/srv/app/tls/host.pem", "-----BEGIN RSA PRIVATE KEY-----")
        .file("/srv/app/tls/root.pem", "-----BEGIN CERTIFICATE-----")
        .file("/srv/app/tls/host.key", "")
        .file("/srv/app/packages/b/.env", "")
        .file("/srv/app/real.txt", "KEY=2")
        .link("/srv/app/packages/.env.local", "../real.txt")
        .link("/srv/app/packages/id_rsa", "/home/u/.ssh/id_ed25519")
        .file("/srv/app/node_modules/x/.env", "")
        .socket("/srv/app/dev.sock");
    let plan = world.plan("node /srv/app/server.js").unwrap();
    assert_eq!(
        lines(&plan.entries),
        [
            "ro /srv/app -.env -.env.production -.git -.npmrc -dev.sock -packages/b/.env -real.txt -tls/host.key -tls/host.pem"
        ]
    );
    let hidden = plan.notes.iter().find(|note| note.topic == Topic::Hidden).unwrap();
    assert!(hidden.to_string().starts_with("hidden: .env, .env.production, .git"), "{hidden}");
    let code = plan.notes.iter().find(|note| note.topic == Topic::Code).unwrap();
    assert_eq!(code.to_string(), "code: /srv/app (read-only, for /srv/app/server.js)");
    // A virtual environment may be called `.env`; a script below a hidden folder comes alone.
    let world =
        node().file("/srv/p/pyproject.toml", "").file("/srv/p/s.py", "").file("/srv/p/.env/pyvenv.cfg", "");
    assert_eq!(lines(&world.plan("python3 /srv/p/s.py").unwrap().entries), ["ro /srv/p"]);
    let world = world.file("/srv/p/.git/hooks/x.py", "");
    assert_eq!(
        lines(&world.plan("python3 /srv/p/.git/hooks/x.py").unwrap().entries),
        ["ro /srv/p/.git/hooks/x.py"]
    );
}

#[test]
fn a_declared_mount_is_enough() {
    let world =
        node().file("/srv/app/s.js", "").file("/srv/app/package.json", "{}").file("/srv/app/.env", "");
    let plan = world.plan_with("node /srv/app/s.js", &[ro("/srv/app")]).unwrap();
    assert_eq!(lines(&plan.entries), ["ro /srv/app"]);
}

#[test]
fn the_working_folder_is_kept_where_it_is_visible() {
    let world = node()
        .file("/srv/app/s.js", "")
        .file("/srv/app/package.json", "{}")
        .dir("/srv/app/sub")
        .cwd("/srv/app/sub");
    assert_eq!(world.plan("node ../s.js").unwrap().cwd.to_str(), Some("/srv/app/sub"));
    assert_eq!(world.plan("node").unwrap().cwd.to_str(), Some("/workspace"));
}

#[test]
fn folders_that_hold_more_than_code_and_own_folders_are_refused() {
    let world = node().file("/home/u/index.js", "").file("/home/u/.config/fumehood/x.js", "");
    assert!(matches!(world.plan("node /home/u"), Err(PlanError::TooWide { .. })));
    assert!(matches!(world.plan("node /home/u/.config/fumehood/x.js"), Err(PlanError::Own { .. })));
}

#[test]
fn what_will_be_missed_is_said() {
    let world = node().file("/home/u/app/srv/__main__.py", "").cwd("/home/u/app");
    let plan = world.plan("python3 -m srv").unwrap();
    let missing: Vec<String> = plan.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        missing,
        ["missing: the module `srv` of /home/u/app, which is not visible; `--mount /home/u/app` shows it"]
    );
    let plan = world.plan("node ./gone.js").unwrap();
    assert_eq!(plan.notes[0].to_string(), "missing: /home/u/app/./gone.js does not exist");
}

#[test]
fn a_tree_that_others_cannot_read_maps_its_owner() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use jail::spec::Entry;

    let world = node().file("/srv/app/sub/s.js", "").file("/srv/app/package.json", "{}");
    for path in ["/srv/app", "/srv/app/sub"] {
        set_permissions(world.outside(path), Permissions::from_mode(0o755)).unwrap();
    }
    let mapped = |file: u32, folder: u32| {
        set_permissions(world.outside("/srv/app/sub/s.js"), Permissions::from_mode(file)).unwrap();
        set_permissions(world.outside("/srv/app/sub"), Permissions::from_mode(folder)).unwrap();
        let plan = world.plan("node /srv/app/sub/s.js").unwrap();
        matches!(plan.entries.as_slice(), [Entry::Bind { map_owner: true, write: false, .. }])
    };
    assert!(!mapped(0o644, 0o755));
    assert!(mapped(0o600, 0o755));
    assert!(mapped(0o644, 0o700));
}
