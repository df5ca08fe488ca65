//! The folders of one run, and the run itself.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::account::Account;
use crate::recording::Recording;
use crate::scenario::{Scenario, outcomes};

/// Which official client speaks to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    TypeScript,
    Python,
}

/// Set in the client's environment; no server that runs confined may see it.
const CANARY: &str = "canary-of-the-host";

/// A server's scenario with folders of its own.
#[derive(Debug)]
pub(crate) struct World {
    server: String,
    client: Client,
    account: Account,
    folder: TempDir,
}

impl World {
    pub(crate) fn new(server: &str, client: Client, account: Account) -> Self {
        let folder = TempDir::with_prefix("fumehood-servers-").unwrap();
        for name in ["work", "data", "home", "state", "record"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::copy(clients().join(client.program()), folder.path().join(client.program())).unwrap();
        Self { server: server.to_owned(), client, account, folder }
    }

    /// Runs the scenario with nothing around the server.
    pub(crate) fn bare(&self) -> Recording {
        let data = self.path("data").display().to_string();
        let scenario = self.scenario(&data);
        self.prepare(&scenario);
        let recording = self.session("bare", &scenario.command, &json!(scenario.env), &scenario.steps);
        check_left(&scenario);
        recording
            .with_place(&data, "/data")
            .with_place(&self.path("work").display().to_string(), "/work-folder")
    }

    /// Runs the scenario in a cell.
    pub(crate) fn confined(&self) -> Recording {
        let scenario = self.scenario("/data");
        self.prepare(&scenario);
        let recording =
            self.session("confined", &self.around(&scenario), &self.launch_env(), &scenario.steps);
        check_left(&scenario);
        recording.with_place(&self.path("work").display().to_string(), "/work-folder")
    }

    /// Starts the same cell again, with the data and mounts the first session left.
    pub(crate) fn once_more(&self) {
        let scenario = self.scenario("/data");
        let Some(again) = &scenario.again else { return };
        let recording = self.session("again", &self.around(&scenario), &self.launch_env(), &again.steps);
        assert!(
            recording.received().contains(&again.holds),
            "`{}` is missing:\n{}",
            again.holds,
            recording.received()
        );
        if let Some(word) = &again.lacks {
            assert!(
                !recording.received().contains(word),
                "`{word}` is visible inside:\n{}",
                recording.received()
            );
        }
        check_left(&scenario);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn scenario(&self, data: &str) -> Scenario {
        let cache = cache();
        let in_cache = |name: &str| cache.join(name).display().to_string();
        Scenario::read(
            &self.server,
            &[
                ("npm", in_cache("npm")),
                ("python-current", in_cache("python-current")),
                ("python-sqlite", in_cache("python-sqlite")),
                ("work", self.path("work").display().to_string()),
                ("data", data.to_owned()),
                ("canary", CANARY.to_owned()),
            ],
        )
    }

    fn prepare(&self, scenario: &Scenario) {
        for (path, text) in &scenario.files {
            fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        if let Some(repository) = &scenario.repository {
            make_repository(Path::new(repository));
        }
        self.account.hand_over(self.folder.path());
    }

    /// The server's command with the product in front.
    fn around(&self, scenario: &Scenario) -> Vec<String> {
        let mut words = vec![programs().join("fumehood").display().to_string()];
        words.extend(["run", "--unreviewed", "--name", &self.server].map(str::to_owned));
        words.extend(scenario.mounts.iter().flat_map(|mount| ["--mount".to_owned(), mount.clone()]));
        words.extend(
            scenario.env.iter().flat_map(|(name, value)| ["--env".to_owned(), format!("{name}={value}")]),
        );
        if scenario.data {
            words.extend(["--data".to_owned(), format!("{}:16MiB", self.server)]);
        }
        words.push("--".to_owned());
        words.extend(scenario.command.iter().cloned());
        words
    }

    fn launch_env(&self) -> Value {
        let state = self.path("state").display().to_string();
        json!({
            "XDG_STATE_HOME": state,
            "XDG_DATA_HOME": state,
            "XDG_CONFIG_HOME": state,
            "XDG_RUNTIME_DIR": state,
            "FUMEHOOD_TEST_CANARY": CANARY,
        })
    }

    /// Lets the client run `steps` against `command`, and reads what crossed the pipes.
    fn session(&self, name: &str, command: &[String], server_env: &Value, steps: &[Value]) -> Recording {
        let file = |what: &str| self.path("record").join(format!("{name}.{what}"));
        let job = json!({
            "packages": cache().join("npm"),
            "command": command,
            "env": server_env,
            "sent": file("sent"),
            "received": file("received"),
            "steps": steps,
        });
        fs::write(file("job"), job.to_string()).unwrap();
        let output = self
            .account
            .command(&self.client.interpreter())
            .arg(self.path(self.client.program()))
            .arg(file("job"))
            .current_dir(self.path("work"))
            .env("HOME", self.path("home"))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: the client failed ({}):\n{errors}", output.status);
        let told: Value = serde_json::from_slice(&output.stdout).expect("the client prints one line of JSON");
        let outcomes_told: Vec<&str> =
            told["outcomes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(outcomes_told, outcomes(steps), "{name}: {errors}");
        Recording::read(&file("sent"), &file("received"))
    }
}

impl Client {
    fn program(self) -> &'static str {
        match self {
            Self::TypeScript => "record.mjs",
            Self::Python => "record.py",
        }
    }

    fn interpreter(self) -> PathBuf {
        match self {
            Self::TypeScript => PathBuf::from("node"),
            Self::Python => cache().join("python-current/bin/python"),
        }
    }
}

/// The host must be left as the scenario says.
fn check_left(scenario: &Scenario) {
    for (path, text) in &scenario.left {
        let found = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(found.contains(text), "{path} holds {found:?}");
    }
    for path in &scenario.absent {
        assert!(!Path::new(path).exists(), "{path} was written");
    }
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

fn cache() -> PathBuf {
    env::var_os("FUMEHOOD_CACHE").map_or_else(|| checkout().join(".cache"), PathBuf::from)
}

fn programs() -> PathBuf {
    env::var_os("FUMEHOOD_BIN_DIR").map_or_else(|| checkout().join("target/debug"), PathBuf::from)
}

/// A repository with one commit and one change, the same every time.
fn make_repository(folder: &Path) {
    fs::create_dir(folder).unwrap();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .envs([
                ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
                ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
            ])
            .output()
            .unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "A Chemist"]);
    git(&["config", "user.email", "chemist@example.org"]);
    fs::write(folder.join("notes.txt"), "one\n").unwrap();
    git(&["add", "notes.txt"]);
    git(&["commit", "-q", "-m", "First notes"]);
    fs::write(folder.join("notes.txt"), "one\ntwo\n").unwrap();
}
