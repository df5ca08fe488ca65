//! `[servers.NAME]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Data, Hosts, Limits, Mount, Secrets, Transport};

/// One MCP server: how it is started, and what of the host it gets.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    /// The program and its arguments. No shell reads them.
    #[schemars(required, length(min = 1))]
    pub(crate) command: Option<At<Vec<At<String>>>>,
    /// Environment variables besides `PATH`, `HOME`, `LANG` and `TMPDIR`, which are always there. `HOME` and `TMPDIR`
    /// cannot be changed.
    #[serde(default)]
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "enum": ["HOME", "TMPDIR"] } }))]
    pub(crate) env: BTreeMap<At<String>, At<String>>,
    /// Folders and files of the host that are visible inside, at the same path.
    #[serde(default)]
    pub(crate) mounts: Vec<At<Mount>>,
    /// A persistent folder at `/data`.
    pub(crate) data: Option<At<Data>>,
    /// Secrets it uses, as names or as a table of variables and secrets. Each variable holds a placeholder; the real value
    /// is written outside of the cell, into requests to the secret's own hosts.
    #[serde(default)]
    pub(crate) secrets: Secrets,
    /// Ceilings of this server.
    pub(crate) limits: Option<Limits>,
    /// What it may reach, as a list of rules or as a table of hosts with the requests they may get.
    #[serde(default)]
    pub(crate) hosts: Hosts,
    /// Ports for raw TCP on each of `hosts` that is written as a name alone.
    #[serde(default)]
    #[schemars(inner(range(min = 1, max = 65535)))]
    pub(crate) ports: Vec<At<i64>>,
    /// Whether there is an explicit HTTP proxy inside, named by the usual variables, for tools that insist on one.
    #[serde(default)]
    pub(crate) proxy_env: bool,
    /// How it speaks MCP: `stdio` where nothing is said, or `http`.
    pub(crate) transport: Option<At<Transport>>,
    /// With `transport = "http"`: the TCP port it listens on inside.
    #[schemars(range(min = 1, max = 65535))]
    pub(crate) port: Option<At<i64>>,
}
