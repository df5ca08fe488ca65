//! What a cell is created from.

use std::{collections::BTreeMap, path::PathBuf};

use model::{
    limits::Limits,
    mount::{Data, Mount},
    name::ServerName,
    secret::SecretUse,
};
use serde::{Deserialize, Serialize};

use crate::network::NetworkSpec;

/// The body of `PUT /v1/cell`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// Under which name it is listed and logged.
    pub name: ServerName,
    /// Under which name it is declared, where it has another one because each user or group has a cell of the server:
    /// what a person changes about it, one changes under that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<ServerName>,
    /// What kind of thing runs in it.
    #[serde(default)]
    pub kind: Kind,
    /// Program and arguments of the main process.
    pub command: Vec<String>,
    /// What its environment holds besides what every cell has.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What of the host is visible besides the runtimes.
    #[serde(default)]
    pub mounts: Vec<Mount>,
    /// A persistent folder with a quota.
    #[serde(default)]
    pub data: Option<Data>,
    /// A folder of Fumehood's own store, shown read-only at `/package`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<PathBuf>,
    /// The ceilings; the defaults of `kind` where absent.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// What it may reach.
    #[serde(default)]
    pub network: NetworkSpec,
    /// The secrets it uses. Their values come to the supervisor another way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretUse>,
    /// Working folder inside; `/workspace` where absent.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// How long the cell lives without anybody connected.
    #[serde(default)]
    pub lease: Lease,
}

impl CellSpec {
    /// The ceilings as asked for, or the defaults of the kind.
    pub fn effective_limits(&self) -> Limits {
        self.limits.clone().unwrap_or_else(|| match self.kind {
            Kind::Server => Limits::server(),
            Kind::Code => Limits::code(),
        })
    }
}

/// What kind of thing a cell runs: it decides the default limits, nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A declared server.
    #[default]
    Server,
    /// Code that a model wrote.
    Code,
}

/// What keeps a cell alive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Lease {
    /// The connection the supervisor was started with: the cell ends at once when that closes.
    #[default]
    Connection,
    /// Any connection: the cell ends when there has been none for this long.
    Grace {
        /// Milliseconds.
        ms: u64,
    },
}

/// The body of `POST /v1/processes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessSpec {
    /// Program and arguments.
    pub command: Vec<String>,
    /// What its environment holds besides what every process of the cell has.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Working folder inside; the cell's where absent.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
}
