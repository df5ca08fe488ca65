//! `[serve]` and `[audit]`: the service's own address, and what holds for it as a whole.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::complaint::Complaint;
use super::duration;
use super::limit_name;
use super::limits::{kept, size_of};
use super::mounts::{self, Asker, Place};
use super::problem::Source;
use super::url::{self, Url};
use super::written::{self, At};
use crate::size;

/// How `fumehood serve` is reached, and its bounds. The default is what holds where the file says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serve {
    listen: SocketAddr,
    url: Option<String>,
    hosts: Vec<String>,
    origins: Vec<String>,
    max_body: u64,
    drain: Duration,
    idle_freeze: Duration,
    idle_stop: Duration,
    max_sessions: usize,
}

/// Where the record's checkpoints go, and what the record holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSettings {
    checkpoints: Option<PathBuf>,
    bodies: bool,
}

/// An address on which nobody could tell callers from one another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{address}` is reached from other machines")]
pub struct ListenError {
    address: SocketAddr,
    needs: Vec<&'static str>,
}

impl ListenError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        format!("add {}", self.needs.join(" and "))
    }
}

/// Others than this machine's own need tokens of an issuer, made for this service.
pub(super) fn may_listen(address: SocketAddr, has_identity: bool, has_url: bool) -> Result<(), ListenError> {
    let mut needs = Vec::new();
    if !has_identity {
        needs.push("an `[identity.NAME]` with an `issuer`");
    }
    if !has_url {
        needs.push("`url`, by which it is reached");
    }
    if address.ip().is_loopback() || needs.is_empty() { Ok(()) } else { Err(ListenError { address, needs }) }
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), Self::PORT),
            url: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_body: 4 << 20,
            drain: Duration::from_secs(30),
            idle_freeze: Duration::from_mins(1),
            idle_stop: Duration::from_mins(15),
            max_sessions: 1000,
        }
    }
}

impl Serve {
    /// The TCP port where nothing else is said.
    pub const PORT: u16 = 8300;

    /// Where it listens. Port 0 is any free one.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The public base URL, exactly as it is written; it has no query and no fragment.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// What a `Host` header may say besides loopback names with our port, in lower case: `name`, which goes with any port,
    /// or `name:port`. The authority of [`Serve::url`] is among them.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// What an `Origin` header may say besides loopback ones: `https://name` or `https://name:port`, in lower case.
    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// The most bytes of a request's body.
    pub fn max_body(&self) -> u64 {
        self.max_body
    }

    /// How long calls may go on after the service is told to stop.
    pub fn drain(&self) -> Duration {
        self.drain
    }

    /// After how long without a call a cell is frozen.
    pub fn idle_freeze(&self) -> Duration {
        self.idle_freeze
    }

    /// After how long without a call a cell is stopped; longer than [`Serve::idle_freeze`].
    pub fn idle_stop(&self) -> Duration {
        self.idle_stop
    }

    /// The most sessions at a time.
    pub fn max_sessions(&self) -> usize {
        self.max_sessions
    }
}

impl AuditSettings {
    /// The file that signed checkpoints are written to, on another volume.
    pub fn checkpoints(&self) -> Option<&PathBuf> {
        self.checkpoints.as_ref()
    }

    /// Whether arguments and results are kept as they are, besides their digests.
    pub fn bodies(&self) -> bool {
        self.bodies
    }
}

/// Bytes of a body: what can be asked for.
const BODY: RangeInclusive<u64> = 1 << 10..=64 << 20;
/// The time to drain: what can be asked for.
const DRAIN: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_mins(10);
/// Times without a call: what can be asked for.
const IDLE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(30 * 24);
/// Sessions: what can be asked for.
const SESSIONS: RangeInclusive<u64> = 1..=100_000;

