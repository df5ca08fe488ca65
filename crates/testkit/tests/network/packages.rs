//! `npx` and `uvx` from an empty cache. They speak to whatever registry the clients of this machine are configured with;
//! where none answers, these are skipped by name.

use std::{env, path::PathBuf, process::Command};

use serde_json::json;
use testkit::world::{Caller, World, skip};

use crate::{
    conversation::Conversation,
    origin::{Origin, PAGE},
    scene::world,
};

/// The caller's own configuration of the clients: the variables that they read, and npm's file.
fn configured(world: &World, command: &mut Command) {
    const OTHERS: [&str; 3] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];
    for (name, value) in env::vars_os() {
        let lower = name.to_string_lossy().to_ascii_lowercase();
        if lower.starts_with("npm_config_")
            || lower.starts_with("uv_")
            || OTHERS.iter().any(|other| name == *other)
        {
            command.env(name, value);
        }
    }
    let own = env::var_os("HOME").map(PathBuf::from).unwrap_or_default().join(".npmrc");
    if let Ok(text) = std::fs::read_to_string(own) {
        world.make_file("home/.npmrc", &text, 0o600).unwrap();
    }
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// `fumehood run` with as many seconds of grace after the end of stdin.
fn run(world: &World, grace: &str, flags: &[&str], words: &[&str]) -> Command {
    let mut command = world.product(None);
    command.args(["run", "--grace", grace]).args(flags).args(words);
    configured(world, &mut command);
    command
}

#[test]
fn npx_is_a_drop_in_from_an_empty_cache_and_from_a_full_one() {
    const PACKAGE: &str = "@modelcontextprotocol/server-everything";
    if !answers("npm", &["view", PACKAGE, "version"]) {
        return skip("npx in a cell", "no npm registry answers");
    }
    let origin = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &origin);
        for attempt in ["empty", "full"] {
            let mut talk = Conversation::begin(&mut run(&world, "1", &[], &["npx", "-y", PACKAGE]));
            let tools = talk.tools();
            assert!(tools.iter().any(|name| name == "echo"), "{tools:?}");
            let called = talk.ask("tools/call", &json!({"name": "echo", "arguments": {"message": "hello"}}));
            assert_eq!(called["content"][0]["text"], "Echo: hello", "{attempt}");
            let said = talk.end();
            assert!(!said.contains("was refused"), "{said}");
        }
    }
}

/// The programs of uv, as `./x` installs them, where the caller can run them; nothing where it has not.
fn uvx(world: &World) -> Option<String> {
    let cache = env::var_os("FUMEHOOD_CACHE")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cache")), PathBuf::from);
    for name in ["uv", "uvx"] {
        // A program by itself: nothing of the environment around it is needed.
        std::fs::copy(cache.join("python-uv/bin").join(name), world.path("tool").join(name)).ok()?;
    }
    Some(world.path("tool/uvx").display().to_string())
}

#[test]
fn uvx_is_a_drop_in_from_an_empty_cache_and_from_a_full_one() {
    let origin = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &origin);
        let Some(uvx) = uvx(&world) else {
            return skip("uvx in a cell", "uv is not among the test packages");
        };
        for _ in ["empty", "full"] {
            let mut talk = Conversation::begin(&mut run(&world, "1", &[], &[&uvx, "mcp-server-time"]));
            assert_eq!(talk.tools(), ["get_current_time", "convert_time"]);
            let said = talk.end();
            assert!(!said.contains("was refused"), "{said}");
        }
    }
}

