//! `npx` of a package as its user types it at a terminal, from nothing; and that the next start needs no network.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use testkit::world::{
    Caller, World,
    registry::{Package, Registry},
    skip,
};

use crate::session::Session;

/// What the user types.
const WORDS: [&str; 4] = ["run", "npx", "-y", "weather-server@1.0.0"];

/// What is asked at the end of the review.
const QUESTION: &str = "accept weather-server";

/// A caller's world, and a registry with the package in it.
struct Scene {
    world: World,
    registry: Registry,
}

impl Scene {
    /// Nothing where there is no registry.
    fn new(caller: Caller) -> Option<Self> {
        let Some(registry) = Registry::serve(&cache()).unwrap() else {
            skip("a first run at a terminal", "the registry for tests is not among the test packages");
            return None;
        };
        let helper = Package::new("weather-words", "1.0.0")
            .with("main", json!("words.js"))
            .file("words.js", "module.exports = 'sunny';\n");
        registry.publish(&helper).unwrap();
        let package = Package::new("weather-server", "1.0.0")
            .with("bin", json!("serve.mjs"))
            .needs("weather-words", "^1.0.0")
            .file("serve.mjs", include_str!("programs/serve.mjs"));
        registry.publish(&package).unwrap();
        Some(Self { world: World::new(caller).unwrap(), registry })
    }

    fn configured(&self, mut command: Command) -> Command {
        command.env("npm_config_registry", self.registry.url());
        command.env("npm_config_cache", self.world.path("home/npm"));
        command.env("TERM", "xterm");
        command
    }

    fn product(&self, words: &[&str]) -> Command {
        let mut command = self.world.product(None);
        command.args(words);
        self.configured(command)
    }

    /// The product at a terminal, where a person types.
    fn at_a_terminal(&self, words: &[&str], steps: &Value) -> Value {
        let steps = self.world.make_file("steps.json", &steps.to_string(), 0o644).unwrap();
        let text = include_str!("programs/terminal.py");
        let program = self.world.make_file("terminal.py", text, 0o644).unwrap();
        let mut command = self.world.program(Path::new("python3"));
        command.arg(program).arg(steps).arg(self.world.product_path()).args(words);
        let ran = self.world.run_within(crate::session::PATIENCE * 2, &mut self.configured(command), "");
        let ran = ran.unwrap();
        assert!(!ran.late && ran.remains.is_empty(), "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }
}

/// The same command behind another program, which is given these words before it.
fn behind(program: &str, words: &[&str], command: &Command) -> Command {
    let mut behind = Command::new(program);
    behind.args(words).arg(command.get_program()).args(command.get_args());
    behind.env_clear().current_dir(command.get_current_dir().unwrap());
    behind.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    behind
}

/// Where `./x` keeps packages for tests.
pub(crate) fn cache() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    checkout.join(env::var_os("FUMEHOOD_CACHE").map_or_else(|| PathBuf::from(".cache"), PathBuf::from))
}

/// What a client types that is a program.
fn typed(id: u64, method: &str, params: &Value) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn hello() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client })
}

#[test]
fn the_first_run_at_a_terminal_installs_asks_and_goes_on_and_the_next_needs_nothing_of_root() {
    trial(Caller::Root);
}

#[test]
fn the_first_run_at_a_terminal_installs_asks_and_goes_on_and_the_next_needs_nothing_of_a_user() {
    trial(Caller::Ordinary);
}

fn trial(caller: Caller) {
    if !Caller::all().contains(&caller) {
        return;
    }
    let Some(scene) = Scene::new(caller) else { return };
    at_first(&scene);
    afterwards(&scene);
    traced(&scene);
    if caller == Caller::Root {
        alone(&scene);
    }
}

