//! From a permit to a connection: look the name up, check every answer, dial a checked one.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::address::Class;
use crate::name::HostName;
use crate::own::{OwnAddresses, Owner};
use crate::policy::Permit;
use crate::refusal::{Code, Refusal, pin_lines};
use crate::resolve::Resolver;
use crate::upstream::{Pinned, ProxyHost, ProxyResolve, UpstreamProxy, Upstreams};

mod connect;
mod race;

/// Bounds of a dial.
#[derive(Debug, Clone, Copy)]
pub struct DialSettings {
    /// Longest look-up. Default 10 s: two tries of the usual resolver.
    pub resolve: Duration,
    /// Longest from the first attempt to a connection, the operator's proxy included. Default 15 s.
    pub connect: Duration,
    /// How long an attempt has before the next address is tried beside it. Default 250 ms (RFC 8305 §5).
    pub attempt: Duration,
    /// Addresses tried; a longer list is checked whole and cut then. Default 16.
    pub addresses: usize,
}

impl Default for DialSettings {
    fn default() -> Self {
        Self {
            resolve: Duration::from_secs(10),
            connect: Duration::from_secs(15),
            attempt: Duration::from_millis(250),
            addresses: 16,
        }
    }
}

/// Dials for one cell.
#[derive(Debug)]
pub struct Dialer {
    resolver: Arc<dyn Resolver>,
    own: OwnAddresses,
    upstreams: Upstreams,
    settings: DialSettings,
}

/// Where a connection would go. Every address in it was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// To the address that the operator bound the name to.
    Pinned(SocketAddr),
    /// To one of the addresses of the name, tried in this order.
    Direct(Vec<SocketAddr>),
    /// Through the operator's proxy.
    Proxy {
        /// The addresses of the proxy, tried in this order.
        proxy: Vec<SocketAddr>,
        /// What it is asked for, one after the other: checked addresses, or the name alone.
        targets: Vec<Target>,
    },
}

/// What a proxy is asked to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An address that was checked here.
    Address(SocketAddr),
    /// A name that the proxy looks up.
    Name(HostName, u16),
}

/// A connection to an allowed host.
#[derive(Debug)]
pub struct Dialled {
    /// The connection. Through a proxy, what the host says first is still to be read.
    pub stream: TcpStream,
    /// The address of the host; none where the proxy looked it up.
    pub address: Option<SocketAddr>,
}

impl Dialer {
    /// A dialer that looks names up with `resolver`.
    pub fn new(
        resolver: Arc<dyn Resolver>,
        own: OwnAddresses,
        upstreams: Upstreams,
        settings: DialSettings,
    ) -> Self {
        Self { resolver, own, upstreams, settings }
    }

    /// What the operator set.
    pub fn upstreams(&self) -> &Upstreams {
        &self.upstreams
    }

    /// Connects to what was permitted. The rules may have changed when it returns: judge again before a byte passes.
    pub async fn dial(&self, permit: &Permit) -> Result<Dialled, Refusal> {
        let way = self.way(permit).await?;
        let within = self.settings.connect;
        match timeout(within, self.connect(permit, way)).await {
            Ok(dialled) => dialled,
            Err(_) => Err(refusal(Code::Connect, permit, &format!("not within {} s", within.as_secs_f32()))),
        }
    }

    /// Looks up where [`Dialer::dial`] would go, and connects nowhere.
    pub async fn way(&self, permit: &Permit) -> Result<Way, Refusal> {
        if let Some(pinned) = self.upstreams.pinned(permit.name()) {
            return self.check_pinned(permit, pinned);
        }
        let Some(proxy) = &self.upstreams.proxy else {
            return Ok(Way::Direct(self.public(permit).await?));
        };
        let targets = match proxy.resolve {
            ProxyResolve::Here => self.public(permit).await?.into_iter().map(Target::Address).collect(),
            ProxyResolve::Proxy => vec![Target::Name(permit.name().clone(), permit.port())],
        };
        Ok(Way::Proxy { proxy: self.proxy_addresses(permit, proxy).await?, targets })
    }

    /// All addresses of the name, if every one is public and not this machine's.
    async fn public(&self, permit: &Permit) -> Result<Vec<SocketAddr>, Refusal> {
        let answers = self.look_up(permit, permit.name(), Code::Resolve).await?;
        for address in &answers {
            self.check_public(permit, *address)?;
        }
        let ordered = race::interleaved(answers).into_iter().take(self.settings.addresses.max(1));
        Ok(ordered.map(|address| SocketAddr::new(address, permit.port())).collect())
    }

    async fn look_up(&self, permit: &Permit, name: &HostName, code: Code) -> Result<Vec<IpAddr>, Refusal> {
        let fault = |detail: &str| refusal(code, permit, detail);
        match timeout(self.settings.resolve, self.resolver.resolve(name)).await {
            Err(_) => Err(fault("the resolver of this machine did not answer in time")),
            Ok(Err(error)) => Err(fault(&format!("looking up `{name}`: {error}"))),
            Ok(Ok(answers)) if answers.is_empty() => Err(fault(&format!("looking up `{name}`: no address"))),
            Ok(Ok(answers)) => Ok(answers),
        }
    }

