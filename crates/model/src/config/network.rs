//! What a server may reach, and how it is reached itself.

use std::num::NonZeroU16;
use std::path::PathBuf;

use super::complaint::Complaint;
pub(super) use super::host_check::host;
pub use super::host_check::{NetworkCheck, Objection, ShapeOnly};
use super::hosts;
use super::limits::kept;
use super::mounts::{self, Asker, Place};
use super::problem::Source;
use super::written::{self, At};

/// How a server speaks MCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transport {
    /// By its stdin and stdout.
    #[default]
    Stdio,
    /// By HTTP, on this port inside its cell.
    Http {
        /// The TCP port it listens on, on loopback or on every address.
        port: NonZeroU16,
    },
}

/// What a server's table says about its network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerNetwork {
    pub(super) hosts: Vec<String>,
    pub(super) proxy_env: bool,
    pub(super) transport: Transport,
}

impl ServerNetwork {
    /// Rules, those that follow from `ports` included.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Whether there is an explicit proxy inside, named by the usual variables.
    pub fn proxy_env(&self) -> bool {
        self.proxy_env
    }

    /// How the server speaks MCP.
    pub fn transport(&self) -> Transport {
        self.transport
    }
}

/// A name bound to an address by the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// `10.1.2.3:443`, `10.1.2.3`, `[fd00::1]:443` or `fd00::1`.
    pub address: String,
    /// Whether it may be an address of this machine.
    pub loopback: bool,
    /// A file with the certificate authority of the host (PEM).
    pub ca: Option<PathBuf>,
}

/// The `[egress]` of the operator's file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressSettings {
    /// The proxy of the house: `http://host:port`.
    pub upstream_proxy: Option<String>,
    /// Whether that proxy turns names into addresses.
    pub proxy_resolves: bool,
    /// Files with certificates (PEM) that count as roots.
    pub extra_roots: Vec<PathBuf>,
}

pub(super) fn server(
    name: &At<String>,
    server: &written::Server,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> ServerNetwork {
    let mut hosts = hosts::rules(&server.hosts, check, source);
    hosts.extend(raw_ports(server, source));
    ServerNetwork { hosts, proxy_env: server.proxy_env, transport: transport(name, server, source) }
}

/// `ports`: raw TCP on each host that is written as a name alone.
fn raw_ports(server: &written::Server, source: &mut Source<'_>) -> Vec<String> {
    let plain = hosts::plain_names(&server.hosts);
    let mut rules = Vec::new();
    for at in &server.ports {
        let Some(port) = kept(source, at, |port| number(*port)) else { continue };
        if plain.is_empty() {
            let complaint = Complaint::new(format!("`ports` opens {port} on no host"));
            source.add(
                at.span(),
                &complaint.help(format!(
                    "`ports` is about the hosts that are written as a name alone; write `\"tcp://HOST:{port}\"` in `hosts`"
                )),
            );
        }
        rules.extend(plain.iter().map(|host| format!("tcp://{host}:{port}")));
    }
    rules
}

fn transport(name: &At<String>, server: &written::Server, source: &mut Source<'_>) -> Transport {
    let port = server.port.as_ref();
    let is_http = server.transport.as_ref().is_some_and(|at| *at.get() == written::Transport::Http);
    match (is_http, port) {
        (false, None) => Transport::Stdio,
        (false, Some(port)) => {
            let complaint = Complaint::new("`port` is for a server that listens inside its cell");
            source.add(port.span(), &complaint.help("add `transport = \"http\"`, or remove it"));
            Transport::Stdio
        }
        (true, Some(port)) => {
            let port = kept(source, port, |port| number(*port));
            port.map_or(Transport::Stdio, |port| Transport::Http { port })
        }
        (true, None) => {
            if !source.is_left_out(&["servers", name.get(), "port"]) {
                let span = server.transport.as_ref().map_or_else(|| name.span(), At::span);
                let complaint = Complaint::new(format!("the server `{}` has no `port`", name.get()));
                source.add(span, &complaint.help("say on which port it listens inside: `port = 8080`"));
            }
            Transport::Stdio
        }
    }
}

fn number(port: i64) -> Result<NonZeroU16, Complaint> {
    let port = u16::try_from(port).ok().and_then(NonZeroU16::new);
    port.ok_or_else(|| Complaint::new("this is not a port").help("write a number from 1 to 65535"))
}

/// `[upstreams."NAME"]`.
pub(super) fn upstream(
    name: &At<String>,
    upstream: &written::Upstream,
    place: &Place<'_>,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> Option<Upstream> {
    let Some(address) = &upstream.address else {
        if !source.is_left_out(&["upstreams", name.get(), "address"]) {
            let complaint = Complaint::new(format!("the upstream `{}` has no `address`", name.get()));
            source.add(name.span(), &complaint.help("write `address = \"10.1.2.3:443\"`"));
        }
        return None;
    };
    let address = kept(source, address, |address| {
        check.upstream(name.get(), address, upstream.loopback)?;
        Ok(address.clone())
    })?;
    let ca = upstream.ca.as_ref().and_then(|at| file(at, place, source));
    Some(Upstream { address, loopback: upstream.loopback, ca })
}

/// `[egress]`.
pub(super) fn egress(
    written: &written::Egress,
    place: &Place<'_>,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> EgressSettings {
    let upstream_proxy = written
        .upstream_proxy
        .as_ref()
        .and_then(|at| kept(source, at, |url| check.proxy(url).map(|()| url.clone()).map_err(Into::into)));
    let extra_roots = written.extra_roots.iter().filter_map(|at| file(at, place, source)).collect();
    EgressSettings { upstream_proxy, proxy_resolves: written.proxy_resolves, extra_roots }
}

/// A file of the operator's: absolute, or below the home folder.
fn file(at: &At<String>, place: &Place<'_>, source: &mut Source<'_>) -> Option<PathBuf> {
    kept(source, at, |text| mounts::absolute(text, Asker::Operator, place))
}
