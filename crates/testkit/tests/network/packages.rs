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

fn run(world: &World, flags: &[&str], words: &[&str]) -> Command {
    let mut command = world.product(None);
    command.args(["run", "--grace", "1"]).args(flags).args(words);
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
            let mut talk = Conversation::begin(&mut run(&world, &[], &["npx", "-y", PACKAGE]));
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
            let mut talk = Conversation::begin(&mut run(&world, &[], &[&uvx, "mcp-server-time"]));
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
        let mut talk = Conversation::begin(&mut run(&world, &flags, &words));
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