    fn check_public(&self, permit: &Permit, address: IpAddr) -> Result<(), Refusal> {
        let class = Class::of(address);
        if !class.is_public() && !crate::guard::off("address-class") {
            return Err(address_refusal(permit, address, class));
        }
        if !crate::guard::off("own-address")
            && let Some(owner) = self.owner(permit, address)?
        {
            let (who, more) = match owner {
                Owner::Machine => ("this machine itself", " and `loopback = true`"),
                Owner::Gateway => ("a gateway of this machine", ""),
            };
            let place = SocketAddr::new(address, permit.port()).to_string();
            return Err(refusal(Code::Address, permit, &format!("{address} is {who}"))
                .with_remedy(pin_lines(permit.name(), &place) + more));
        }
        Ok(())
    }

    fn owner(&self, permit: &Permit, address: IpAddr) -> Result<Option<Owner>, Refusal> {
        self.own.owner(address).map_err(|error| {
            refusal(
                Code::Address,
                permit,
                &format!("whether {address} is this machine's cannot be told: {error}"),
            )
        })
    }

    fn check_pinned(&self, permit: &Permit, pinned: &Pinned) -> Result<Way, Refusal> {
        let address = pinned.address(permit.port());
        if self.owner(permit, address.ip())? == Some(Owner::Machine) && !pinned.loopback() {
            let remedy = pin_lines(permit.name(), &address.to_string()) + " and `loopback = true`";
            return Err(refusal(Code::Address, permit, &format!("{address} is this machine itself"))
                .with_remedy(remedy));
        }
        self.check_forbidden(permit, address)?;
        Ok(Way::Pinned(address))
    }

    async fn proxy_addresses(
        &self,
        permit: &Permit,
        proxy: &UpstreamProxy,
    ) -> Result<Vec<SocketAddr>, Refusal> {
        let (answers, by_name) = match &proxy.host {
            ProxyHost::Address(address) => (vec![*address], false),
            ProxyHost::Name(name) => (self.look_up(permit, name, Code::Proxy).await?, true),
        };
        let mut addresses = Vec::new();
        for address in race::interleaved(answers) {
            let place = SocketAddr::new(address, proxy.port);
            if by_name && let Err(error) = Pinned::new(permit.name(), address, None, false) {
                return Err(refusal(Code::Proxy, permit, &format!("the proxy is at {place}: {error}")));
            }
            self.check_forbidden(permit, place)?;
            addresses.push(place);
        }
        Ok(addresses)
    }

    /// Fumehood's own services listen on this machine; a port of theirs is closed on every address of it.
    fn check_forbidden(&self, permit: &Permit, address: SocketAddr) -> Result<(), Refusal> {
        let own = Class::of(address.ip()) == Class::Loopback
            || self.owner(permit, address.ip())? == Some(Owner::Machine);
        let hit = self
            .upstreams
            .forbidden
            .iter()
            .any(|service| service.port() == address.port() && (own || service.ip() == address.ip()));
        if hit && !crate::guard::off("own-ports") {
            return Err(refusal(Code::Address, permit, &format!("{address} is Fumehood itself"))
                .with_remedy("none: no setting leads from a cell to Fumehood".to_owned()));
        }
        Ok(())
    }

    async fn connect(&self, permit: &Permit, way: Way) -> Result<Dialled, Refusal> {
        let fault = |code: Code, error: &io::Error| refusal(code, permit, &error.to_string());
        let (addresses, code) = match &way {
            Way::Pinned(address) => (std::slice::from_ref(address), Code::Connect),
            Way::Direct(addresses) => (addresses.as_slice(), Code::Connect),
            Way::Proxy { proxy, targets } => return self.through(permit, proxy, targets).await,
        };
        let stream =
            race::first(addresses, self.settings.attempt).await.map_err(|error| fault(code, &error))?;
        let address = Some(stream.peer_addr().map_err(|error| fault(code, &error))?);
        Ok(Dialled { stream, address })
    }

    async fn through(
        &self,
        permit: &Permit,
        proxy: &[SocketAddr],
        targets: &[Target],
    ) -> Result<Dialled, Refusal> {
        let authorization = self.upstreams.proxy.as_ref().and_then(|proxy| proxy.authorization.as_deref());
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for target in targets {
            let asked = async {
                let mut stream = race::first(proxy, self.settings.attempt).await?;
                connect::ask(&mut stream, target, authorization).await?;
                Ok(stream)
            };
            match asked.await {
                Ok(stream) => {
                    let address = match target {
                        Target::Address(address) => Some(*address),
                        Target::Name(..) => None,
                    };
                    return Ok(Dialled { stream, address });
                }
                Err(error) => last = error,
            }
        }
        Err(refusal(Code::Proxy, permit, &last.to_string()))
    }
}

fn address_refusal(permit: &Permit, address: IpAddr, class: Class) -> Refusal {
    let place = SocketAddr::new(address, permit.port());
    let remedy = if Pinned::new(permit.name(), address, None, false).is_ok() {
        pin_lines(permit.name(), &place.to_string())
    } else if Pinned::new(permit.name(), address, None, true).is_ok() {
        pin_lines(permit.name(), &place.to_string()) + " and `loopback = true`"
    } else {
        format!("none: no setting leads to an address of this kind ({class})")
    };
    refusal(Code::Address, permit, &format!("{address} is not public ({class})")).with_remedy(remedy)
}

fn refusal(code: Code, permit: &Permit, detail: &str) -> Refusal {
    Refusal::new(code, permit.subject(), detail)
}

#[cfg(test)]
mod tests;
