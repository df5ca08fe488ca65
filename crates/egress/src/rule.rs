//! One line of a host list: which name, which port, what is spoken there, and which requests may be made.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::{HostName, HostNameError, shown, spelled_address};
use crate::rule::error::RuleError;
use crate::rule::terms::Terms;

pub mod error;
pub mod suffix;
pub mod terms;

/// Which names, which ports, which protocol, which requests.
///
/// As text: `api.github.com` (443 with TLS and 80 with HTTP), `api.github.com:8443` (TLS), `*.example.com` (every name
/// below, not `example.com` itself), `https://host`, `http://host:8080`, `tcp://db.example.com:5432`. With [`Terms`]:
/// `GET,HEAD https://host`, `GET host/repos/acme/*`, `* host` (any request, but looked at). The text of a rule reads as
/// the same rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    names: Names,
    reach: Reach,
    terms: Option<Terms>,
}

/// The names of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Names {
    /// This one.
    Exact(HostName),
    /// All below this one. INVARIANT (kept by the parser of rules): it is registrable, or lies below what is.
    Below(HostName),
}

/// What is spoken on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Bytes nobody looks at. The widest, so a rule for it wins over others of the same name and port.
    Tcp,
    /// TLS whose greeting names the host.
    Tls,
    /// HTTP/1.1 in the clear, taken apart and put together again.
    Http,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Reach {
    /// 443 with TLS, and 80 with HTTP so that a redirect to 443 is seen.
    Web,
    One(NonZeroU16, Kind),
}

impl HostRule {
    /// Reads a rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let (methods, place) = terms::methods(text)?;
        let (scheme, rest) = match place.split_once("://") {
            Some((scheme, rest)) => (Some(Scheme::parse(scheme, text)?), rest),
            None => (None, place),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(RuleError::about(text, HostNameError::Character { text: shown(authority) }));
        }
        if authority.contains(['?', '#', '\\']) {
            return Err(RuleError::Query { text: shown(text) });
        }
        if let Some(address) = spelled_address(authority) {
            return Err(RuleError::Address { text: shown(text), address });
        }
        let (host, port) = split_port(authority, text)?;
        let reach = reach(scheme, port, text)?;
        let names = match host.strip_prefix("*.") {
            Some(suffix) => Names::Below(suffix::wildcard(suffix, text)?),
            None if host.contains('*') => return Err(RuleError::Wildcard { text: shown(text) }),
            None => Names::Exact(HostName::parse(host).map_err(|error| RuleError::about(text, error))?),
        };
        let (Names::Exact(name) | Names::Below(name)) = &names;
        if name.is_localhost() {
            return Err(RuleError::Localhost { text: shown(text) });
        }
        let terms = match (methods, path) {
            (None, "") => None,
            // A URL copied from a browser's line of addresses ends so.
            (None, "/") if scheme.is_some() => None,
            (None, "/") => return Err(RuleError::Slash { text: shown(text) }),
            (methods, path) => Some(Terms::new(methods.unwrap_or_default(), terms::path(path, text)?)),
        };
        let plain = Self { names, reach, terms: None };
        match terms {
            Some(terms) => plain.with_terms(terms).ok_or_else(|| RuleError::Unseen { text: shown(text) }),
            None => Ok(plain),
        }
    }

    /// The rule that allows exactly this name and port for what the port usually speaks: the one a refusal suggests.
    pub fn suggested(name: &HostName, port: u16) -> Option<Self> {
        let port = NonZeroU16::new(port)?;
        let reach = if matches!(port.get(), 80 | 443) { Reach::Web } else { Reach::One(port, Kind::Tls) };
        (!name.is_localhost()).then(|| Self { names: Names::Exact(name.clone()), reach, terms: None })
    }

    /// The rule about exactly this name and port, with what is spoken there; none for port 0 and for the cell itself.
    pub fn exactly(name: &HostName, port: u16, kind: Kind) -> Option<Self> {
        let reach = Reach::One(NonZeroU16::new(port)?, kind);
        (!name.is_localhost()).then(|| Self { names: Names::Exact(name.clone()), reach, terms: None })
    }

    /// The same rule under these terms; none for raw TCP, where nobody reads requests.
    #[must_use]
    pub fn with_terms(self, terms: Terms) -> Option<Self> {
        let seen = !matches!(self.reach, Reach::One(_, Kind::Tcp));
        seen.then_some(Self { terms: Some(terms), ..self })
    }

    /// The same rule without terms.
    #[must_use]
    pub fn place(&self) -> Self {
        Self { terms: None, ..self.clone() }
    }

    /// What is left of this rule when `gone` is taken away: nothing of the same rule; the other methods, where `gone` has some
    /// of them and all else alike; else the rule as it is.
    #[must_use]
    pub fn without(&self, gone: &Self) -> Option<Self> {
        if self == gone {
            return None;
        }
        let less = match (&self.terms, &gone.terms) {
            (Some(terms), Some(gone_terms)) if self.place() == gone.place() => terms.without(gone_terms),
            _ => None,
        };
        Some(less.map_or_else(|| self.clone(), |terms| Self { terms: Some(terms), ..self.clone() }))
    }

    /// What requests must be like. None: nothing is asked of them, and TLS passes unseen.
    pub fn terms(&self) -> Option<&Terms> {
        self.terms.as_ref()
    }

    /// The names this rule is about.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whether the rule is about `name`. A wildcard stops at a public suffix: `*.amazonaws.com` is not about
    /// `bucket.s3.amazonaws.com`, which belongs to somebody else.
    pub fn covers(&self, name: &HostName) -> bool {
        match &self.names {
            Names::Exact(exact) => exact == name,
            Names::Below(suffix) => {
                name.parents().any(|parent| parent == suffix.as_str()) && suffix::same_owner(name, suffix)
            }
        }
    }

    /// The ports of this rule, each with what is spoken there.
    pub fn ports(&self) -> impl Iterator<Item = (u16, Kind)> {
        let (first, second) = match self.reach {
            Reach::Web => ((443, Kind::Tls), Some((80, Kind::Http))),
            Reach::One(port, kind) => ((port.get(), kind), None),
        };
        std::iter::once(first).chain(second)
    }

    /// What is spoken on `port` by this rule, none where it is not about the port.
    pub fn kind(&self, port: u16) -> Option<Kind> {
        self.ports().find(|(own, _)| *own == port).map(|(_, kind)| kind)
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(terms) = &self.terms {
            terms.write_methods(f)?;
        }
        match self.reach {
            Reach::Web => write!(f, "{}", self.names),
            Reach::One(port, Kind::Tls) if port.get() == 443 => write!(f, "https://{}", self.names),
            Reach::One(port, Kind::Tls) if port.get() == 80 => write!(f, "https://{}:80", self.names),
            Reach::One(port, Kind::Tls) => write!(f, "{}:{port}", self.names),
            Reach::One(port, Kind::Http) if port.get() == 80 => write!(f, "http://{}", self.names),
            Reach::One(port, Kind::Http) => write!(f, "http://{}:{port}", self.names),
            Reach::One(port, Kind::Tcp) => write!(f, "tcp://{}:{port}", self.names),
        }?;
        match self.terms.as_ref().and_then(Terms::path) {
            Some(path) => write!(f, "{path}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => write!(f, "{name}"),
            Self::Below(suffix) => write!(f, "*.{suffix}"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Http => "http",
        })
    }
}

