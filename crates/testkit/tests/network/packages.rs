//! `npx` and `uvx` from an empty cache. They speak to whatever registry the clients of this machine are configured with;
//! where none answers, these are skipped by name.

use std::{env, path::PathBuf, process::Command};

use serde_json::{Value, json};
use testkit::world::{Caller, World, skip};

use crate::{
    client::{Client, everything, packages},
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

/// The same, as it stands in the configuration of a client that the caller runs.
fn declared(world: &World, flags: &[&str], words: &[&str]) -> Command {
    let mut command = Command::new(world.product_path());
    command.args(["run", "--grace", "1"]).args(flags).args(words);
    command.envs(world.product(None).get_envs().filter_map(|(name, value)| Some((name, value?))));
    configured(world, &mut command);
    command
}

/// The version of a package that the other tests run too.
fn pinned(package: &str) -> String {
    let npm: Value = serde_json::from_str(include_str!("../../packages/npm/package.json")).unwrap();
    if let Some(version) = npm["dependencies"][package].as_str() {
        return format!("{package}@{version}");
    }
    let python = include_str!("../../packages/python/current.txt");
    let pin = python.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix("=="));
    format!("{package}@{}", pin.unwrap())
}

/// What a server of a package is asked, and how it runs with nothing around it.
struct Trial<'a> {
    client: Client,
    callers: Vec<Caller>,
    bare: &'a [String],
    calls: Value,
    answer: &'a str,
}

impl Trial<'_> {
    /// Runs the package in a cell, from an empty cache and then from the one that was filled: each time it must say what
    /// the bare server says.
    fn run(&self, words: impl Fn(&World) -> Vec<String>) {
        if self.callers.is_empty() {
            return;
        }
        let origin = Origin::web("127.0.0.1:0");
        let outside = world(self.client.callers()[0], &origin);
        let (program, arguments) = self.bare.split_first().unwrap();
        let bare = self.client.speak(&outside, Command::new(program).args(arguments), &self.calls);
        assert!(bare.told["results"].to_string().contains(self.answer), "{bare:?}");
        for &caller in &self.callers {
            let world = world(caller, &origin);
            let words = words(&world);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            // Whether the cache is full is nothing a client sees: one of them has shown it.
            let caches: &[&str] =
                if self.client == Client::TypeScript { &["empty", "full"] } else { &["empty"] };
            for cache in caches {
                let confined = self.client.speak(&world, &declared(&world, &[], &words), &self.calls);
                assert_eq!(bare.told, confined.told, "{caller:?}, {cache} cache: {}", confined.stderr);
                assert!(!confined.stderr.contains("was refused"), "{}", confined.stderr);
            }
        }
    }
}

/// The callers that run the TypeScript client, of one kind.
fn callers(kind: Caller) -> Vec<Caller> {
    Client::TypeScript.callers().into_iter().filter(|caller| *caller == kind).collect()
}

fn npx(client: Client, callers: Vec<Caller>) {
    const PACKAGE: &str = "@modelcontextprotocol/server-everything";
    let Some(script) = everything() else {
        return skip("npx in a cell", "the same server is not among the test packages");
    };
    let package = pinned(PACKAGE);
    if !answers("npm", &["view", &package, "version"]) {
        return skip("npx in a cell", "no npm registry answers");
    }
    let trial = Trial {
        client,
        callers,
        bare: &["node".to_owned(), script.display().to_string()],
        calls: json!([{"name": "echo", "arguments": {"message": "hello"}}]),
        answer: "Echo: hello",
    };
    trial.run(|_| ["npx", "-y", &package].map(str::to_owned).to_vec());
}

#[test]
fn npx_is_a_drop_in_for_the_typescript_client_of_root() {
    npx(Client::TypeScript, callers(Caller::Root));
}

#[test]
fn npx_is_a_drop_in_for_the_typescript_client_of_an_ordinary_user() {
    npx(Client::TypeScript, callers(Caller::Ordinary));
}

#[test]
fn npx_is_a_drop_in_for_the_python_client() {
    npx(Client::Python, Client::Python.callers());
}

