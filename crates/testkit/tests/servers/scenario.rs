//! What is done with a server, as written in `clients/scenarios/*.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// One scenario. `{npm}`, `{python-…}`, `{work}`, `{data}` and `{canary}` stand for folders and a word of the run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The server and its arguments.
    pub(crate) command: Vec<String>,
    /// What the server must see of the host, as `fumehood run --mount` takes it.
    pub(crate) mounts: Vec<String>,
    /// Whether it has a folder for its data.
    #[serde(default)]
    pub(crate) data: bool,
    /// Its environment.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Files that are there before it starts.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// A git repository that is there before it starts.
    pub(crate) repository: Option<String>,
    /// What a client asks, bare and confined.
    pub(crate) steps: Vec<Value>,
    /// What a client asks in a second, confined session.
    pub(crate) again: Option<Again>,
    /// Host files that must be there afterwards, and what they hold.
    #[serde(default)]
    pub(crate) left: BTreeMap<String, String>,
    /// Host files that must not be there afterwards.
    #[serde(default)]
    pub(crate) absent: Vec<String>,
}

/// A second session with the same data and mounts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Again {
    /// What a client asks.
    pub(crate) steps: Vec<Value>,
    /// What the server's lines must hold.
    pub(crate) holds: String,
    /// What they must not hold.
    pub(crate) lacks: Option<String>,
}

impl Scenario {
    /// Reads a server's scenario and puts folders in the places of their names.
    pub(crate) fn read(server: &str, places: &[(&str, String)]) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("clients/scenarios/{server}.json"));
        let mut text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (name, value) in places {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// What the client must report for each step.
pub(crate) fn outcomes(steps: &[Value]) -> Vec<&str> {
    steps
        .iter()
        .map(|step| match step.get("outcome").and_then(Value::as_str) {
            Some(outcome) => outcome,
            None if step.get("list").is_some() => "listed",
            None if step.get("prompt").is_some() => "prompt",
            None if step.get("read").is_some() => "read",
            None => "ok",
        })
        .collect()
}
