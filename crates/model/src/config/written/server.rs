//! `[servers.NAME]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Data, Hosts, Limits, Lists, Moment, Mount, Secrets, ToolRule, Transport};

/// One MCP server: how it is started, and what of the host it gets.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["command"], "not": { "required": ["args"] } }, { "required": ["source"] }]))]
pub(crate) struct Server {
    /// The program and its arguments. No shell reads them.
    #[schemars(length(min = 1))]
    pub(crate) command: Option<At<Vec<At<String>>>>,
    /// In place of `command`: a package of a registry, `npx:NAME@VERSION` or `uvx:NAME==VERSION`, installed once and
    /// started from the store; or the `https://` URL of a server elsewhere.
    #[schemars(regex(pattern = "^(npx:|uvx:|https://)."))]
    pub(crate) source: Option<At<String>>,
    /// With `source`: arguments of the package's program.
    pub(crate) args: Option<At<Vec<At<String>>>>,
    /// With a `source` that is a URL: headers of every request, by name. `${VARIABLE}` stands for the placeholder of a
    /// secret. Where there is one secret and nothing is said: `authorization = "Bearer ${VARIABLE}"`.
    #[serde(default)]
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9-]{1,64}$" }))]
    pub(crate) headers: BTreeMap<At<String>, At<String>>,
    /// As which client Fumehood presents itself: `plain` where nothing is said, else the capabilities that the server
    /// may count on.
    #[schemars(regex(pattern = "^(plain|elicitation|roots|elicitation\\+roots|roots\\+elicitation)$"))]
    pub(crate) client: Option<At<String>>,
    /// How its lists are read for the review: `offline` where nothing is said, or `keys`, with its secrets and hosts, for a
    /// server that lists nothing without.
    pub(crate) lists: Option<Lists>,
    /// When it is started: `now` where nothing is said, with its client's session, or `lazy`, at the first call. What it
    /// lists is known before.
    pub(crate) start: Option<Moment>,
    /// Packages whose install scripts may run, by name.
    #[serde(default)]
    #[schemars(inner(length(min = 1)))]
    pub(crate) allow_scripts: Vec<At<String>>,
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
    /// Whose cell it runs in behind `fumehood serve`: `server` where nothing is said, one for all callers; `user`, one for
    /// each; or `group:NAME`, one of this name.
    #[schemars(regex(pattern = "^(server|user|group:[A-Za-z0-9][A-Za-z0-9._-]{0,63})$"))]
    pub(crate) cell: Option<At<String>>,
    /// In the operator's file: `guarded` where nothing is said, or `pass-through`, where results and server-initiated
    /// requests are passed on as they are.
    pub(crate) profile: Option<At<Guarding>>,
    /// What holds for calls of its tools, by their names.
    #[serde(default)]
    #[schemars(extend("propertyNames" = { "minLength": 1, "maxLength": 256 }))]
    pub(crate) tools: BTreeMap<At<String>, ToolRule>,
}

/// What is done with what a server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Guarding {
    /// Results are bounded and marked, and what it asks of its callers is judged.
    Guarded,
    /// It is passed on as it is.
    PassThrough,
}
