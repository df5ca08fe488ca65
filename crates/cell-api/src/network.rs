//! The network of a cell: what it may reach, and what became of that.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// What a cell may reach. Without hosts: nothing, and every name is answered with "there is no such name".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkSpec {
    /// Rules, each `host`, `*.suffix`, `host:port`, `http://host`, `https://host` or `tcp://host:port`.
    pub hosts: Vec<String>,
    /// Whether there is an explicit HTTP proxy inside too, named by the usual variables.
    pub proxy_env: bool,
    /// The operator's part; never a project's.
    pub operator: OperatorNetwork,
}

/// What only the operator's file may say about the way out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OperatorNetwork {
    /// Names bound to addresses.
    pub upstreams: BTreeMap<String, UpstreamSpec>,
    /// The proxy of the house, `http://host:port`, that every other connection takes.
    pub upstream_proxy: Option<String>,
    /// Whether that proxy, rather than this machine, turns names into addresses.
    pub proxy_resolves: bool,
}

/// A name bound to an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamSpec {
    /// `10.1.2.3:443`, `10.1.2.3`, `[fd00::1]:443` or `fd00::1`.
    pub address: String,
    /// Whether it may be an address of this machine.
    #[serde(default)]
    pub loopback: bool,
    /// The certificate authority of this host (PEM), for connections that are looked into.
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

/// The body of `PUT /v1/cell/network`: the whole list, in place of the present one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkOrder {
    /// As in [`NetworkSpec::hosts`].
    pub hosts: Vec<String>,
}

/// The answer to `PUT /v1/cell/network`. When it is there, everything the new list does not allow has been cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkChanged {
    /// The list in force, in its normal form.
    pub hosts: Vec<String>,
    /// Counts the changes.
    pub generation: u64,
    /// Connections that were reset, on both halves.
    pub cut: usize,
    /// Connections that go on.
    pub kept: usize,
    /// Ports inside that could not be opened, each with the reason.
    pub unopened: Vec<String>,
}

/// The answer to `GET /v1/cell/network`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkInfo {
    /// The list in force, in its normal form.
    pub hosts: Vec<String>,
    /// Counts the changes.
    pub generation: u64,
    /// Connections there are now.
    pub flows: usize,
    /// What went through each rule since the start, by the rule's text; refusals without a rule under `other`.
    pub usage: BTreeMap<String, RuleUsage>,
}

/// What went through one rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleUsage {
    /// Connections made.
    pub connections: u64,
    /// Connections open now.
    pub open: u64,
    /// Refusals.
    pub refused: u64,
    /// Bytes that left the cell.
    pub sent: u64,
    /// Bytes that came into the cell.
    pub received: u64,
}

/// The body of `POST /v1/cell/network/check`: what would happen to this request?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckOrder {
    /// A URL.
    pub url: String,
}
