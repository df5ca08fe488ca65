//! The reasons of refusals.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The reasons there are. Each has one page under its code in the reference of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Code {
    /// No rule names the host.
    #[serde(rename = "FH-EGRESS-HOST")]
    Host,
    /// A rule names the host, none this port.
    #[serde(rename = "FH-EGRESS-PORT")]
    Port,
    /// What was asked for is no host name: an IP address, or garbage.
    #[serde(rename = "FH-EGRESS-NAME")]
    Name,
    /// A name under a wildcard that is too long, has too many labels, or comes too fast after others.
    #[serde(rename = "FH-EGRESS-WILDCARD")]
    Wildcard,
    /// The name stands for an address that is never dialled.
    #[serde(rename = "FH-EGRESS-ADDRESS")]
    Address,
    /// The name stands for no address.
    #[serde(rename = "FH-EGRESS-RESOLVE")]
    Resolve,
    /// No address of the name took the connection in time.
    #[serde(rename = "FH-EGRESS-CONNECT")]
    Connect,
    /// The operator's proxy did not connect.
    #[serde(rename = "FH-EGRESS-PROXY")]
    Proxy,
    /// The server name in the TLS greeting is not the host that was looked up.
    #[serde(rename = "FH-EGRESS-SNI")]
    Sni,
    /// A TLS greeting without a server name.
    #[serde(rename = "FH-EGRESS-SNI-MISSING")]
    SniMissing,
    /// A TLS greeting with an encrypted part.
    #[serde(rename = "FH-EGRESS-ECH")]
    Ech,
    /// Something else than TLS on a port for TLS.
    #[serde(rename = "FH-EGRESS-NOT-TLS")]
    NotTls,
    /// Something else than HTTP/1.1 on a port for HTTP, or a request that can be read in two ways.
    #[serde(rename = "FH-EGRESS-NOT-HTTP")]
    NotHttp,
    /// The host in an HTTP request is not the host that was looked up.
    #[serde(rename = "FH-EGRESS-HOST-HEADER")]
    HostHeader,
    /// `TRACE`, `CONNECT` or another method that is not passed on.
    #[serde(rename = "FH-EGRESS-METHOD")]
    Method,
    /// An `Upgrade` other than to WebSocket.
    #[serde(rename = "FH-EGRESS-UPGRADE")]
    Upgrade,
    /// More or larger headings than are read.
    #[serde(rename = "FH-EGRESS-SIZE")]
    Size,
    /// More connections at once, or a longer silence, than a cell may have.
    #[serde(rename = "FH-EGRESS-LIMIT")]
    Limit,
    /// The host was taken from the cell while the connection was open or being made.
    #[serde(rename = "FH-EGRESS-REMOVED")]
    Removed,
    /// The rules of the host do not take the method of the request.
    #[serde(rename = "FH-REQUEST-METHOD")]
    RequestMethod,
    /// The rules of the host do not take the path of the request, or it can be read in two ways.
    #[serde(rename = "FH-REQUEST-PATH")]
    RequestPath,
    /// A request to a host with a key of the cell holds a credential that is not the cell's placeholder.
    #[serde(rename = "FH-CREDENTIAL-FOREIGN")]
    CredentialForeign,
    /// A placeholder stands where its key is not written: another host, method, path or place.
    #[serde(rename = "FH-SECRET-PLACE")]
    SecretPlace,
    /// The answer of a host with a key is encoded so that the key could not be found in it.
    #[serde(rename = "FH-SECRET-ENCODING")]
    SecretEncoding,
    /// The key of a request under way was taken from the cell, or bound to other requests.
    #[serde(rename = "FH-SECRET-REMOVED")]
    SecretRemoved,
    /// The test of a key on the wire failed before the server was started.
    #[serde(rename = "FH-SECRET-SELFTEST")]
    SecretSelftest,
    /// The host did not prove to be the one its name says, or speaks no TLS we know.
    #[serde(rename = "FH-EGRESS-UPSTREAM-TLS")]
    UpstreamTls,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 27] = [
        Self::Host,
        Self::Port,
        Self::Name,
        Self::Wildcard,
        Self::Address,
        Self::Resolve,
        Self::Connect,
        Self::Proxy,
        Self::Sni,
        Self::SniMissing,
        Self::Ech,
        Self::NotTls,
        Self::NotHttp,
        Self::HostHeader,
        Self::Method,
        Self::Upgrade,
        Self::Size,
        Self::Limit,
        Self::Removed,
        Self::RequestMethod,
        Self::RequestPath,
        Self::CredentialForeign,
        Self::SecretPlace,
        Self::SecretEncoding,
        Self::SecretRemoved,
        Self::SecretSelftest,
        Self::UpstreamTls,
    ];

    /// The stable code, the same in the answer, the log and the reference.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "FH-EGRESS-HOST",
            Self::Port => "FH-EGRESS-PORT",
            Self::Name => "FH-EGRESS-NAME",
            Self::Wildcard => "FH-EGRESS-WILDCARD",
            Self::Address => "FH-EGRESS-ADDRESS",
            Self::Resolve => "FH-EGRESS-RESOLVE",
            Self::Connect => "FH-EGRESS-CONNECT",
            Self::Proxy => "FH-EGRESS-PROXY",
            Self::Sni => "FH-EGRESS-SNI",
            Self::SniMissing => "FH-EGRESS-SNI-MISSING",
            Self::Ech => "FH-EGRESS-ECH",
            Self::NotTls => "FH-EGRESS-NOT-TLS",
            Self::NotHttp => "FH-EGRESS-NOT-HTTP",
            Self::HostHeader => "FH-EGRESS-HOST-HEADER",
            Self::Method => "FH-EGRESS-METHOD",
            Self::Upgrade => "FH-EGRESS-UPGRADE",
            Self::Size => "FH-EGRESS-SIZE",
            Self::Limit => "FH-EGRESS-LIMIT",
            Self::Removed => "FH-EGRESS-REMOVED",
            Self::RequestMethod => "FH-REQUEST-METHOD",
            Self::RequestPath => "FH-REQUEST-PATH",
            Self::CredentialForeign => "FH-CREDENTIAL-FOREIGN",
            Self::SecretPlace => "FH-SECRET-PLACE",
            Self::SecretEncoding => "FH-SECRET-ENCODING",
            Self::SecretRemoved => "FH-SECRET-REMOVED",
            Self::SecretSelftest => "FH-SECRET-SELFTEST",
            Self::UpstreamTls => "FH-EGRESS-UPSTREAM-TLS",
        }
    }

    /// The HTTP status an answer with this code has.
    pub fn status(self) -> u16 {
        match self {
            Self::NotHttp => 400,
            Self::Size => 431,
            Self::Limit => 429,
            Self::Resolve | Self::Proxy | Self::UpstreamTls | Self::SecretEncoding => 502,
            Self::SecretSelftest => 503,
            Self::Connect => 504,
            _ => 403,
        }
    }

    /// What happened, without its object.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Host => "no rule of this server names the host",
            Self::Port => "a rule of this server names the host, but not this port",
            Self::Name => "this is not a host name",
            Self::Wildcard => "a name under a wildcard was refused",
            Self::Address => "the host stands for an address that is never dialled",
            Self::Resolve => "the host has no address",
            Self::Connect => "no address of the host took the connection",
            Self::Proxy => "the operator's proxy did not connect",
            Self::Sni => "the server name in the TLS greeting is another one",
            Self::SniMissing => "the TLS greeting names no server",
            Self::Ech => "the TLS greeting is encrypted (ECH), so nobody can tell for whom it is",
            Self::NotTls => "this port is for TLS, and something else arrived",
            Self::NotHttp => "this port is for HTTP/1.1, and something else arrived",
            Self::HostHeader => "the request names another host",
            Self::Method => "this method is not passed on",
            Self::Upgrade => "this upgrade is not passed on",
            Self::Size => "the headings are too many or too large",
            Self::Limit => "a ceiling of the cell's network was reached",
            Self::Removed => "the host was taken from this server",
            Self::RequestMethod => "no rule of this server takes this method here",
            Self::RequestPath => "no rule of this server takes this path",
            Self::CredentialForeign => "the request holds a credential that is not this server's",
            Self::SecretPlace => "the placeholder of a key stands where the key is not bound to",
            Self::SecretEncoding => "the answer is encoded so that a key could not be found in it",
            Self::SecretRemoved => "the key of this request was taken from this server, or bound otherwise",
            Self::SecretSelftest => "the test of a key on the wire failed",
            Self::UpstreamTls => "the host could not prove who it is",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