/// Not now, and then yes.
fn at_first(scene: &Scene) {
    let page = json!({ "wait": "[Enter] next page", "type": "\n" });
    let later = scene.at_a_terminal(&WORDS, &json!([page, { "wait": QUESTION, "type": "q\n" }]));
    assert_eq!((&later["code"], &later["done"]), (&json!(11), &json!(2)), "{later:#}");
    let seen = later["seen"].as_str().unwrap();
    for part in [
        "choosing versions",
        "fetching 2 of 2 packages",
        "starting it without network and keys",
        "(1 of 2)",
        "(2 of 2)",
        "Tells the weather of a city.",
        "fingerprint: v1:sha256:",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(!seen.contains("sunny"), "{seen}");
    // What was installed stays, and the session goes on at the same terminal.
    let before = scene.registry.requests().unwrap();
    let steps = json!([
        { "wait": "[Enter] next page", "type": "s\n" },
        { "wait": QUESTION, "type": "y\n" },
        { "wait": "is accepted: ", "type": typed(1, "initialize", &hello()) },
        { "wait": "\"serverInfo\"", "type": typed(2, "tools/list", &json!({})) },
        { "wait": "Tells the weather of a city.", "type": typed(3, "tools/call", &call()) },
        { "wait": "sunny", "type": "\u{4}" },
    ]);
    let yes = scene.at_a_terminal(&WORDS, &steps);
    assert_eq!((&yes["code"], &yes["done"]), (&json!(0), &json!(6)), "{yes:#}");
    assert_eq!(scene.registry.requests().unwrap(), before, "what is here is not fetched again");
}

/// Nothing is asked, of a person or of the registry.
fn afterwards(scene: &Scene) {
    let before = scene.registry.requests().unwrap();
    let steps = json!([
        { "wait": "", "type": typed(1, "initialize", &hello()) },
        { "wait": "\"serverInfo\"", "type": typed(2, "tools/call", &call()) },
        { "wait": "sunny", "type": "\u{4}" },
    ]);
    let again = scene.at_a_terminal(&WORDS, &steps);
    assert_eq!((&again["code"], &again["done"]), (&json!(0), &json!(3)), "{again:#}");
    assert!(!again["seen"].as_str().unwrap().contains(QUESTION), "{again:#}");
    assert_eq!(scene.registry.requests().unwrap(), before);
}

/// No package manager is run, and no connection is made to anything but this machine's own sockets.
fn traced(scene: &Scene) {
    if !has("strace") {
        return skip("the trace of a later start", "there is no `strace`");
    }
    let trace = scene.world.path("trace");
    let words = ["-f", "-qq", "-e", "trace=execve,connect", "-o", trace.to_str().unwrap(), "--"];
    let before = scene.registry.requests().unwrap();
    is_answered(&mut behind("strace", &words, &scene.product(&WORDS)));
    let traced = fs::read_to_string(&trace).unwrap();
    assert!(traced.contains("execve(") && traced.contains("connect("), "{traced}");
    assert_eq!(suspicious(&traced), Vec::<&str>::new());
    assert_eq!(scene.registry.requests().unwrap(), before);
    // Control: the runner itself is found at it.
    let mut bare = scene.world.program(Path::new("npx"));
    bare.args(["-y", "weather-server@1.0.0"]);
    is_answered(&mut behind("strace", &words, &scene.configured(bare)));
    let traced = fs::read_to_string(&trace).unwrap();
    let found = suspicious(&traced);
    for what in ["/npx\"", "AF_INET"] {
        assert!(found.iter().any(|line| line.contains(what)), "{what}: {found:?}");
    }
}

/// Where there is no network at all, not even a loopback that is up.
fn alone(scene: &Scene) {
    let words = ["-n", "--"];
    is_answered(&mut behind("unshare", &words, &scene.product(&WORDS)));
    // Control: the registry is not to be reached from there. What npm has kept would do for it.
    let mut bare = scene.world.program(Path::new("npm"));
    bare.args(["view", "weather-server", "version"]);
    let mut bare = scene.configured(bare);
    bare.env("npm_config_cache", scene.world.path("home/empty")).env("npm_config_fetch_retries", "0");
    let mut bare = behind("unshare", &words, &bare);
    let ran = scene.world.run(&mut bare, "").unwrap();
    assert!(ran.code != Some(0) && !ran.late, "{ran:?}");
}

/// A client gets the list and an answer.
fn is_answered(command: &mut Command) {
    let mut session = Session::with_hello(command);
    let (names, said, ended) = (session.names(), session.call("tell_weather"), session.end());
    assert_eq!((names, said.as_str()), (vec!["tell_weather".to_owned()], "sunny"), "{ended:?}");
}

fn call() -> Value {
    json!({ "name": "tell_weather", "arguments": {} })
}

/// The lines of a trace that tell of a package manager being run, or of a connection that is not to this machine's own
/// sockets.
fn suspicious(trace: &str) -> Vec<&str> {
    let managers = ["npm", "npx", "uv", "uvx", "pip"];
    let is_manager = |line: &str| {
        let program = line.split_once("execve(\"").and_then(|(_, rest)| rest.split_once('"'));
        program.is_some_and(|(path, _)| managers.iter().any(|name| path.ends_with(&format!("/{name}"))))
            || line.contains("npm-cli.js")
            || line.contains("npx-cli.js")
    };
    let is_away = |line: &str| line.contains("connect(") && line.contains("AF_INET");
    trace.lines().filter(|line| is_manager(line) || is_away(line)).collect()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok_and(|output| output.status.success())
}
