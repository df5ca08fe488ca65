//! Version managers: which installed program a shim stands for, and what is said where it stands for none.

use super::super::PlanError;
use super::{World, lines};

const PYENV_SHIM: &str = "#!/usr/bin/env bash\nexec pyenv exec\n";

fn pyenv() -> World {
    let mut world = World::new().program("/usr/bin/python3").file("/home/u/.pyenv/version", "3.11.7\n");
    for name in ["python3", "python3.12", "pip"] {
        world = world.script(&format!("/home/u/.pyenv/shims/{name}"), PYENV_SHIM);
    }
    for version in ["3.11.7", "3.12.1", "3.12.10"] {
        world = world.program(&format!("/home/u/.pyenv/versions/{version}/bin/python3"));
    }
    world
        .program("/home/u/.pyenv/versions/3.12.10/bin/python3.12")
        .path(&["/home/u/.pyenv/shims", "/usr/bin"])
}

#[test]
fn pyenv_chooses_as_pyenv_does() {
    let rows: [(&str, World, &str, &str); 8] = [
        ("global", pyenv(), "python3", "3.11.7"),
        ("variable", pyenv().env("PYENV_VERSION", "3.12.1"), "python3", "3.12.1"),
        ("several", pyenv().env("PYENV_VERSION", "3.11.7:3.12.10"), "python3.12", "3.12.10"),
        ("beginning", pyenv().env("PYENV_VERSION", "3.12"), "python3", "3.12.10"),
        (
            "file above",
            pyenv()
                .file("/home/u/p/.python-version", "# mine\n3.12.1\n")
                .dir("/home/u/p/src")
                .cwd("/home/u/p/src"),
            "python3",
            "3.12.1",
        ),
        ("by its path", pyenv(), "/home/u/.pyenv/shims/python3", "3.11.7"),
        ("system", pyenv().env("PYENV_VERSION", "system"), "python3", "system"),
        (
            "its own root",
            pyenv().link("/opt/pyenv", "/home/u/.pyenv").env("PYENV_ROOT", "/opt/pyenv"),
            "python3",
            "3.11.7",
        ),
    ];
    for (name, world, command, version) in rows {
        let plan = world.plan(command).unwrap_or_else(|error| panic!("{name}: {error}"));
        let program = command.rsplit('/').next().unwrap();
        if version == "system" {
            assert_eq!((plan.argv[0].as_str(), plan.entries.len()), ("/usr/bin/python3", 0), "{name}");
            continue;
        }
        let tree = format!("/home/u/.pyenv/versions/{version}");
        assert_eq!(plan.argv[0], format!("{tree}/bin/{program}"), "{name}");
        assert!(lines(&plan.entries).contains(&format!("ro {tree}")), "{name}: {:?}", lines(&plan.entries));
        assert!(!plan.path_env.contains("shims"), "{name}");
    }
    let error = pyenv().env("PYENV_VERSION", "3.9.0").plan("pip").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`pip` is a shim of pyenv, and 3.9.0 (chosen by `PYENV_VERSION`) has no such program"
    );
}

#[test]
fn a_version_file_cannot_lead_out_of_the_versions() {
    for version in ["../../../srv", "..", "/srv"] {
        let world = pyenv().program("/srv/bin/python3").env("PYENV_VERSION", version);
        assert!(matches!(world.plan("python3"), Err(PlanError::Shim(_))), "{version}");
    }
}

#[test]
fn nodenv_and_rbenv_read_their_own_files() {
    let world = World::new()
        .script("/home/u/.nodenv/shims/node", PYENV_SHIM)
        .program("/home/u/.nodenv/versions/22.1.0/bin/node")
        .file("/home/u/.node-version", "v22.1.0\n")
        .path(&["/home/u/.nodenv/shims"]);
    assert_eq!(world.plan("node").unwrap().argv[0], "/home/u/.nodenv/versions/22.1.0/bin/node");
    let world = World::new()
        .script("/home/u/.rbenv/shims/ruby", PYENV_SHIM)
        .program("/home/u/.rbenv/versions/3.3.0/bin/ruby")
        .file("/home/u/.ruby-version", "ruby-3.3.0\n")
        .path(&["/home/u/.rbenv/shims"]);
    let plan = world.plan("ruby").unwrap();
    assert_eq!(lines(&plan.entries), ["ro /home/u/.rbenv/versions/3.3.0"]);
    assert_eq!(plan.path_env, "/home/u/.rbenv/versions/3.3.0/bin:/usr/local/bin:/usr/bin:/bin");
}

