//! The official MCP clients, as their users run them: `clients/call.mjs` and `clients/call.py`.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
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
        let text = |word: &OsStr| word.to_str().unwrap().to_owned();
        let words: Vec<String> =
            std::iter::once(server.get_program()).chain(server.get_args()).map(text).collect();
        let variables: serde_json::Map<String, Value> = server
            .get_envs()
            .filter_map(|(name, value)| Some((text(name), Value::String(text(value?)))))
            .collect();
        self.session(world, json!({"command": words, "env": variables, "calls": calls}))
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
