//! `[servers.NAME]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Data, Limits, Mount};

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
    /// Ceilings of this server.
    pub(crate) limits: Option<Limits>,
}