/// The programs of uv, as `./x` installs them, where the caller can run them; nothing where it has not.
fn uvx(world: &World) -> Option<String> {
    for name in ["uv", "uvx"] {
        // A program by itself: nothing of the environment around it is needed.
        let program = packages().join("python-uv/bin").join(name);
        std::fs::copy(program, world.path("tool").join(name)).ok()?;
    }
    Some(world.path("tool/uvx").display().to_string())
}

fn uvx_time(client: Client, callers: Vec<Caller>) {
    let server = packages().join("python-current/bin/mcp-server-time");
    if !server.is_file() || !packages().join("python-uv/bin/uvx").is_file() {
        return skip("uvx in a cell", "uv or the same server is not among the test packages");
    }
    let zone = ["--local-timezone", "UTC"].map(str::to_owned);
    let asked = json!({"source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Kolkata"});
    let trial = Trial {
        client,
        callers,
        bare: &[&[server.display().to_string()], &zone[..]].concat(),
        calls: json!([{"name": "convert_time", "arguments": asked}]),
        answer: "22:00:00+05:30",
    };
    trial.run(|world| [&[uvx(world).unwrap(), pinned("mcp-server-time")], &zone[..]].concat());
}

#[test]
fn uvx_is_a_drop_in_for_the_typescript_client_of_root() {
    uvx_time(Client::TypeScript, callers(Caller::Root));
}

#[test]
fn uvx_is_a_drop_in_for_the_typescript_client_of_an_ordinary_user() {
    uvx_time(Client::TypeScript, callers(Caller::Ordinary));
}

#[test]
fn uvx_is_a_drop_in_for_the_python_client() {
    uvx_time(Client::Python, Client::Python.callers());
}

#[test]
fn a_fetching_server_of_root_fetches_what_is_allowed_and_says_what_is_not() {
    fetching(&callers(Caller::Root));
}

#[test]
fn a_fetching_server_of_an_ordinary_user_fetches_what_is_allowed_and_says_what_is_not() {
    fetching(&callers(Caller::Ordinary));
}

fn fetching(callers: &[Caller]) {
    const ROBOTS: &str = "User-agent: *\nDisallow: /private\n";
    let origin = Origin::serving("127.0.0.1:0", |path, _| match path {
        "/robots.txt" => Some(ROBOTS.into()),
        "/page" | "/private/page" => Some(PAGE.into()),
        _ => None,
    });
    for &caller in callers {
        let world = world(caller, &origin);
        let Some(uvx) = uvx(&world) else {
            return skip("a fetching server in a cell", "uv is not among the test packages");
        };
        let flags = ["--host", "http://origin.example", "--name", "fetch"];
        // It refuses addresses that are not public; inside, every name stands for one of ours, and who may be reached is
        // no longer its business.
        let server = declared(&world, &flags, &[&uvx, "mcp-server-fetch@2026.10.24", "--allow-private-ips"]);
        let fetch = |url: &str| json!({"name": "fetch", "arguments": {"url": url, "raw": true}});
        let urls = [
            "http://origin.example/page",
            "http://origin.example/private/page",
            "http://denied.example/page",
        ];
        let before = origin.visits();
        let session = Client::TypeScript.speak(&world, &server, &json!(urls.map(fetch)));
        assert_eq!(session.tools(), ["fetch"]);
        let results = session.told["results"].as_array().unwrap();
        let content = results[0]["content"][0]["text"].as_str().unwrap();
        assert!(results[0]["isError"] != true && content.contains(PAGE), "{caller:?} {session:?}");
        // What the origin itself forbids is forbidden by what the server read there.
        for refused in &results[1..] {
            assert!(refused["isError"] == true && !refused.to_string().contains("<p>"), "{refused}");
        }
        assert_eq!(origin.visits(), before + 3, "the rules twice, the page once");
        let said = &session.stderr;
        assert!(said.contains("fetch was refused: `denied.example`"), "{said}");
        assert!(said.contains("[FH-EGRESS-HOST]"), "{said}");
        assert!(said.contains("help: `fumehood allow fetch denied.example`"), "{said}");
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
        let answer: Value = serde_json::from_str(ran.stdout.trim()).unwrap_or_default();
        assert_eq!(answer, refused, "{caller:?} {ran:?}");
        assert!(ran.stderr.contains("because your package client is configured with it"), "{ran:?}");
        assert!(mirror.visits() >= 3, "the question outside, the one inside and the download");
    }
    assert_eq!(secret.visits(), 0);
}
