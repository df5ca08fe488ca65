//! What the operator sets about the way out: names bound to addresses, a proxy of the house.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;
use std::path::PathBuf;

use base64::Engine;

use crate::address::Class;
use crate::name::{HostName, shown};

/// The operator's settings of the way out. Nothing of it comes from a server or a project.
#[derive(Debug, Clone, Default)]
pub struct Upstreams {
    /// Names bound to addresses.
    pub pinned: HashMap<HostName, Pinned>,
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
    address: IpAddr,
    port: Option<NonZeroU16>,
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
    /// Checks a binding of `name` to an address. Without a port every connection goes to the port it asked for.
    pub fn new(
        name: &HostName,
        address: IpAddr,
        port: Option<NonZeroU16>,
        loopback: bool,
    ) -> Result<Self, UpstreamError> {
        let class = Class::of(address);
        match class {
            Class::Public | Class::Private | Class::Shared | Class::UniqueLocal => {}
            Class::Reserved if !is_future(address) => {}
            Class::Loopback if loopback => {}
            Class::Loopback => return Err(UpstreamError::Loopback { name: name.to_string(), address }),
            _ => return Err(UpstreamError::Class { name: name.to_string(), address, class }),
        }
        Ok(Self { address, port, loopback, ca: None })
    }

    /// Reads the address of a binding of `name`: `10.1.2.3:443`, `10.1.2.3`, `[fd00::1]:443` or `fd00::1`.
    pub fn parse(name: &HostName, text: &str, loopback: bool) -> Result<Self, UpstreamError> {
        let fault = || UpstreamError::Address { name: name.to_string(), text: shown(text) };
        let (address, port) = match text.parse::<SocketAddr>() {
            Ok(place) => (place.ip(), Some(NonZeroU16::new(place.port()).ok_or_else(fault)?)),
            Err(_) => (text.parse::<IpAddr>().map_err(|_| fault())?, None),
        };
        Self::new(name, address, port, loopback)
    }

    /// The same binding with the certificate authority of this host in the file `ca` (PEM), for connections that are
    /// looked into.
    #[must_use]
    pub fn with_ca(mut self, ca: PathBuf) -> Self {
        self.ca = Some(ca);
        self
    }

    /// Where a connection to `port` goes.
    pub fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, self.port.map_or(port, NonZeroU16::get))
    }

    /// Whether it may be an address of this machine.
    pub fn loopback(&self) -> bool {
        self.loopback
    }

    /// The file of the certificate authority of this host.
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
        address: IpAddr,
    },
    /// Cloud metadata, link-local, a group, an embedded address, or none at all.
    #[error("`{name}` is bound to {address}, and no setting leads to an address of this kind ({class})")]
    Class {
        /// The name.
        name: String,
        /// The address.
        address: IpAddr,
        /// What kind it is.
        class: Class,
    },
    /// No IP address, or port 0.
    #[error("`{name}` is bound to `{text}`, which is not an IP address with or without a port")]
    Address {
        /// The name.
        name: String,
        /// As written.
        text: String,
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
            Self::Address { .. } => Some("write `10.1.2.3:443`, `10.1.2.3`, `[fd00::1]:443` or `fd00::1`"),
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
            Pinned::new(&HostName::parse("proxy").map_err(|_| fault())?, *address, None, true)?;
        }
        let authorization = user.map(|user| {
            let plain: Vec<u8> = percent_encoding::percent_decode_str(user).collect();
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(plain))
        });
        Ok(Self { host, port, authorization, resolve })
    }
}

/// 240.0.0.0/4: nobody has one.
fn is_future(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(v4) if v4.octets()[0] >= 240)
}

#[cfg(test)]
mod tests;