impl FromStr for HostRule {
    type Err = RuleError;
    fn from_str(text: &str) -> Result<Self, RuleError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for HostRule {
    type Error = RuleError;
    fn try_from(text: String) -> Result<Self, RuleError> {
        Self::parse(&text)
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.to_string()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Https,
    Http,
    Tcp,
}

impl Scheme {
    fn parse(scheme: &str, text: &str) -> Result<Self, RuleError> {
        match scheme.to_ascii_lowercase().as_str() {
            "https" | "tls" | "wss" => Ok(Self::Https),
            "http" | "ws" => Ok(Self::Http),
            "tcp" => Ok(Self::Tcp),
            _ => Err(RuleError::Scheme { text: shown(text) }),
        }
    }
}

fn split_port<'a>(authority: &'a str, text: &str) -> Result<(&'a str, Option<NonZeroU16>), RuleError> {
    let Some((host, port)) = authority.rsplit_once(':') else {
        return Ok((authority, None));
    };
    if let Some(address) = spelled_address(host) {
        return Err(RuleError::Address { text: shown(text), address });
    }
    let plain = !port.starts_with('0') && port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse::<NonZeroU16>() {
        Ok(port) if plain => Ok((host, Some(port))),
        _ => Err(RuleError::Port { text: shown(text) }),
    }
}

fn reach(scheme: Option<Scheme>, port: Option<NonZeroU16>, text: &str) -> Result<Reach, RuleError> {
    let number = port.map(NonZeroU16::get);
    let kind = match (scheme, number) {
        (None, None) => return Ok(Reach::Web),
        (None, Some(80)) | (Some(Scheme::Http), _) => Kind::Http,
        (None | Some(Scheme::Https), _) => Kind::Tls,
        (Some(Scheme::Tcp), _) => Kind::Tcp,
    };
    let usual = match kind {
        Kind::Http => NonZeroU16::new(80),
        Kind::Tls => NonZeroU16::new(443),
        Kind::Tcp => None,
    };
    match port.or(usual) {
        Some(port) => Ok(Reach::One(port, kind)),
        None => Err(RuleError::NoPort { text: shown(text) }),
    }
}

#[cfg(test)]
pub(crate) mod tests;