fn asdf() -> World {
    World::new()
        .script(
            "/home/u/.asdf/shims/node",
            "#!/usr/bin/env bash\n# asdf-plugin: nodejs 20.1.0\n# asdf-plugin: nodejs 22.1.0\n",
        )
        .program("/home/u/.asdf/installs/nodejs/20.1.0/bin/node")
        .program("/home/u/.asdf/installs/nodejs/22.1.0/bin/node")
        .path(&["/home/u/.asdf/shims", "/usr/bin"])
}

#[test]
fn asdf_reads_tool_versions() {
    let world = asdf().file("/home/u/.tool-versions", "nodejs 20.1.0 # old\n");
    assert_eq!(lines(&world.plan("node").unwrap().entries), ["ro /home/u/.asdf/installs/nodejs/20.1.0"]);
    let world = world.file("/home/u/p/.tool-versions", "python 3.1\nnodejs 22.1.0\n").cwd("/home/u/p");
    assert_eq!(world.plan("node").unwrap().argv[0], "/home/u/.asdf/installs/nodejs/22.1.0/bin/node");
    let world = world.env("ASDF_NODEJS_VERSION", "20.1.0");
    assert_eq!(world.plan("node").unwrap().argv[0], "/home/u/.asdf/installs/nodejs/20.1.0/bin/node");
    let error = asdf().plan("node").unwrap_err();
    assert_eq!(error.to_string(), "`node` is a shim of asdf, and no version is chosen for it in `/home/u`");
    let error = asdf().file("/home/u/.tool-versions", "nodejs 18.0.0\n").plan("node").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`node` is a shim of asdf, and nodejs 18.0.0 (chosen by `/home/u/.tool-versions`) has no such program"
    );
    let world = asdf().file("/home/u/.tool-versions", "nodejs system\n").program("/usr/bin/node");
    assert_eq!(world.plan("node").unwrap().argv[0], "/usr/bin/node");
}

fn mise() -> World {
    World::new()
        .program("/home/u/.local/bin/mise")
        .link("/home/u/.local/share/mise/shims/node", "/home/u/.local/bin/mise")
        .link("/home/u/.local/share/mise/shims/srv", "/home/u/.local/bin/mise")
        .program("/home/u/.local/share/mise/installs/node/20.1.0/bin/node")
        .program("/home/u/.local/share/mise/installs/node/22.1.0/bin/node")
        .link("/home/u/.local/share/mise/installs/node/22", "./22.1.0")
        .script("/home/u/.local/share/mise/installs/npm-acme-srv/1.0/bin/srv", "#!/usr/bin/env node\n")
        .path(&["/home/u/.local/share/mise/shims", "/usr/bin"])
}

#[test]
fn mise_reads_its_configuration() {
    let installs = "/home/u/.local/share/mise/installs";
    let global = "[tools]\nnode = \"20\"\n\"npm:@acme/srv\" = { version = \"1.0\" }\n";
    let world = mise().file("/home/u/.config/mise/config.toml", global);
    assert_eq!(world.plan("node").unwrap().argv[0], format!("{installs}/node/20.1.0/bin/node"));
    let plan = world.plan("srv").unwrap();
    assert_eq!(
        lines(&plan.entries),
        [format!("ro {installs}/node/20.1.0"), format!("ro {installs}/npm-acme-srv/1.0")]
    );
    let world = world.file("/home/u/p/mise.toml", "[tools]\nnode = [\"22\", \"20\"]\n").cwd("/home/u/p");
    let plan = world.plan("node").unwrap();
    assert_eq!(plan.argv[0], format!("{installs}/node/22.1.0/bin/node"));
    assert_eq!(
        lines(&plan.entries),
        [format!("{installs}/node/22 -> ./22.1.0"), format!("ro {installs}/node/22.1.0")]
    );
    let error = mise().plan("node").unwrap_err();
    assert!(error.to_string().starts_with("`node` is a shim of mise, and no version"), "{error}");
    let error = mise().file("/home/u/.tool-versions", "node 18.0.0\n").plan("node").unwrap_err();
    assert!(error.to_string().contains("node 18.0.0 (chosen by `/home/u/.tool-versions`)"), "{error}");
    let error = mise().file("/home/u/mise.toml", "[tools\n").plan("node").unwrap_err();
    assert!(error.to_string().contains("`/home/u/mise.toml` cannot be understood"), "{error}");
    let plan = mise().path(&["/home/u/.local/share/mise/installs/node/22/bin"]).plan("node").unwrap();
    assert_eq!(plan.path_env.split(':').next().unwrap(), format!("{installs}/node/22.1.0/bin"));
}