#[test]
fn a_fetching_server_fetches_what_is_allowed_and_says_what_is_not() {
    let origin = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &origin);
        let Some(uvx) = uvx(&world) else {
            return skip("a fetching server in a cell", "uv is not among the test packages");
        };
        let flags = ["--host", "http://origin.example", "--name", "fetch"];
        // It refuses addresses that are not public; inside, every name stands for one of ours, and who may be reached is
        // no longer its business.
        let words = [uvx.as_str(), "mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"];
        let mut talk = Conversation::begin(&mut run(&world, "1", &flags, &words));
        let mut fetch = |url: &str| {
            talk.ask("tools/call", &json!({"name": "fetch", "arguments": {"url": url, "raw": true}}))
                .to_string()
        };
        let page = fetch("http://origin.example/");
        assert!(page.contains("the page of the origin") && PAGE.contains("the page of the origin"), "{page}");
        let before = origin.visits();
        let refused = fetch("http://denied.example/");
        assert!(refused.contains("\"isError\":true"), "{refused}");
        assert_eq!(origin.visits(), before);
        let said = talk.end();
        assert!(said.contains("`fumehood allow fetch denied.example`"), "{said}");
    }
}

/// A registry with one package, as a mirror on this machine would answer: its download names the mirror by address.
fn mirror(tarball: Vec<u8>) -> Origin {
    Origin::serving("127.0.0.1:0", move |path, port| match path {
        "/npm/tiny-tool" => {
            let version = json!({
                "name": "tiny-tool", "version": "1.0.0", "bin": {"tiny-tool": "tool.js"},
                "dist": {"tarball": format!("http://127.0.0.1:{port}/npm/tiny-tool/-/tiny-tool-1.0.0.tgz")},
            });
            let package = json!({
                "name": "tiny-tool", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version},
            });
            Some(package.to_string().into_bytes())
        }
        "/npm/tiny-tool/-/tiny-tool-1.0.0.tgz" => Some(tarball.clone()),
        _ => None,
    })
}

#[test]
fn a_mirror_on_this_machine_is_reached_because_npm_is_configured_with_it_and_nothing_beside_it() {
    if !answers("npm", &["--version"]) {
        return skip("a mirror for npx", "there is no npm");
    }
    let secret = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &secret);
        world.make_folder("package").unwrap();
        let manifest = r#"{"name": "tiny-tool", "version": "1.0.0", "bin": {"tiny-tool": "tool.js"}}"#;
        world.make_file("package/package.json", manifest, 0o644).unwrap();
        // Tries what stands beside the mirror too, before it answers.
        let port = secret.address.port();
        let tool = format!(
            "#!/usr/bin/env node\nconst say = r => console.log(JSON.stringify({{jsonrpc: '2.0', id: 1, result: r}}));\n\
             const urls = ['http://127.0.0.1:{port}/', 'http://registry-1.internal:{port}/', 'http://origin.example/'];\n\
             Promise.all(urls.map(u => fetch(u).then(a => a.ok ? 'reached' : 'refused', () => 'refused'))).then(all => say({{all}}));\n"
        );
        world.make_file("package/tool.js", &tool, 0o755).unwrap();
        let packed = Command::new("npm")
            .args(["pack", "--silent", "--pack-destination", ".."])
            .current_dir(world.path("package"))
            .output()
            .unwrap();
        assert!(packed.status.success(), "{packed:?}");
        let mirror = mirror(std::fs::read(world.path("tiny-tool-1.0.0.tgz")).unwrap());
        let mut command = run(&world, "50", &[], &["npx", "-y", "tiny-tool"]);
        command.env("npm_config_registry", format!("http://127.0.0.1:{}/npm/", mirror.address.port()));
        let ran = world.run(&mut command, "").unwrap();
        let refused =
            json!({"jsonrpc": "2.0", "id": 1, "result": {"all": ["refused", "refused", "refused"]}});
        let answer: serde_json::Value = serde_json::from_str(ran.stdout.trim()).unwrap_or_default();
        assert_eq!(answer, refused, "{caller:?} {ran:?}");
        assert!(ran.stderr.contains("because your package client is configured with it"), "{ran:?}");
        assert!(mirror.visits() >= 3, "the question outside, the one inside and the download");
    }
    assert_eq!(secret.visits(), 0);
}
