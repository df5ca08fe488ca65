//! `[upstreams]`, `[egress]` and `transport`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::At;

/// How a server speaks MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// By its stdin and stdout.
    Stdio,
    /// By HTTP, on a port inside its cell.
    Http,
}

/// How the lists of a server are read for the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Lists {
    /// Without network and keys.
    Offline,
    /// With its hosts and secrets.
    Keys,
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Moment {
    /// When its client begins a session.
    Now,
    /// When the first call comes.
    Lazy,
}

/// A name bound to an address.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Upstream {
    /// `10.1.2.3:443`, `10.1.2.3`, `[fd00::1]:443` or `fd00::1`. Without a port, that of the connection.
    #[schemars(required, length(min = 1))]
    pub(crate) address: Option<At<String>>,
    /// Whether it may be an address of this machine.
    #[serde(default)]
    pub(crate) loopback: bool,
    /// A file with the certificate authority of the host (PEM), for connections that are looked into.
    #[schemars(length(min = 1))]
    pub(crate) ca: Option<At<String>>,
}

/// What holds for every way out.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Egress {
    /// The proxy of the house, `http://host:port`, that every connection takes but those to `[upstreams]`.
    pub(crate) upstream_proxy: Option<At<String>>,
    /// Whether that proxy, rather than this machine, turns names into addresses. Then it alone decides where they lead.
    pub(crate) proxy_resolves: bool,
    /// Files with certificates (PEM) that count as roots beside those of the system, for connections that are looked
    /// into.
    #[schemars(inner(length(min = 1)))]
    pub(crate) extra_roots: Vec<At<String>>,
}