fn volta() -> World {
    let mut world = World::new().program("/home/u/.volta/bin/volta-shim");
    for name in ["node", "npx", "srv", "yarn"] {
        world = world.link(&format!("/home/u/.volta/bin/{name}"), "volta-shim");
    }
    for version in ["18.0.0", "20.1.0"] {
        let bin = format!("/home/u/.volta/tools/image/node/{version}/bin");
        world = world.program(&format!("{bin}/node")).script(&format!("{bin}/npx"), "#!/usr/bin/env node\n");
    }
    world
        .file("/home/u/.volta/tools/user/platform.json", r#"{"node":{"runtime":"20.1.0","npm":null},"pnpm":null,"yarn":null}"#)
        .file(
            "/home/u/.volta/tools/user/bins/srv.json",
            r#"{"name":"srv","package":"@acme/srv","version":"1.0.0","platform":{"node":"18.0.0","npm":null},"manager":"Npm"}"#,
        )
        .script("/home/u/.volta/tools/image/packages/@acme/srv/lib/node_modules/@acme/srv/index.js", "#!/usr/bin/env node\n")
        .link("/home/u/.volta/tools/image/packages/@acme/srv/bin/srv", "../lib/node_modules/@acme/srv/index.js")
        .path(&["/home/u/.volta/bin", "/usr/bin"])
}

#[test]
fn volta_reads_its_platform_and_pins() {
    let image = "/home/u/.volta/tools/image";
    let plan = volta().plan("npx").unwrap();
    assert_eq!(plan.argv[0], format!("{image}/node/20.1.0/bin/npx"));
    assert_eq!(lines(&plan.entries), [format!("ro {image}/node/20.1.0")]);
    let pinned = volta().file("/home/u/p/package.json", r#"{"volta":{"node":"18.0.0"}}"#).cwd("/home/u/p");
    assert_eq!(pinned.plan("node").unwrap().argv[0], format!("{image}/node/18.0.0/bin/node"));
    let extended = pinned
        .file("/home/u/p/q/package.json", r#"{"volta":{"extends":"../package.json"}}"#)
        .cwd("/home/u/p/q");
    assert_eq!(extended.plan("node").unwrap().argv[0], format!("{image}/node/18.0.0/bin/node"));
    // A package keeps the Node it was installed with.
    let plan = volta().plan("srv").unwrap();
    assert_eq!(plan.argv[0], format!("{image}/packages/@acme/srv/bin/srv"));
    assert!(lines(&plan.entries).contains(&format!("ro {image}/packages/@acme/srv")));
    assert!(lines(&plan.entries).contains(&format!("ro {image}/node/18.0.0")));
    assert!(plan.path_env.find("18.0.0").unwrap() < plan.path_env.find("20.1.0").unwrap());
    let error = volta().plan("yarn").unwrap_err();
    assert_eq!(error.to_string(), "`yarn` is a shim of Volta, and no version is chosen for it in `/home/u`");
    let error = volta().file("/home/u/.volta/tools/user/platform.json", "{").plan("node").unwrap_err();
    assert!(error.to_string().contains("platform.json` cannot be understood"), "{error}");
}
