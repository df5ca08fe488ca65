//! `config.toml` of whoever runs Fumehood.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    At, Audit, DeclaredSecret, Egress, Hosts, Identity, Key, Limits, Maximum, Peer, Role, Serve, Server,
    Upstream,
};

/// The operator's configuration: `config.toml` in Fumehood's configuration folder.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Fumehood's config.toml")]
pub(crate) struct Operator {
    /// The servers by name: 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }))]
    pub(crate) servers: BTreeMap<At<String>, Server>,
    /// Ceilings of every server that says nothing else, whichever file declares it.
    pub(crate) limits: Option<Limits>,
    /// What holds for model-written code (`fumehood exec`).
    pub(crate) code: Option<Code>,
    /// What no project's file and no command line may exceed.
    pub(crate) maximum: Option<Maximum>,
    /// Names bound to addresses, by name: the only way to an address that is not a public one.
    pub(crate) upstreams: BTreeMap<At<String>, Upstream>,
    /// What holds for every way out.
    pub(crate) egress: Option<Egress>,
    /// Secrets whose value is not in the vault, by name.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$" }))]
    pub(crate) secrets: BTreeMap<At<String>, DeclaredSecret>,
    /// What holds for packages of registries.
    pub(crate) packages: Option<Packages>,
    /// Whose reviews count besides those on this machine.
    pub(crate) review: Option<Review>,
    /// Hosts of servers that no project declares, by the name of the server; as `hosts` of a server.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }))]
    pub(crate) allow: BTreeMap<At<String>, Hosts>,
    /// How `fumehood serve` is reached.
    pub(crate) serve: Option<Serve>,
    /// Issuers whose tokens count, by a name for them.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }))]
    pub(crate) identity: BTreeMap<At<String>, Identity>,
    /// Keys of callers that have no token, by a name for them.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }))]
    pub(crate) keys: BTreeMap<At<String>, Key>,
    /// Users of this machine who come over the Unix socket, by a name for them.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }))]
    pub(crate) peers: BTreeMap<At<String>, Peer>,
    /// What each role may use, by its name.
    #[schemars(extend("propertyNames" = { "minLength": 1, "maxLength": 128 }))]
    pub(crate) roles: BTreeMap<At<String>, Role>,
    /// The record of what was done.
    pub(crate) audit: Option<Audit>,
}

/// What holds for model-written code (`fumehood exec`).
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Code {
    /// Ceilings of model-written code, where the command line says nothing else.
    pub(crate) limits: Option<Limits>,
}

/// What holds for packages of registries.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Packages {
    /// A release younger than this many days is marked before it is accepted; 7 where nothing is said.
    #[schemars(range(min = 0, max = 3650))]
    pub(crate) min_age_days: Option<At<i64>>,
}

/// Whose reviews count besides those on this machine.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Review {
    /// Public keys of reviewers: `ed25519:` and the 32 bytes of the key in Base64, as `fumehood review --new-key` prints
    /// it. What one of them has signed counts as accepted.
    #[schemars(length(max = 64), inner(regex(pattern = r"^ed25519:[A-Za-z0-9+/]{43}=$")))]
    pub(crate) keys: Vec<At<String>>,
}
