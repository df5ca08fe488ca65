//! `fumehood.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Limits, Server};

/// A project's servers: `fumehood.toml`, beside the code that uses them.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "fumehood.toml")]
pub(crate) struct Project {
    /// The servers by name: 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }))]
    pub(crate) servers: BTreeMap<At<String>, Server>,
    /// Ceilings of every server of this file that says nothing else.
    pub(crate) limits: Option<Limits>,
}
