//! What the operator sets about the way out: names bound to addresses, a proxy of the house.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use base64::Engine;

use crate::address::Class;
use crate::name::{HostName, shown};

/// The operator's settings of the way out. Nothing of it comes from a server or a project.
#[derive(Debug, Clone, Default)]
pub struct Upstreams {
    pinned: HashMap<HostName, Pinned>,
    /// The proxy that connections to all other names take.
    pub proxy: Option<UpstreamProxy>,
    /// Files with certificates (PEM) that count as roots beside those of the system, for connections that are looked
    /// into.
    pub extra_roots: Vec<PathBuf>,
    /// Where Fumehood's own services listen on this machine. No setting leads there.
    pub forbidden: Vec<SocketAddr>,
}

/// A name bound to an address: `[upstreams."ghe.corp"] address = "10.1.2.3:443"`.
///
/// INVARIANT: not an address of a class that no setting allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    address: SocketAddr,
    loopback: bool,
    ca: Option<PathBuf>,
}

/// A proxy that takes `CONNECT`: `upstream_proxy = "http://proxy.corp:3128"`.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamProxy {
    /// The host, a name or an address.
    pub host: ProxyHost,
    /// The TCP port.
    pub port: u16,
    /// Whole value of `Proxy-Authorization`; never shown.
    pub authorization: Option<String>,
    /// Who turns a name into an address.
    pub resolve: ProxyResolve,
}

/// Where a proxy is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyHost {
    /// By name, looked up by this machine. It may have any address that a name could be bound to without
    /// `loopback = true`.
    Name(HostName),
    /// By address, checked like that of a name bound with `loopback = true`.
    Address(IpAddr),
}

/// Who turns the name of a host into an address when there is a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProxyResolve {
    /// This machine: every answer is checked, and the proxy is told the checked address.
    #[default]
    Here,
    /// The proxy, where this machine cannot look up public names. The proxy is told the name, and it alone decides what
    /// address that leads to.
    Proxy,
}

impl Upstreams {
    /// Binds `name` to what `pinned` says; a later one wins.
    pub fn pin(&mut self, name: HostName, pinned: Pinned) {
        self.pinned.insert(name, pinned);
    }

    /// What `name` is bound to.
    pub fn pinned(&self, name: &HostName) -> Option<&Pinned> {
        self.pinned.get(name)
    }

    /// The names that are bound, in no order.
    pub fn names(&self) -> impl Iterator<Item = &HostName> {
        self.pinned.keys()
    }
}

impl Pinned {
    /// Checks a binding of `name` to `address`.
    pub fn new(
        name: &HostName,
        address: SocketAddr,
        loopback: bool,
        ca: Option<PathBuf>,
    ) -> Result<Self, UpstreamError> {
        let class = Class::of(address.ip());
        let name = name.to_string();
        if address.port() == 0 {
            return Err(UpstreamError::Port { name, address });
        }
        match class {
            Class::Public | Class::Private | Class::Shared | Class::UniqueLocal => {}
            Class::Reserved if !is_broadcast(address.ip()) => {}
            Class::Loopback if loopback => {}
            Class::Loopback => return Err(UpstreamError::Loopback { name, address }),
            _ => return Err(UpstreamError::Class { name, address, class }),
        }
        Ok(Self { address, loopback, ca })
    }

    /// The address and port, whatever port the tool asked for is in the rule.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it may be an address of this machine.
    pub fn loopback(&self) -> bool {
        self.loopback
    }

    /// The file of the certificate authority of this host, for connections that are looked into.
    pub fn ca(&self) -> Option<&PathBuf> {
        self.ca.as_ref()
    }
}

impl fmt::Debug for UpstreamProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamProxy")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("authorization", &self.authorization.as_ref().map(|_| "…"))
            .field("resolve", &self.resolve)
            .finish()
    }
}

/// Why a setting of the way out cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// The machine itself, without the word that it is meant.
    #[error("`{name}` is bound to {address}, which is this machine itself")]
    Loopback {
        /// The name.
        name: String,
        /// The address.
        address: SocketAddr,
    },
    /// Cloud metadata, link-local, a group, an embedded address, or none at all.
    #[error("`{name}` is bound to {address}, and no setting leads to an address of this kind ({class})")]
    Class {
        /// The name.
        name: String,
        /// The address.
        address: SocketAddr,
        /// What kind it is.
        class: Class,
    },
    /// Port 0.
    #[error("`{name}` is bound to {address}, which has no port")]
    Port {
        /// The name.
        name: String,
        /// The address.
        address: SocketAddr,
    },
    /// A proxy that is not written as `http://HOST:PORT`.
    #[error("the proxy `{text}` is not written as `http://host:port`")]
    Proxy {
        /// As written, without its password.
        text: String,
    },
}

impl UpstreamError {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Loopback { .. } => Some("add `loopback = true` if the service of this machine is meant"),
            Self::Class { .. } => None,
            Self::Port { .. } => Some("write the port, such as `10.1.2.3:443`"),
            Self::Proxy { .. } => Some("write `http://proxy.example.com:3128`, or `http://user:password@…`"),
        }
    }
}

impl UpstreamProxy {
    /// Reads `http://host:port` or `http://user:password@host:port`.
    pub fn parse(text: &str, resolve: ProxyResolve) -> Result<Self, UpstreamError> {
        let fault = || {
            let text = text.rsplit_once('@').map_or(text, |(_, place)| place);
            UpstreamError::Proxy { text: shown(text) }
        };
        let rest = text.strip_prefix("http://").ok_or_else(fault)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, rest),
        };
        let (host, port) = place.rsplit_once(':').ok_or_else(fault)?;
        let port: u16 = port.parse().ok().filter(|port| *port != 0).ok_or_else(fault)?;
        let host =
            match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse() {
                Ok(address) => ProxyHost::Address(address),
                Err(_) => ProxyHost::Name(HostName::parse(host).map_err(|_| fault())?),
            };
        if let ProxyHost::Address(address) = &host {
            Pinned::new(
                &HostName::parse("proxy").map_err(|_| fault())?,
                (*address, port).into(),
                true,
                None,
            )?;
        }
        let authorization = user.map(|user| {
            let plain: Vec<u8> = percent_encoding::percent_decode_str(user).collect();
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(plain))
        });
        Ok(Self { host, port, authorization, resolve })
    }
}

fn is_broadcast(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(v4) if v4.octets().first().is_some_and(|first| *first >= 240))
}

#[cfg(test)]
mod tests;
