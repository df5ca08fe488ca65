//! `tools` of a server.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{At, Size};

/// What holds for calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolRule {
    /// How much it can do: 1 where it only reads, 2 where it changes something (where nothing is said), 3 where a person
    /// approves each call.
    #[schemars(range(min = 1, max = 3))]
    pub(crate) tier: Option<At<i64>>,
    /// Parameters that no caller sees or sets, by name: `subject`, `tenant`, `issuer`, or `claims.NAME` for a claim of the
    /// caller's token.
    #[schemars(extend(
        "propertyNames" = { "minLength": 1, "maxLength": 256 },
        "additionalProperties" = { "type": "string", "pattern": r"^(subject|tenant|issuer|claims\..+)$" },
    ))]
    pub(crate) bind: BTreeMap<At<String>, At<String>>,
    /// Values of parameters that a caller leaves out, by name.
    #[schemars(extend("propertyNames" = { "minLength": 1, "maxLength": 256 }))]
    pub(crate) defaults: BTreeMap<At<String>, At<Value>>,
    /// The most bytes of a call's arguments.
    pub(crate) max_bytes: Option<At<Size>>,
    /// The most calls of one caller at a time.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) concurrency: Option<At<i64>>,
    /// The most calls of one caller in a time: `60/m`; the units are s, m, h and d.
    #[schemars(regex(pattern = "^[0-9]+/[smhd]$"))]
    pub(crate) rate: Option<At<String>>,
    /// How long a call may take: `10ms` to `24h`.
    #[schemars(regex(pattern = "^[0-9]+ *(ms|s|m|h|d)$"))]
    pub(crate) time: Option<At<String>>,
}
