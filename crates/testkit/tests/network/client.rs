//! The official MCP clients, as their users run them: `clients/call.mjs` and `clients/call.py`.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::world::{Caller, World};

/// How long a session may take: packages are fetched before its first answer.
const PATIENCE: Duration = Duration::from_secs(100);

/// Which official client speaks to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    TypeScript,
    Python,
}

/// How long the first list of tools is waited for.
const FIRST_WITHIN: Duration = Duration::from_secs(20);

/// What a session came to.
#[derive(Debug)]
pub(crate) struct Session {
    /// The server's name, its tools (name and description), and the result of each call.
    pub(crate) told: Value,
    /// What client and server said on stderr, the product in front of it too.
    pub(crate) stderr: String,
}

impl Client {
    /// Who can run it: its Python environment may lie where only the owner of the test run may go.
    pub(crate) fn callers(self) -> Vec<Caller> {
        let callers = Caller::all();
        if self == Self::TypeScript { callers } else { callers.into_iter().take(1).collect() }
    }

    /// Lists the tools of a server over stdio, and performs the calls.
    pub(crate) fn speak(self, world: &World, server: &Command, calls: &Value) -> Session {
        self.session(world, stdio(server, calls))
    }

    /// The same, beginning by `initialize` as with a server that knows nothing newer.
    pub(crate) fn shake_hands(self, world: &World, server: &Command, calls: &Value) -> Session {
        let mut job = stdio(server, calls);
        job["handshake"] = json!(true);
        self.session(world, job)
    }

    /// The same of a server that nobody has accepted: `accept` gets the tools that it had first, and only when the server
    /// then says of itself that it has others the session goes on.
    pub(crate) fn wait(
        self,
        world: &World,
        server: &Command,
        calls: &Value,
        accept: impl FnOnce(&Value),
    ) -> Session {
        let listed = world.path("home/first.json");
        let mut job = stdio(server, calls);
        job["waits"] = json!(listed);
        thread::scope(|scope| {
            let session = scope.spawn(move || self.session(world, job));
            let deadline = Instant::now() + FIRST_WITHIN;
            let first: Value = loop {
                let text = std::fs::read_to_string(&listed).unwrap_or_default();
                if let Ok(first) = serde_json::from_str(&text) {
                    break first;
                }
                assert!(Instant::now() < deadline, "no list of tools: a client would not wait longer");
                thread::sleep(Duration::from_millis(20));
            };
            accept(&first);
            session.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        })
    }

    /// The same over streamable HTTP.
    pub(crate) fn visit(self, world: &World, url: &str, calls: &Value) -> Session {
        self.session(world, json!({"url": url, "calls": calls}))
    }

    fn session(self, world: &World, mut job: Value) -> Session {
        job["packages"] = json!(packages().join("npm"));
        let job = world.make_file("job.json", &job.to_string(), 0o644).unwrap();
        let (interpreter, name) = match self {
            Self::TypeScript => (PathBuf::from("node"), "call.mjs"),
            Self::Python => (packages().join("python-current/bin/python"), "call.py"),
        };
        // The checkout need not be open to the caller.
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name));
        let program = world.make_file(name, &text.unwrap(), 0o644).unwrap();
        let mut command = world.program(&interpreter);
        let ran = world.run_within(PATIENCE, command.arg(program).arg(job), "").unwrap();
        assert!(!ran.late && ran.code == Some(0) && ran.remains.is_empty(), "{self:?}: {ran:?}");
        let told = serde_json::from_str(&ran.stdout).unwrap();
        Session { told, stderr: ran.stderr }
    }
}

/// The job of a client that starts this.
fn stdio(server: &Command, calls: &Value) -> Value {
    let text = |word: &OsStr| word.to_str().unwrap().to_owned();
    let words: Vec<String> =
        std::iter::once(server.get_program()).chain(server.get_args()).map(text).collect();
    let variables: serde_json::Map<String, Value> = server
        .get_envs()
        .filter_map(|(name, value)| Some((text(name), Value::String(text(value?)))))
        .collect();
    json!({"command": words, "env": variables, "calls": calls})
}

impl Session {
    /// The names of its tools.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let tools = self.told["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
    }
}

/// Where `./x` keeps what it installs for the tests.
pub(crate) fn packages() -> PathBuf {
    env::var_os("FUMEHOOD_CACHE")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cache")), PathBuf::from)
}

/// The script of the server with all features, where it is among the test packages.
pub(crate) fn everything() -> Option<PathBuf> {
    let script = packages().join("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    script.is_file().then_some(script)
}
