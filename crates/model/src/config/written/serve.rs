//! `[serve]` and `[audit]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Size};

/// How `fumehood serve` is reached, and its bounds.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Serve {
    /// The IP address and port it listens on; `127.0.0.1:8300` where nothing is said. Any other than a loopback address
    /// needs an identity provider and `url`.
    #[schemars(length(min = 3))]
    pub(crate) listen: Option<At<String>>,
    /// The public base URL, by which callers reach it; `https`, or `http` for this machine.
    #[schemars(regex(pattern = "^https?://."))]
    pub(crate) url: Option<At<String>>,
    /// What a `Host` header may say besides loopback names and the host of `url`: a name, or a name and a port.
    #[schemars(inner(length(min = 1)))]
    pub(crate) hosts: Vec<At<String>>,
    /// What an `Origin` header may say besides loopback ones, such as `https://app.example.com`; without any no web page of
    /// another host gets an answer.
    #[schemars(inner(regex(pattern = "^https?://[^/]+$")))]
    pub(crate) origins: Vec<At<String>>,
    /// The largest body of a request: 1 KiB to 64 MiB; 4 MiB where nothing is said.
    pub(crate) max_body: Option<At<Size>>,
    /// How long calls may go on after it is told to stop, up to `10m`; `30s` where nothing is said.
    #[schemars(regex(pattern = "^[0-9]+ *(ms|s|m|h|d)$"))]
    pub(crate) drain: Option<At<String>>,
    /// After how long without a call a cell is frozen: `1s` to `30d`; `1m` where nothing is said.
    #[schemars(regex(pattern = "^[0-9]+ *(ms|s|m|h|d)$"))]
    pub(crate) idle_freeze: Option<At<String>>,
    /// After how long without a call a cell is stopped: `1s` to `30d`, longer than `idle_freeze`; `15m` where nothing is
    /// said. The next call starts it again.
    #[schemars(regex(pattern = "^[0-9]+ *(ms|s|m|h|d)$"))]
    pub(crate) idle_stop: Option<At<String>>,
    /// The most sessions at a time; 1000 where nothing is said.
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) max_sessions: Option<At<i64>>,
}

/// The record of what was done.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Audit {
    /// A file on another volume that signed checkpoints of the record are written to.
    #[schemars(length(min = 1))]
    pub(crate) checkpoints: Option<At<String>>,
    /// Whether arguments and results are kept as they are; else only their digests are.
    pub(crate) bodies: bool,
}
