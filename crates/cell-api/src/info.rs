//! What a supervisor says about its cell.

use std::path::PathBuf;

use model::{
    exit::{Cause, Exit},
    layer::Layer,
    name::ServerName,
    secret::SecretName,
};
use serde::{Deserialize, Serialize};

use crate::spec::Kind;

/// The answer to `GET /v1/cell`, and to every order that changes the cell's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellInfo {
    /// Name of the cell's folder below `cells/` of the state folder.
    pub id: String,
    /// Name it was created under.
    pub name: ServerName,
    /// Name under which its server is declared, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<ServerName>,
    /// What kind of thing runs in it.
    pub kind: Kind,
    /// Where it stands.
    pub state: CellState,
    /// Host pid of the supervisor.
    pub supervisor: i32,
    /// Host pid of the cell's PID 1, while it runs.
    pub jail: Option<i32>,
    /// Program and arguments of the main process.
    pub command: Vec<String>,
    /// When it was created, RFC 3339.
    pub created: String,
    /// Each layer as it was really set up; empty before the start.
    pub layers: Vec<Layer>,
    /// The secrets it uses; empty before the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretInfo>,
    /// What was done without being asked for, and what could not be: for a person to read.
    pub notes: Vec<String>,
    /// The log file.
    pub log: PathBuf,
    /// Why it ended, once it has.
    pub end: Option<End>,
}

impl CellInfo {
    /// Whether a person who names this means it, among others perhaps: by its name, or by that of its server.
    pub fn is_called(&self, name: &str) -> bool {
        let declared = self.declared.as_ref().map(ServerName::as_str);
        self.name.as_str() == name || declared == Some(name)
    }
}

/// A secret that a cell uses. Its value is nowhere in this API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretInfo {
    /// Which.
    pub name: SecretName,
    /// The variable inside.
    pub variable: String,
    /// How it is held.
    pub state: SecretState,
    /// Where its value may be written, as the binding names them; empty where it is exposed.
    pub hosts: Vec<String>,
}

/// What a cell has of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretState {
    /// A placeholder; the value is written outside.
    Placeholder,
    /// The value itself.
    Exposed,
    /// A placeholder that leads to nothing any more: the secret was removed.
    Removed,
}

/// Where a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// Described, not built.
    Created,
    /// Being built.
    Starting,
    /// Its processes run.
    Running,
    /// Its processes are stopped.
    Frozen,
    /// Nothing of it is left but this record.
    Ended,
}

impl CellState {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Frozen => "frozen",
            Self::Ended => "ended",
        }
    }
}

/// Why a cell ended; also the payload of an attach's exit frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Why.
    pub cause: Cause,
    /// How the process ended, where that is known.
    pub exit: Option<Exit>,
    /// Both in words.
    pub detail: String,
}

/// One process that was started in the cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// Number within the cell; the main process is 1.
    pub id: u32,
    /// Pid inside the cell.
    pub pid: i32,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Whether somebody is attached.
    pub attached: bool,
    /// How it ended, once it has.
    pub exit: Option<Exit>,
}
