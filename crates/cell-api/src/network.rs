//! The network of a cell: what it may reach, and what became of that.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

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

/// The protocol a connection is upgraded to by `POST /v1/cell/connect`: the bytes of a TCP connection.
pub const TCP_PROTOCOL: &str = "fumehood-tcp/1";

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
    /// Files with certificates (PEM) that count as roots, for connections that are looked into.
    pub extra_roots: Vec<PathBuf>,
    /// Where services of Fumehood listen on this machine: no setting leads there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<SocketAddr>,
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
    /// The generation of the list this one was made from: refused when another change came in between, which would be
    /// undone otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_generation: Option<u64>,
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
    /// The method of the request; `GET` where none is given. Without one, and without a path in the URL, only the
    /// connection is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}

/// The answer to `POST /v1/cell/network/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAnswer {
    /// The host as it would be judged.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The rule that lets it through; none if no rule does.
    pub rule: Option<String>,
    /// What is spoken on the port: `tls`, `http` or `tcp`.
    pub kind: Option<String>,
    /// Whether TLS is taken off there, and requests are looked at one by one.
    #[serde(default)]
    pub inspect: bool,
    /// The request that was judged, as `GET /path`; none where only the connection was.
    #[serde(default)]
    pub request: Option<String>,
    /// Where the connection would go; empty if it is refused.
    pub way: Vec<String>,
    /// Why it would be refused.
    pub refusal: Option<Refusal>,
}

/// Something that is not let out of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The stable code.
    pub code: String,
    /// What happened, with its object.
    pub message: String,
    /// The host as asked for.
    pub host: String,
    /// The TCP port, where one is known.
    pub port: Option<u16>,
    /// The rule that was the reason; none where the reason is that there is none.
    pub rule: Option<String>,
    /// What would allow it.
    pub remedy: String,
}