/// `[serve]`. `has_identity`: whether there is an identity provider.
pub(super) fn serve(written: &written::Serve, has_identity: bool, source: &mut Source<'_>) -> Serve {
    let nothing = Serve::default();
    let url = written.url.as_ref().and_then(|at| kept(source, at, |text| base(text)));
    let listen = written.listen.as_ref().and_then(|at| kept(source, at, |text| address(text)));
    if let (Some(at), Some(address)) = (&written.listen, listen) {
        let has_identity = has_identity || source.is_left_out(&["identity"]);
        let has_url = written.url.is_some() || source.is_left_out(&["serve", "url"]);
        if let Err(error) = may_listen(address, has_identity, has_url) {
            source.add(at.span(), &Complaint::new(error.to_string()).help(error.hint()));
        }
    }
    let mut hosts: Vec<String> =
        written.hosts.iter().filter_map(|at| kept(source, at, |text| host(text))).collect();
    hosts.extend(url.as_ref().map(|url| url.authority().to_lowercase()));
    hosts.sort();
    hosts.dedup();
    let origins = written.origins.iter().filter_map(|at| kept(source, at, |text| origin(text))).collect();
    let max_body = written.max_body.as_ref().and_then(|at| {
        kept(source, at, |size| limit_name::within("max_body", &BODY, size_of(size)?, size::format))
    });
    let mut time = |label, at: Option<&At<String>>, bounds| {
        at.and_then(|at| kept(source, at, |text| duration::within(label, text, bounds)))
    };
    let drain = time("drain", written.drain.as_ref(), &DRAIN).unwrap_or(nothing.drain);
    let freeze = time("idle_freeze", written.idle_freeze.as_ref(), &IDLE).unwrap_or(nothing.idle_freeze);
    let stop = time("idle_stop", written.idle_stop.as_ref(), &IDLE).unwrap_or(nothing.idle_stop);
    if let Some(at) = written.idle_stop.as_ref().or(written.idle_freeze.as_ref()).filter(|_| stop <= freeze) {
        let complaint = Complaint::new("a cell would be stopped before it is frozen");
        source.add(at.span(), &complaint.help("write an `idle_stop` that is longer than `idle_freeze`"));
    }
    let max_sessions = written.max_sessions.as_ref().and_then(|at| {
        kept(source, at, |count| {
            let count = u64::try_from(*count).unwrap_or(0);
            let count = limit_name::within("max_sessions", &SESSIONS, count, |count| count.to_string())?;
            Ok(usize::try_from(count).unwrap_or(usize::MAX))
        })
    });
    Serve {
        listen: listen.unwrap_or(nothing.listen),
        url: url.map(|url| url.text().to_owned()),
        hosts,
        origins,
        max_body: max_body.unwrap_or(nothing.max_body),
        drain,
        idle_freeze: freeze,
        idle_stop: stop,
        max_sessions: max_sessions.unwrap_or(nothing.max_sessions),
    }
}

/// `[audit]`.
pub(super) fn audit(written: &written::Audit, place: &Place<'_>, source: &mut Source<'_>) -> AuditSettings {
    let checkpoints = written
        .checkpoints
        .as_ref()
        .and_then(|at| kept(source, at, |text| mounts::absolute(text, Asker::Operator, place)));
    AuditSettings { checkpoints, bodies: written.bodies }
}

fn address(text: &str) -> Result<SocketAddr, Complaint> {
    text.parse().map_err(|_| {
        Complaint::new(format!("`{text}` is not an address to listen on"))
            .help("write an IP address and a port: `127.0.0.1:8300`, `0.0.0.0:8300`, `[::1]:8300`")
    })
}

fn base(text: &str) -> Result<Url, Complaint> {
    let url = url::secure(text)?;
    if url.text().contains('?') {
        return Err(Complaint::new(format!("`{text}` has a query"))
            .help("write `https://HOST` or `https://HOST/PATH`"));
    }
    Ok(url)
}

/// A name, or a name and a port.
fn host(text: &str) -> Result<String, Complaint> {
    if url::is_authority(text) {
        return Ok(text.to_lowercase());
    }
    Err(Complaint::new(format!("`{text}` is not what a `Host` header says"))
        .help("write `mcp.example.com` or `mcp.example.com:8443`; there are no wildcards"))
}

fn origin(text: &str) -> Result<String, Complaint> {
    let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if authority.is_some_and(url::is_authority) {
        return Ok(text.to_lowercase());
    }
    Err(Complaint::new(format!("`{text}` is not an origin"))
        .help("write `https://app.example.com`, with a port where it has one, and nothing behind it; there are no wildcards"))
}
