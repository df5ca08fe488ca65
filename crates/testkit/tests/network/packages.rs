//! `npx` and `uvx` from an empty store: installed and read while a client waits, usable once a person has said yes, and
//! later started without any registry. They speak to whatever registry the clients of this machine are configured with;
//! where none answers, these are skipped by name.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::world::{Caller, World, skip};

use crate::{
    client::{Client, everything, packages},
    origin::{Origin, PAGE},
    scene::world,
};

/// How long an installation may take.
const INSTALLED_WITHIN: Duration = Duration::from_secs(80);

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

/// The one server of the world that waits for a decision is accepted by a person somewhere else, once it does.
fn accept(world: &World) {
    let deadline = Instant::now() + INSTALLED_WITHIN;
    loop {
        let listed = world.product(None).args(["list", "--json"]).output().unwrap();
        let rows: Value = serde_json::from_slice(&listed.stdout).unwrap();
        if let Some(row) = rows.as_array().unwrap().iter().find(|row| row["standing"] == "unaccepted") {
            let words = ["review", row["name"].as_str().unwrap(), "--accept"];
            let fingerprint = row["fingerprint"].as_str().unwrap();
            let accepted = world.product(None).args(words).arg(fingerprint).output().unwrap();
            assert!(accepted.status.success(), "{accepted:?}");
            return;
        }
        assert!(Instant::now() < deadline, "nothing waits for a decision: {rows}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Runs it until it is installed and accepted.
fn run_until_accepted(world: &World, mut command: Command) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    accept(world);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The same command as [`run`], as it stands in the configuration of a client that the caller runs.
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

/// What the last cell that used its network opened.
fn opened(world: &World) -> Vec<String> {
    let log = world.product(None).args(["egress", "log"]).output().unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    log.lines().filter(|line| line.contains(" opened ")).map(str::to_owned).collect()
}

/// Configures the runners with a registry that hangs up.
fn cut_off(command: &mut Command, nowhere: &Origin) {
    let registry = format!("http://{}/", nowhere.address);
    command.envs(["npm_config_registry", "UV_DEFAULT_INDEX"].map(|name| (name, &registry)));
    command.envs([("UV_NO_CONFIG", "1"), ("UV_HTTP_RETRIES", "0"), ("npm_config_fetch_retries", "0")]);
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
    /// Runs the package in a cell: first from an empty store, where nothing is told of it until it is accepted, then again
    /// without a registry. What it says must be what the bare server says.
    fn run(&self, words: impl Fn(&World) -> Vec<String>) {
        if self.callers.is_empty() {
            return;
        }
        let origin = Origin::web("127.0.0.1:0");
        let outside = world(self.client.callers()[0], &origin);
        let (program, arguments) = self.bare.split_first().unwrap();
        // A server need not know the revision that the front speaks with its client.
        let mut bare = self.client.shake_hands(&outside, Command::new(program).args(arguments), &self.calls);
        assert!(bare.told["results"].to_string().contains(self.answer), "{bare:?}");
        // Lists come in the order of names.
        bare.told["tools"].as_array_mut().unwrap().sort_by_key(|tool| tool["name"].to_string());
        for &caller in &self.callers {
            let world = world(caller, &origin);
            let words = words(&world);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let server = declared(&world, &[], &words);
            let first = self.client.wait(&world, &server, &self.calls, |tools| {
                assert_eq!(tools.as_array().map(Vec::len), Some(1), "{tools}");
                assert_eq!(tools[0]["name"], "fumehood_status");
                let said = tools[0]["description"].as_str().unwrap();
                assert!(said.contains("it was not reviewed yet") && said.contains(words[0]), "{said}");
                accept(&world);
            });
            let first_told = as_the_server_said(&first.told);
            for what in ["tools", "results"] {
                assert_eq!(bare.told[what], first_told[what], "{caller:?}: {}", first.stderr);
            }
            let nowhere = Origin::tcp("127.0.0.1:0", drop);
            let mut server = declared(&world, &[], &words);
            cut_off(&mut server, &nowhere);
            let before = opened(&world);
            assert!(!before.is_empty(), "the installation fetched something");
            let again = self.client.speak(&world, &server, &self.calls);
            assert_eq!(
                bare.told,
                as_the_server_said(&again.told),
                "{caller:?}, without a registry: {}",
                again.stderr
            );
            for stderr in [&first.stderr, &again.stderr] {
                assert!(!stderr.contains("was refused"), "{stderr}");
            }
            assert_eq!(nowhere.visits(), 0, "{caller:?}");
            // The control: the runner itself goes there.
            let mut bare = world.program(words[0].as_ref());
            cut_off(bare.args(&words[1..]), &nowhere);
            let ran = world.run(&mut bare, "").unwrap();
            assert!(ran.code != Some(0) && nowhere.visits() > 0, "{caller:?}: {ran:?}");
            assert_eq!(opened(&world), before, "{caller:?}");
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
        let words = [&uvx, "mcp-server-fetch@2026.10.24", "--allow-private-ips"];
        run_until_accepted(&world, run(&world, "1", &flags, &words));
        // It refuses addresses that are not public; inside, every name stands for one of ours, and who may be reached is
        // no longer its business.
        let server = declared(&world, &flags, &words);
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
fn mirror(integrity: String, tarball: Vec<u8>) -> Origin {
    Origin::serving("127.0.0.1:0", move |path, port| match path {
        "/npm/tiny-tool" => {
            let tarball = format!("http://127.0.0.1:{port}/npm/tiny-tool/-/tiny-tool-1.0.0.tgz");
            let version = json!({
                "name": "tiny-tool", "version": "1.0.0", "bin": {"tiny-tool": "serve.mjs"},
                "dist": {"tarball": tarball, "integrity": integrity},
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

/// The package of the mirror: a server whose tool tries what stands beside the mirror, and the mirror by its port.
fn tiny_tool(world: &World, beside: u16) -> Origin {
    world.make_folder("package").unwrap();
    let manifest = json!({"name": "tiny-tool", "version": "1.0.0", "bin": {"tiny-tool": "serve.mjs"}});
    let facts = format!(
        "export async function facts() {{\n\
         const mirror = process.argv[2];\n\
         const urls = ['http://127.0.0.1:{beside}/', 'http://registry-1.internal:{beside}/', 'http://origin.example/',\n\
         `http://127.0.0.1:${{mirror}}/npm/tiny-tool`, `http://registry-1.internal:${{mirror}}/npm/tiny-tool`];\n\
         return Promise.all(urls.map(u => fetch(u).then(a => a.ok ? 'reached' : 'refused', () => 'refused')));\n}}\n"
    );
    for (name, text) in [
        ("package.json", manifest.to_string().as_str()),
        ("serve.mjs", include_str!("../packages/programs/serve.mjs")),
        ("facts.mjs", &facts),
    ] {
        world.make_file(&format!("package/{name}"), text, 0o755).unwrap();
    }
    let packed = Command::new("npm")
        .args(["pack", "--json", "--pack-destination", ".."])
        .current_dir(world.path("package"))
        .output()
        .unwrap();
    assert!(packed.status.success(), "{packed:?}");
    let packed: Value = serde_json::from_slice(&packed.stdout).unwrap();
    let integrity = packed[0]["integrity"].as_str().unwrap().to_owned();
    mirror(integrity, std::fs::read(world.path("tiny-tool-1.0.0.tgz")).unwrap())
}

#[test]
fn a_mirror_on_this_machine_is_reached_because_npm_is_configured_with_it_and_nothing_beside_it() {
    if !answers("npm", &["--version"]) {
        return skip("a mirror for npx", "there is no npm");
    }
    let secret = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &secret);
        let mirror = tiny_tool(&world, secret.address.port());
        let port = mirror.address.port().to_string();
        let words = ["npx", "-y", "tiny-tool", &port];
        let command = |grace: &str| {
            let mut command = run(&world, grace, &[], &words);
            command.env("npm_config_registry", format!("http://127.0.0.1:{port}/npm/"));
            command
        };
        run_until_accepted(&world, command("1"));
        let shown = world.product(None).args(["review", "tiny-tool"]).output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("because your package client is configured with it"), "{caller:?}: {shown}");
        let visits = mirror.visits();
        assert!(visits >= 3, "the question outside, the one inside and the download: {visits}");
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let input = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "facts", "arguments": {}}}),
        ];
        let input = input.map(|message| format!("{message}\n")).concat();
        let ran = world.run(&mut command("50"), &input).unwrap();
        let mut answers = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answer = answers.find(|answer| answer["id"] == 2).unwrap_or_else(|| panic!("{ran:?}"));
        let refused = serde_json::to_string(&["refused"; 5]).unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], refused, "{caller:?} {ran:?}");
        assert_eq!(mirror.visits(), visits, "an installed package needs no registry");
    }
    assert_eq!(secret.visits(), 0);
}

/// What a client was told, less the mark by which results of servers are told from words of the operator's, and less who
/// answers, which a client of 2026-07-28 is told.
fn as_the_server_said(told: &Value) -> Value {
    let mut told = told.clone();
    for result in told["results"].as_array_mut().into_iter().flatten() {
        let result = result.as_object_mut().unwrap();
        let mut marks = result.remove("_meta").unwrap();
        marks.as_object_mut().unwrap().remove("io.modelcontextprotocol/serverInfo");
        assert_eq!(marks, json!({ "dev.fumehood/untrusted": true }), "{result:?}");
    }
    told
}
