//! Real cells, driven without the rest of the service: the test-only build takes wishes by stdin, and tells what it hears.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::world::{Caller, World};

/// Nothing here takes longer, on however busy a machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A world with servers of ours, accepted.
pub(crate) struct Scene {
    pub(crate) world: World,
}

/// The caller of what is the same for all.
pub(crate) fn somebody() -> Caller {
    Caller::all().pop().unwrap()
}

impl Scene {
    /// The operator's file is this text after `declare` has made tables of servers, and all of them are accepted.
    pub(crate) fn new(caller: Caller, declare: impl FnOnce(&Self) -> String) -> Self {
        let world = World::new(caller).unwrap();
        world.make_folder("config/fumehood").unwrap();
        world.make_folder("servers").unwrap();
        world.make_file("servers/mcp_server.py", include_str!("programs/mcp_server.py"), 0o644).unwrap();
        let scene = Self { world };
        let text = declare(&scene);
        scene.world.make_file("config/fumehood/config.toml", &text, 0o600).unwrap();
        scene
    }

    /// The table of a server: its words after the program, and more lines.
    pub(crate) fn table(&self, name: &str, words: &[&str], more: &str) -> String {
        let folder = self.world.path("servers");
        let program = folder.join("mcp_server.py").display().to_string();
        let command: Vec<String> =
            ["python3", &program].iter().chain(words).map(|word| format!("{word:?}")).collect();
        let (command, folder) = (command.join(", "), folder.display());
        format!("[servers.{name}]\ncommand = [{command}]\nmounts = [\"{folder}\"]\n{more}\n")
    }

    /// Runs the product to its end.
    pub(crate) fn run(&self, words: &[&str], input: &str) -> testkit::world::Ran {
        let ran = self.world.run(self.world.product(None).args(words), input).unwrap();
        assert!(!ran.late && ran.remains.is_empty(), "{words:?}: {ran:?}");
        ran
    }

    /// Reads and accepts a server.
    pub(crate) fn accept(&self, name: &str) {
        let told = self.run(&["review", name, "--json"], "");
        assert_eq!(told.code, Some(0), "{told:?}");
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        let fingerprint = told["fingerprint"].as_str().unwrap_or_else(|| panic!("{told}"));
        let accepted = self.run(&["review", name, "--accept", fingerprint], "");
        assert_eq!(accepted.code, Some(0), "{accepted:?}");
    }

    /// Keeps a value for everybody, or for a user.
    pub(crate) fn keep(&self, name: &str, user: Option<&str>, value: &str, host: &str) {
        let whose = user.map(|user| format!("urn:fumehood:key|{user}"));
        let mut words = vec!["secret", "set", name, "--host", host];
        if let Some(whose) = &whose {
            words.extend(["--user", whose]);
        }
        let ran = self.run(&words, value);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

/// The driver, and what it has told.
pub(crate) struct Drive {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    heard: Vec<Value>,
}

impl Drive {
    /// Without these guards (names with commas between).
    pub(crate) fn begin(scene: &Scene, off: &str) -> Self {
        let mut command: Command = scene.world.product(Some(off));
        command.arg("drive-cells").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if tell.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, heard: Vec::new() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn wish(&mut self, wish: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{wish}").unwrap();
    }

    /// Waits for the first thing of a kind, which may have come already; it is not found a second time.
    pub(crate) fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.heard.iter().position(&is_it) {
                return self.heard.remove(at);
            }
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(said) => self.heard.push(said),
                Err(error) => panic!("there was no {what} ({error}); heard: {:?}", self.heard),
            }
        }
    }

    /// Whether something of a kind has come so far.
    pub(crate) fn has_heard(&mut self, is_it: impl Fn(&Value) -> bool) -> bool {
        self.heard.extend(self.lines.try_iter());
        self.heard.iter().any(is_it)
    }

    /// Wishes for a cell of a server, for a user where there is one, and does not wait for it.
    pub(crate) fn order(&mut self, of: &str, server: &str, user: Option<&str>) {
        self.wish(&json!({ "do": "start", "of": of, "server": server, "user": user, "group": null }));
    }

    /// What came of it.
    pub(crate) fn outcome(&mut self, of: &str) -> Value {
        self.wait("outcome of a start", |said| {
            said["of"] == of && (said.get("started").is_some() || said.get("refused").is_some())
        })
    }

    /// Starts one, and says hello to it.
    pub(crate) fn start(&mut self, of: &str, server: &str, user: Option<&str>) -> Value {
        self.order(of, server, user);
        let started = self.outcome(of);
        assert_eq!(started["started"], true, "{started}");
        self.greet(of);
        started
    }

    pub(crate) fn greet(&mut self, of: &str) {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let hello = self.ask(of, "hello", "initialize", &params);
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        self.say(of, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub(crate) fn say(&mut self, of: &str, line: &Value) {
        self.wish(&json!({ "do": "say", "of": of, "line": line }));
    }

    /// The answer to a request that was said before.
    pub(crate) fn answer(&mut self, of: &str, id: &str) -> Value {
        let line = self.wait(&format!("answer to {id} of {of}"), |said| {
            said["of"] == of && said["line"]["id"] == id && said["line"].get("method").is_none()
        });
        line["line"].clone()
    }

    pub(crate) fn ask(&mut self, of: &str, id: &str, method: &str, params: &Value) -> Value {
        self.say(of, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.answer(of, id)
    }

    /// What a tool says.
    pub(crate) fn call(&mut self, of: &str, tool: &str, text: &str) -> String {
        let params = json!({ "name": tool, "arguments": { "text": text } });
        let answer = self.ask(of, tool, "tools/call", &params);
        let said = answer["result"]["content"][0]["text"].as_str();
        said.map_or_else(|| answer.to_string(), str::to_owned)
    }

    /// Why a cell has ended.
    pub(crate) fn ended(&mut self, of: &str) -> String {
        let ended = self.wait("end", |said| said["of"] == of && said.get("ended").is_some());
        self.wait("close", |said| said["of"] == of && said.get("closed").is_some());
        ended["ended"].as_str().unwrap().to_owned()
    }

    /// Wishes that it ends, and waits until nothing of it is left.
    pub(crate) fn end(&mut self, of: &str) {
        self.wish(&json!({ "do": "end", "of": of }));
        self.wait("end", |said| said["of"] == of && said.get("gone").is_some());
    }

    /// The names of the cells that run, as `fumehood ps` has them.
    pub(crate) fn names(scene: &Scene) -> Vec<String> {
        let listed = scene.run(&["ps", "--json"], "");
        assert_eq!(listed.code, Some(0), "{listed:?}");
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        let mut names: Vec<String> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["name"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned())
            .collect();
        names.sort_unstable();
        names
    }

    /// Takes the wishes away, and waits for the end of everything.
    pub(crate) fn finish(mut self) {
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "it did not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
