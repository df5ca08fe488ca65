//! One row per layout: what lies where, what is asked for, what becomes visible.

use super::super::PlanError;
use super::{World, lines};

struct Row {
    name: &'static str,
    world: World,
    command: &'static str,
    exec: &'static str,
    entries: &'static [&'static str],
    path: &'static str,
}

const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

fn check(rows: Vec<Row>) {
    for row in rows {
        let plan = row.world.plan(row.command).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        assert_eq!(plan.argv[0], row.exec, "{}", row.name);
        assert_eq!(lines(&plan.entries), row.entries, "{}", row.name);
        let mut dirs: Vec<&str> = Vec::new();
        for dir in row.path.split(':').chain(SYSTEM.split(':')).filter(|dir| !dir.is_empty()) {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        assert_eq!(plan.path_env, dirs.join(":"), "{}", row.name);
    }
}

fn node_tree(world: World, tree: &str) -> World {
    world
        .program(&format!("{tree}/bin/node"))
        .script(&format!("{tree}/lib/node_modules/npm/bin/npx-cli.js"), "#!/usr/bin/env node\n")
        .link(&format!("{tree}/bin/npx"), "../lib/node_modules/npm/bin/npx-cli.js")
}

fn python_tree(world: World, tree: &str, version: &str) -> World {
    world
        .program(&format!("{tree}/bin/python{version}"))
        .link(&format!("{tree}/bin/python3"), &format!("python{version}"))
        .file(&format!("{tree}/lib/python{version}/os.py"), "")
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn node_layouts() {
    check(vec![
        Row {
            name: "the system's",
            world: World::new().program("/usr/bin/node"),
            command: "node",
            exec: "/usr/bin/node",
            entries: &[],
            path: "",
        },
        Row {
            name: "nvm",
            world: node_tree(World::new(), "/home/u/.nvm/versions/node/v22.1.0")
                .path(&["/home/u/.nvm/versions/node/v22.1.0/bin", "/usr/bin"]),
            command: "npx",
            exec: "/home/u/.nvm/versions/node/v22.1.0/bin/npx",
            entries: &["ro /home/u/.nvm/versions/node/v22.1.0"],
            path: "/home/u/.nvm/versions/node/v22.1.0/bin:/usr/bin",
        },
        Row {
            name: "nvm behind a link, by its path, not on PATH",
            world: node_tree(World::new(), "/data/nvm/versions/node/v22.1.0")
                .link("/home/u/.nvm", "/data/nvm"),
            command: "/home/u/.nvm/versions/node/v22.1.0/bin/npx",
            exec: "/data/nvm/versions/node/v22.1.0/bin/npx",
            entries: &["/home/u/.nvm -> /data/nvm", "ro /data/nvm/versions/node/v22.1.0"],
            path: "/usr/local/bin:/usr/bin:/bin:/data/nvm/versions/node/v22.1.0/bin",
        },
        Row {
            name: "fnm's link per shell",
            world: node_tree(World::new(), "/home/u/.local/share/fnm/node-versions/v22.1.0/installation")
                .link(
                    "/run/user/1000/fnm_multishells/9_1",
                    "/home/u/.local/share/fnm/node-versions/v22.1.0/installation",
                )
                .path(&["/run/user/1000/fnm_multishells/9_1/bin"]),
            command: "node",
            exec: "/home/u/.local/share/fnm/node-versions/v22.1.0/installation/bin/node",
            entries: &["ro /home/u/.local/share/fnm/node-versions/v22.1.0/installation"],
            path: "/home/u/.local/share/fnm/node-versions/v22.1.0/installation/bin",
        },
        Row {
            name: "unpacked anywhere",
            world: node_tree(World::new(), "/srv/node-v22").path(&["/srv/node-v22/bin"]),
            command: "node",
            exec: "/srv/node-v22/bin/node",
            entries: &["ro /srv/node-v22"],
            path: "/srv/node-v22/bin",
        },
        Row {
            name: "unpacked into ~/.local: not the rest of it",
            world: node_tree(World::new(), "/home/u/.local").path(&["/home/u/.local/bin"]),
            command: "node",
            exec: "/home/u/.local/bin/node",
            entries: &["ro /home/u/.local/bin/node", "ro /home/u/.local/lib/node_modules"],
            path: "/home/u/.local/bin",
        },
        Row {
            name: "a package of npm's own prefix",
            world: World::new()
                .program("/usr/bin/node")
                .script("/home/u/.npm-global/lib/node_modules/srv/index.js", "#!/usr/bin/env node\n")
                .link("/home/u/.npm-global/bin/srv", "../lib/node_modules/srv/index.js")
                .path(&["/home/u/.npm-global/bin", "/usr/bin"]),
            command: "srv",
            exec: "/home/u/.npm-global/bin/srv",
            entries: &[
                "/home/u/.npm-global/bin/srv -> ../lib/node_modules/srv/index.js",
                "ro /home/u/.npm-global/lib/node_modules",
            ],
            path: "/home/u/.npm-global/bin:/usr/bin",
        },
        Row {
            name: "a project's node_modules/.bin, by its path",
            world: World::new()
                .program("/usr/bin/node")
                .script("/srv/app/node_modules/pkg/dist/index.js", "#!/usr/bin/env node\n")
                .link("/srv/app/node_modules/.bin/pkg", "../pkg/dist/index.js")
                .file("/srv/app/.env", "KEY=1"),
            command: "/srv/app/node_modules/.bin/pkg",
            exec: "/srv/app/node_modules/.bin/pkg",
            entries: &["ro /srv/app/node_modules"],
            path: "",
        },
        Row {
            name: "pnpm's own folder",
            world: World::new()
                .script("/home/u/.local/share/pnpm/srv", "#!/bin/sh\n")
                .file("/home/u/.local/share/pnpm/global/5/node_modules/srv/index.js", "")
                .path(&["/home/u/.local/share/pnpm", "/usr/bin"]),
            command: "srv",
            exec: "/home/u/.local/share/pnpm/srv",
            entries: &["ro /home/u/.local/share/pnpm/global", "ro /home/u/.local/share/pnpm/srv"],
            path: "/home/u/.local/share/pnpm:/usr/bin",
        },
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn python_layouts() {
    check(vec![
        Row {
            name: "uv's python behind two links",
            world: python_tree(
                World::new(),
                "/home/u/.local/share/uv/python/cpython-3.12.1-linux-x86_64-gnu",
                "3.12",
            )
            .link(
                "/home/u/.local/share/uv/python/cpython-3.12-linux-x86_64-gnu",
                "cpython-3.12.1-linux-x86_64-gnu",
            )
            .link(
                "/home/u/.local/bin/python3.12",
                "/home/u/.local/share/uv/python/cpython-3.12-linux-x86_64-gnu/bin/python3.12",
            )
            .path(&["/home/u/.local/bin"]),
            command: "python3.12",
            exec: "/home/u/.local/bin/python3.12",
            entries: &[
                "/home/u/.local/bin/python3.12 -> /home/u/.local/share/uv/python/cpython-3.12-linux-x86_64-gnu/bin/python3.12",
                "/home/u/.local/share/uv/python/cpython-3.12-linux-x86_64-gnu -> cpython-3.12.1-linux-x86_64-gnu",
                "ro /home/u/.local/share/uv/python/cpython-3.12.1-linux-x86_64-gnu",
            ],
            path: "/home/u/.local/bin",
        },
        Row {
            name: "a uv tool on uv's python",
            world: python_tree(World::new(), "/home/u/.local/share/uv/python/cpython-3.12.1", "3.12")
                .file(
                    "/home/u/.local/share/uv/tools/srv/pyvenv.cfg",
                    "home = /home/u/.local/share/uv/python/cpython-3.12.1/bin\nversion_info = 3.12.1\n",
                )
                .link(
                    "/home/u/.local/share/uv/tools/srv/bin/python",
                    "/home/u/.local/share/uv/python/cpython-3.12.1/bin/python3.12",
                )
                .script(
                    "/home/u/.local/share/uv/tools/srv/bin/srv",
                    "#!/home/u/.local/share/uv/tools/srv/bin/python\n",
                )
                .link("/home/u/.local/bin/srv", "/home/u/.local/share/uv/tools/srv/bin/srv")
                .path(&["/home/u/.local/bin", "/usr/bin"]),
            command: "srv",
            exec: "/home/u/.local/bin/srv",
            entries: &[
                "/home/u/.local/bin/srv -> /home/u/.local/share/uv/tools/srv/bin/srv",
                "ro /home/u/.local/share/uv/python/cpython-3.12.1",
                "ro /home/u/.local/share/uv/tools/srv",
            ],
            path: "/home/u/.local/bin:/usr/bin",
        },
        Row {
            name: "pipx on the system's python",
            world: python_tree(World::new(), "/usr", "3.11")
                .file("/home/u/.local/share/pipx/venvs/srv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
                .link("/home/u/.local/share/pipx/venvs/srv/bin/python", "/usr/bin/python3.11")
                .script(
                    "/home/u/.local/share/pipx/venvs/srv/bin/srv",
                    "#!/home/u/.local/share/pipx/venvs/srv/bin/python\n",
                )
                .link("/home/u/.local/bin/srv", "../share/pipx/venvs/srv/bin/srv")
                .path(&["/home/u/.local/bin", "/usr/bin"]),
            command: "srv",
            exec: "/home/u/.local/bin/srv",
            entries: &[
                "/home/u/.local/bin/srv -> ../share/pipx/venvs/srv/bin/srv",
                "ro /home/u/.local/share/pipx/venvs/srv",
            ],
            path: "/home/u/.local/bin:/usr/bin",
        },
        Row {
            name: "a copied virtual environment: its base by `home` alone",
            world: python_tree(World::new(), "/home/u/pythons/3.12", "3.12")
                .file("/home/u/envs/a/pyvenv.cfg", "home = /home/u/pythons/3.12/bin\nversion = 3.12.0\n")
                .program("/home/u/envs/a/bin/python"),
            command: "/home/u/envs/a/bin/python",
            exec: "/home/u/envs/a/bin/python",
            entries: &["ro /home/u/envs/a", "ro /home/u/pythons/3.12"],
            path: "",
        },
        Row {
            name: "conda",
            world: World::new()
                .program("/home/u/miniforge3/bin/python3")
                .dir("/home/u/miniforge3/conda-meta")
                .path(&["/home/u/miniforge3/bin"]),
            command: "python3",
            exec: "/home/u/miniforge3/bin/python3",
            entries: &["ro /home/u/miniforge3"],
            path: "/home/u/miniforge3/bin",
        },
    ]);
}

#[test]
fn other_layouts() {
    check(vec![
        Row {
            name: "Homebrew, without its services' data",
            world: World::new()
                .program("/home/linuxbrew/.linuxbrew/Cellar/node/22/bin/node")
                .link("/home/linuxbrew/.linuxbrew/bin/node", "../Cellar/node/22/bin/node")
                .dir("/home/linuxbrew/.linuxbrew/var/postgres")
                .path(&["/home/linuxbrew/.linuxbrew/bin"]),
            command: "node",
            exec: "/home/linuxbrew/.linuxbrew/bin/node",
            entries: &["ro /home/linuxbrew/.linuxbrew -var"],
            path: "/home/linuxbrew/.linuxbrew/bin",
        },
        Row {
            name: "cargo install",
            world: World::new()
                .program("/home/u/.cargo/bin/srv")
                .file("/home/u/.cargo/credentials.toml", "")
                .path(&["/home/u/.cargo/bin"]),
            command: "srv",
            exec: "/home/u/.cargo/bin/srv",
            entries: &["ro /home/u/.cargo/bin/srv"],
            path: "/home/u/.cargo/bin",
        },
        Row {
            name: "deno install: the deno beside it too",
            world: World::new()
                .program("/home/u/.deno/bin/deno")
                .script("/home/u/.deno/bin/srv", "#!/bin/sh\n")
                .path(&["/home/u/.deno/bin"]),
            command: "srv",
            exec: "/home/u/.deno/bin/srv",
            entries: &["ro /home/u/.deno/bin/deno", "ro /home/u/.deno/bin/srv"],
            path: "/home/u/.deno/bin",
        },
        Row {
            name: "a program that lies elsewhere, alone",
            world: World::new()
                .program("/home/u/.local/share/tool/versions/1.2")
                .link("/home/u/.local/bin/tool", "../share/tool/versions/1.2")
                .path(&["/home/u/.local/bin"]),
            command: "tool",
            exec: "/home/u/.local/bin/tool",
            entries: &[
                "/home/u/.local/bin/tool -> ../share/tool/versions/1.2",
                "ro /home/u/.local/share/tool/versions/1.2",
            ],
            path: "/home/u/.local/bin",
        },
        Row {
            name: "a package below /opt",
            world: World::new().program("/opt/acme/bin/srv").link("/usr/local/bin/srv", "/opt/acme/bin/srv"),
            command: "srv",
            exec: "/usr/local/bin/srv",
            entries: &["ro /opt/acme"],
            path: "",
        },
        Row {
            name: "Nix",
            world: World::new()
                .program("/nix/store/abc-srv/bin/srv")
                .link("/home/u/.nix-profile", "/nix/store/def-profile")
                .link("/nix/store/def-profile/bin/srv", "/nix/store/abc-srv/bin/srv")
                .path(&["/home/u/.nix-profile/bin"]),
            command: "srv",
            exec: "/nix/store/def-profile/bin/srv",
            entries: &["/home/u/.nix-profile -> /nix/store/def-profile", "ro /nix/store"],
            path: "/nix/store/def-profile/bin",
        },
    ]);
}

#[test]
fn both_usual_runtimes_come_along() {
    let world = python_tree(node_tree(World::new(), "/srv/node"), "/srv/python", "3.12").path(&[
        "/srv/python/bin",
        "/usr/bin",
        "/srv/node/bin",
    ]);
    let plan = world.plan("sh").unwrap();
    assert_eq!(lines(&plan.entries), ["ro /srv/node", "ro /srv/python"]);
    assert_eq!(plan.path_env, "/srv/python/bin:/usr/bin:/srv/node/bin:/usr/local/bin:/bin");
}

#[test]
fn a_runtime_that_is_or_holds_a_home_is_refused() {
    for tree in ["/home/u", "/home", "/home/u/.config/fumehood"] {
        let world = World::new().program(&format!("{tree}/bin/srv")).dir(&format!("{tree}/conda-meta"));
        let error = world.plan(&format!("{tree}/bin/srv")).unwrap_err();
        assert!(matches!(error, PlanError::TooWide { .. } | PlanError::Own { .. }), "{tree}: {error}");
    }
    let error = World::new().program("/snap/bin/node").path(&["/snap/bin"]).plan("node").unwrap_err();
    assert!(matches!(error, PlanError::Snap { .. }), "{error}");
}

#[test]
fn interpreters_of_scripts_are_followed_and_refused_when_missing() {
    let world = node_tree(World::new(), "/home/u/.nvm/versions/node/v22.1.0")
        .script("/home/u/.local/bin/srv", "#!/usr/bin/env -S node --no-warnings\n")
        .path(&["/home/u/.local/bin", "/home/u/.nvm/versions/node/v22.1.0/bin"]);
    let plan = world.plan("srv").unwrap();
    assert_eq!(lines(&plan.entries), ["ro /home/u/.local/bin/srv", "ro /home/u/.nvm/versions/node/v22.1.0"]);

    let world =
        World::new().script("/home/u/.local/bin/srv", "#!/usr/bin/env ruby\n").path(&["/home/u/.local/bin"]);
    let error = world.plan("srv").unwrap_err();
    assert!(
        error.to_string().starts_with("`/home/u/.local/bin/srv` wants the interpreter `ruby`"),
        "{error}"
    );

    let world = World::new().script("/srv/a", "#!/srv/b\n").script("/srv/b", "#!/srv/a\n");
    let mut error = &world.plan("/srv/a").unwrap_err();
    while let PlanError::Interpreter { cause, .. } = error {
        error = cause;
    }
    assert!(matches!(error, PlanError::Endless { .. }), "{error}");
}
