//! What was refused, by which rule, and what would allow it.

use std::fmt;

use model::name::ServerName;
use serde::{Deserialize, Serialize};

use crate::name::{HostName, shown, shown_long, spelled_address};
use crate::rule::HostRule;

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
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 19] = [
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
        }
    }

    /// The HTTP status an answer with this code has.
    pub fn status(self) -> u16 {
        match self {
            Self::NotHttp => 400,
            Self::Size => 431,
            Self::Limit => 429,
            Self::Resolve | Self::Proxy => 502,
            Self::Connect => 504,
            _ => 403,
        }
    }

    /// What happened, without its object.
    fn what(self) -> &'static str {
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
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whom a refusal is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The server whose cell it is.
    pub server: &'a ServerName,
    /// The host as asked for; a name, or what stood in its place.
    pub host: &'a str,
    /// The TCP port, where one is known.
    pub port: Option<u16>,
    /// The rule that was the reason, or that had let it through until then.
    pub rule: Option<&'a HostRule>,
}

/// A refusal, complete: it says what would allow the same thing.
///
/// As JSON it is the body of an HTTP answer and the entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What happened, with its object.
    pub message: String,
    /// The host as asked for, fit for a terminal.
    pub host: String,
    /// The TCP port, where one is known.
    pub port: Option<u16>,
    /// The rule that was the reason; none where the reason is that there is none.
    pub rule: Option<String>,
    /// What would allow it: a command, or the lines of the operator's file.
    pub remedy: String,
}

impl Refusal {
    /// A refusal about `subject`; `detail` says what was seen, and is empty where the code says it all.
    pub fn new(code: Code, subject: Subject<'_>, detail: &str) -> Self {
        let detail = shown_long(detail);
        let host = shown(subject.host);
        let place = match subject.port {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        let message = if detail.is_empty() {
            format!("`{place}`: {}", code.what())
        } else {
            format!("`{place}`: {}: {detail}", code.what())
        };
        let remedy = remedy(code, subject);
        Self { code, message, host, port: subject.port, rule: subject.rule.map(ToString::to_string), remedy }
    }

    /// The same refusal with a remedy that only the place of the refusal knows.
    #[must_use]
    pub fn with_remedy(mut self, remedy: String) -> Self {
        self.remedy = remedy;
        self
    }
}

/// The command that gives `server` the host at the port.
pub fn allow_line(server: &ServerName, name: &HostName, port: Option<u16>) -> String {
    match HostRule::suggested(name, port.unwrap_or(443)) {
        Some(rule) => format!("fumehood allow {server} {rule}"),
        None => "inside a cell `localhost` is the cell itself; a service of this machine needs a name that the \
             operator binds to it with `[upstreams.\"NAME\"]`, `address = \"127.0.0.1:PORT\"`, `loopback = true`"
            .to_owned(),
    }
}

fn remedy(code: Code, subject: Subject<'_>) -> String {
    let Subject { server, host, port, .. } = subject;
    let Ok(name) = HostName::from_wire(host.as_bytes()) else {
        return no_name(host, port);
    };
    let port_or = |usual: u16| port.unwrap_or(usual);
    match code {
        Code::Host | Code::Port | Code::Removed | Code::Wildcard => allow_line(server, &name, port),
        Code::Sni | Code::HostHeader => format!(
            "ask for `{name}` on a connection to `{name}`; another host needs a connection of its own, and \
             `fumehood allow {server} HOST`"
        ),
        Code::SniMissing | Code::Ech | Code::NotTls => format!(
            "{}; if the host must be reached otherwise, `fumehood allow {server} tcp://{name}:{}` passes bytes unseen{}",
            match code {
                Code::SniMissing => "use a client that sends the server name",
                Code::Ech => "turn Encrypted Client Hello off in the client",
                _ => "speak TLS",
            },
            port_or(443),
            if code == Code::NotTls {
                format!(", and `fumehood allow {server} http://{name}:{}` takes plain HTTP", port_or(80))
            } else {
                String::new()
            }
        ),
        Code::NotHttp => format!(
            "send HTTP/1.1 without ambiguities; another protocol needs `fumehood allow {server} tcp://{name}:{}`",
            port_or(80)
        ),
        Code::Method => "use another method".to_owned(),
        Code::Upgrade => "use WebSocket, or HTTP/1.1 without an upgrade".to_owned(),
        Code::Size => "send fewer or shorter headings".to_owned(),
        Code::Limit => "close connections that are not used, or try again later".to_owned(),
        Code::Address => pin_lines(&name, "IP:PORT"),
        Code::Resolve => format!("check the spelling of `{name}`, and the resolver of this machine"),
        Code::Connect => format!("check that `{name}` takes connections on port {}", port_or(443)),
        Code::Proxy => {
            "ask whoever runs the proxy that the operator's file names in `[egress] upstream_proxy`"
                .to_owned()
        }
        Code::Name => no_name(host, port),
    }
}

/// The lines of the operator's file that bind `name` to an address.
pub(crate) fn pin_lines(name: &HostName, address: &str) -> String {
    format!("the operator's file can bind the name: `[upstreams.\"{name}\"]` with `address = \"{address}\"`")
}

fn no_name(host: &str, port: Option<u16>) -> String {
    match spelled_address(host) {
        Some(address) => {
            let place = std::net::SocketAddr::new(address, port.unwrap_or(443));
            format!(
                "use a host name; for an address of your own network the operator's file can bind one: \
                 `[upstreams.\"NAME\"]` with `address = \"{place}\"`"
            )
        }
        None => "use a host name such as `api.example.com`".to_owned(),
    }
}

#[cfg(test)]
mod tests;
