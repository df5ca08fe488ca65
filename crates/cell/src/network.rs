//! Joins a sandbox to its egress: sockets made inside the cell on one side, what may leave on the other.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream as StdTcpStream},
    os::fd::OwnedFd,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cell_api::{
    error::{ErrorBody, ErrorCode},
    event::EventKind,
    network::{NetworkChanged, NetworkInfo, NetworkOrder, NetworkSpec, OperatorNetwork, RuleUsage},
    order::LogMark,
};
use egress::{
    core::{Egress, PROXY_PORT, Settings},
    credential::Keyring,
    event::{Entry, Event},
    intake::{Arriving, Family, Intake},
    name::HostName,
    policy::Policy,
    rule::HostRule,
    synthetic::{Addresses, Range},
    tls::{authority::Authority, roots::Roots},
    upstream::{Pinned, ProxyResolve, UpstreamProxy, Upstreams},
};
use jail::{message::SocketKind, spec::Route};
use model::name::ServerName;
use sandbox::process::Control;
use tokio::net::{TcpSocket, TcpStream};

use crate::cell::Cell;

/// The addresses inside that lead to the supervisor: RFC 2544's range, and a unique local prefix (RFC 4193) of ours.
fn range() -> Range {
    const PREFIX: [u8; 8] = [0xfd, 0x66, 0x75, 0x6d, 0x65, 0x68, 0x00, 0x00];
    // The file is there where the kernel has IPv6, which may be switched off at boot (`ipv6.disable=1`).
    let v6 = std::path::Path::new("/proc/net/if_inet6").exists().then_some(PREFIX);
    Range { v6, ..Range::V4 }
}

/// What the sandbox is told of the network.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    /// Local ranges of the cell.
    pub(crate) routes: Vec<Route>,
    /// Where names are asked for.
    pub(crate) name_servers: Vec<IpAddr>,
    range: Range,
}

impl Inside {
    /// The network of every cell of this host.
    pub(crate) fn new() -> Self {
        let range = range();
        let mut routes = vec![Route { address: range.v4.into(), prefix: 15 }];
        if let Some(prefix) = range.v6 {
            let address = Ipv6Addr::from_bits(u128::from(u64::from_be_bytes(prefix)) << 64);
            routes.push(Route { address: address.into(), prefix: 64 });
        }
        let Addresses { v4, v6 } = range.name_server();
        let name_servers = std::iter::once(v4.into()).chain(v6.map(IpAddr::from)).collect();
        Self { routes, name_servers, range }
    }

    /// The variables by which programs are told of the explicit proxy.
    pub(crate) fn proxy_variables(&self) -> BTreeMap<String, String> {
        let url = format!("http://{}:{PROXY_PORT}", self.range.proxy().v4);
        let mut variables = BTreeMap::new();
        for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] {
            variables.insert(name.to_owned(), url.clone());
        }
        for name in ["no_proxy", "NO_PROXY"] {
            variables.insert(name.to_owned(), "localhost,127.0.0.1,::1".to_owned());
        }
        variables.insert("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
        variables
    }
}

/// The rules as asked for, and the operator's settings, checked.
#[derive(Debug)]
pub struct Checked {
    /// The rules.
    pub rules: Vec<HostRule>,
    /// The operator's settings.
    pub upstreams: Upstreams,
}

/// Checks everything that can be checked before anything is built; each problem in words.
pub fn check(spec: &NetworkSpec, problems: &mut Vec<String>) -> Checked {
    let rules = rules(&spec.hosts, problems);
    Checked { rules, upstreams: upstreams(&spec.operator, problems) }
}

fn rules(hosts: &[String], problems: &mut Vec<String>) -> Vec<HostRule> {
    let mut rules = Vec::new();
    for host in hosts {
        match HostRule::parse(host) {
            Ok(rule) => rules.push(rule),
            Err(error) => problems.push(error.to_string()),
        }
    }
    rules
}

fn upstreams(operator: &OperatorNetwork, problems: &mut Vec<String>) -> Upstreams {
    let mut upstreams = Upstreams::default();
    for (name, spec) in &operator.upstreams {
        let pinned = HostName::parse(name).map_err(|error| error.to_string()).and_then(|name| {
            let pinned =
                Pinned::parse(&name, &spec.address, spec.loopback).map_err(|error| error.to_string())?;
            Ok((name, pinned))
        });
        match pinned {
            Ok((name, pinned)) => upstreams.pin(
                name,
                match &spec.ca {
                    Some(ca) => pinned.with_ca(ca.clone()),
                    None => pinned,
                },
            ),
            Err(problem) => problems.push(format!("the upstream `{name}`: {problem}")),
        }
    }
    let resolve = if operator.proxy_resolves { ProxyResolve::Proxy } else { ProxyResolve::Here };
    if let Some(text) = &operator.upstream_proxy {
        match UpstreamProxy::parse(text, resolve) {
            Ok(proxy) => upstreams.proxy = Some(proxy),
            Err(error) => problems.push(error.to_string()),
        }
    }
    upstreams.extra_roots.clone_from(&operator.extra_roots);
    upstreams.forbidden.clone_from(&operator.own);
    upstreams
}

/// Sockets from PID 1 of the cell.
#[derive(Debug)]
struct FromJail {
    control: Control,
    range: Range,
    /// Those that every cell needs at once, had by one order.
    stock: Mutex<Vec<(SocketKind, OwnedFd)>>,
}

impl FromJail {
    async fn stocked(control: Control, range: Range) -> Self {
        let mut kinds = vec![SocketKind::Udp4, SocketKind::Tcp4];
        if range.v6.is_some() {
            kinds.extend([SocketKind::Udp6, SocketKind::Tcp6]);
        }
        // Whatever is wrong with one of them is told when it is asked for by itself.
        let made = control.sockets(kinds.clone()).await.unwrap_or_default();
        Self { control, range, stock: Mutex::new(kinds.into_iter().zip(made).collect()) }
    }

    fn one(&self, kind: SocketKind) -> Arriving<'_> {
        Box::pin(async move {
            {
                let mut stock = self.stock.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(at) = stock.iter().position(|(stocked, _)| *stocked == kind) {
                    return Ok(stock.swap_remove(at).1);
                }
            }
            let made = self.control.sockets(vec![kind]).await.map_err(io::Error::other)?;
            made.into_iter().next().ok_or_else(|| io::Error::other("the cell sent no socket"))
        })
    }
}

impl Intake for FromJail {
    fn tcp(&self, family: Family) -> Arriving<'_> {
        self.one(match family {
            Family::V4 => SocketKind::Tcp4,
            Family::V6 => SocketKind::Tcp6,
        })
    }

    fn udp(&self, family: Family) -> Arriving<'_> {
        self.one(match family {
            Family::V4 => SocketKind::Udp4,
            Family::V6 => SocketKind::Udp6,
        })
    }

    fn range(&self) -> Range {
        self.range
    }
}

/// What an egress is begun with.
#[derive(Debug)]
pub(crate) struct Begin<'a> {
    /// What the sandbox was told.
    pub(crate) inside: &'a Inside,
    /// As asked for.
    pub(crate) spec: &'a NetworkSpec,
    /// Whose cell it is.
    pub(crate) name: &'a ServerName,
    /// The cell's keys.
    pub(crate) keys: Arc<Keyring>,
    /// Who vouches inside for hosts that are looked into.
    pub(crate) authority: Arc<Authority>,
    /// Who vouches for those hosts.
    pub(crate) roots: Arc<Roots>,
}

/// The rules and the operator's settings, once everything about them is known to be right.
pub(crate) fn checked(spec: &NetworkSpec) -> Result<Checked, ErrorBody> {
    let mut problems = Vec::new();
    let checked = check(spec, &mut problems);
    if problems.is_empty() { Ok(checked) } else { Err(ErrorBody::new(ErrorCode::Spec, problems.join("; "))) }
}

/// Starts the egress of a cell whose PID 1 is ready and in which nothing runs yet.
pub(crate) async fn begin(cell: &Rc<Cell>, control: Control, with: Begin<'_>) -> Result<(), ErrorBody> {
    let Begin { inside, spec, name, keys, authority, roots } = with;
    let Checked { rules, upstreams } = checked(spec)?;
    if sandbox::guard::off("network-namespace") {
        // Only in the control of an attack test: on the host's own network nothing can be captured.
        return Ok(());
    }
    let settings = Settings {
        upstreams,
        proxy: spec.proxy_env,
        authority: Some(authority),
        roots,
        ..Settings::default()
    };
    let intake = FromJail::stocked(control, inside.range).await;
    let policy = Policy::new(name.clone(), 0, rules).with_keys(keys);
    let egress = Egress::start(intake, settings, policy).await;
    let egress = egress.map_err(|error| {
        ErrorBody::new(ErrorCode::Internal, format!("the cell's network could not be set up: {error}"))
    })?;
    let egress = Rc::new(egress);
    let telling = tokio::task::spawn_local(tell(Rc::clone(cell), egress.events()));
    let mut state = cell.state.borrow_mut();
    state.egress = Some(Rc::clone(&egress));
    state.egress_log = Some(egress.events());
    state.telling = Some(telling);
    Ok(())
}

/// Puts a new list in force; returns after the cut.
pub(crate) async fn change(cell: &Cell, order: &NetworkOrder) -> Result<NetworkChanged, ErrorBody> {
    let mut problems = Vec::new();
    let rules = rules(&order.hosts, &mut problems);
    if !problems.is_empty() {
        let hint = "see `fumehood run --help` for the forms a host may have";
        return Err(ErrorBody::new(ErrorCode::Spec, problems.join("; ")).hint(hint));
    }
    let egress = running(cell)?;
    // One after the other: a generation counts one change, and names what the next one was made from.
    let changes = Rc::clone(&cell.state.borrow().network_changes);
    let _turn = changes.lock().await;
    let before = egress.policy();
    if let Some(expected) = order.if_generation.filter(|expected| *expected != before.generation()) {
        let message = format!(
            "the list of hosts is of generation {}, not {expected}: it was changed meanwhile",
            before.generation()
        );
        return Err(ErrorBody::new(ErrorCode::State, message).hint("read it again, and change that"));
    }
    let generation = before.generation().saturating_add(1);
    let policy = Policy::new(before.server().clone(), generation, rules).with_keys(Arc::clone(before.keys()));
    let changed = egress.set_policy(policy).await;
    let unopened = changed.unopened.iter().map(|port| format!("{}:{}: {}", port.host, port.port, port.error));
    Ok(NetworkChanged {
        hosts: shown(&egress.policy()),
        generation,
        cut: changed.cut,
        kept: changed.kept,
        unopened: unopened.collect(),
    })
}

/// Tries every key over the wire, before anything runs that could use it.
pub(crate) async fn test_keys(cell: &Cell, keys: &Keyring) -> Result<(), ErrorBody> {
    if keys.is_empty() || sandbox::guard::off("self-test") {
        return Ok(());
    }
    let egress = running(cell)?;
    for key in keys.names() {
        egress.self_test(key).await.map_err(|error| {
            let message = format!("the test of the secret `{key}` failed: {error}");
            ErrorBody::new(ErrorCode::SecretSelftest, message).hint(
                "nothing was started, since the key would not have worked, or not have been kept; \
                 please report this with the message",
            )
        })?;
    }
    Ok(())
}

/// Puts other keys in force; returns after everything was cut that they do not allow. A cell that does not run has none.
pub(crate) async fn change_keys<E>(
    cell: &Cell,
    change: impl FnOnce(&Keyring) -> Result<Keyring, E>,
) -> Result<(), E> {
    let Ok(egress) = running(cell) else { return Ok(()) };
    let changes = Rc::clone(&cell.state.borrow().network_changes);
    let _turn = changes.lock().await;
    let before = egress.policy();
    let keys = Arc::new(change(before.keys())?);
    let rules = before.rules().iter().map(|rule| HostRule::clone(rule));
    let generation = before.generation().saturating_add(1);
    egress.set_policy(Policy::new(before.server().clone(), generation, rules).with_keys(keys)).await;
    Ok(())
}

/// How it stands.
pub(crate) fn info(cell: &Cell) -> Result<NetworkInfo, ErrorBody> {
    let egress = running(cell)?;
    // Settles the counters of open connections.
    egress.usage();
    let policy = egress.policy();
    let usage = egress.events().usage().into_iter().map(|(rule, usage)| {
        let egress::event::Usage { connections, open, refused, sent, received } = usage;
        (rule, RuleUsage { connections, open, refused, sent, received })
    });
    Ok(NetworkInfo {
        hosts: shown(&policy),
        generation: policy.generation(),
        flows: egress.flows(),
        usage: usage.collect(),
    })
}

/// How long a server inside has to take a connection.
const TAKING: Duration = Duration::from_secs(5);

/// A connection to a port on loopback inside the cell.
pub(crate) async fn connect_inside(cell: &Cell, port: u16) -> Result<TcpStream, ErrorBody> {
    if port == 0 {
        let refusal = ErrorBody::new(ErrorCode::Spec, "a port is needed, from 1 to 65535");
        return Err(refusal.hint("`POST /v1/cell/connect?port=8080`"));
    }
    let control = cell.state.borrow().control.clone();
    let control = control
        .ok_or_else(|| ErrorBody::new(ErrorCode::State, "the cell does not run").hint("start it first"))?;
    let refused = |error: &io::Error| {
        let message = format!("nothing inside takes connections on port {port}: {error}");
        ErrorBody::new(ErrorCode::Port, message)
    };
    let v4 = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    match connect_to(&control, SocketKind::Tcp4, v4).await {
        Ok(stream) => Ok(stream),
        Err(error) if range().v6.is_none() => Err(refused(&error)),
        // A server that listens on `localhost` may have taken that for the other family alone.
        Err(error) => {
            let v6 = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port);
            connect_to(&control, SocketKind::Tcp6, v6).await.map_err(|_| refused(&error))
        }
    }
}

async fn connect_to(control: &Control, kind: SocketKind, address: SocketAddr) -> io::Result<TcpStream> {
    let made = control.sockets(vec![kind]).await.map_err(io::Error::other)?;
    let socket = made.into_iter().next().ok_or_else(|| io::Error::other("the cell sent no socket"))?;
    let socket = TcpSocket::from_std_stream(StdTcpStream::from(socket));
    let stream = tokio::time::timeout(TAKING, socket.connect(address)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The egress of a running cell.
pub(crate) fn running(cell: &Cell) -> Result<Rc<Egress>, ErrorBody> {
    let egress = cell.state.borrow().egress.clone();
    egress.ok_or_else(|| ErrorBody::new(ErrorCode::State, "the cell does not run").hint("start it first"))
}

/// Ends the egress: everything open is cut.
pub(crate) fn end(cell: &Cell) {
    let (egress, telling) = {
        let mut state = cell.state.borrow_mut();
        (state.egress.take(), state.telling.take())
    };
    drop(egress);
    if let Some(telling) = telling {
        telling.abort();
    }
    // What the teller had not come to yet.
    let log = cell.state.borrow().egress_log.clone();
    if let Some(log) = log {
        let told = cell.state.borrow().egress_told;
        for entry in log.since(told) {
            say(cell, &entry);
        }
    }
}

fn shown(policy: &Policy) -> Vec<String> {
    policy.rules().iter().map(ToString::to_string).collect()
}

async fn tell(cell: Rc<Cell>, log: Arc<egress::event::Log>) {
    loop {
        let told = cell.state.borrow().egress_told;
        for entry in log.follow(told).await {
            cell.state.borrow_mut().egress_told = entry.revision;
            say(&cell, &entry);
        }
    }
}

/// Puts a refusal where people look: the cell's log, its events, and with them the terminal of whoever runs it.
fn say(cell: &Cell, entry: &Entry) {
    cell.record_egress(entry);
    let refusal = match &entry.event {
        Event::Refused(refusal) => refusal,
        Event::KeyUsed { secret, host, port, method, path, status, .. } => {
            let count = cell.count_key_use(secret, host);
            if count.is_power_of_two() {
                let (secret, host, method, path) =
                    (secret.clone(), host.clone(), method.clone(), path.clone());
                let (port, status) = (*port, *status);
                cell.events.push(EventKind::KeyUsed { secret, host, port, method, path, status, count });
            }
            return;
        }
        _ => return,
    };
    let times = if entry.count > 1 { format!(" ({} times)", entry.count) } else { String::new() };
    cell.log_line(LogMark::Fumehood, &format!("{refusal}{times}; {}", refusal.remedy));
    cell.events.push(EventKind::Refused {
        code: refusal.code.to_string(),
        message: refusal.message.clone(),
        remedy: refusal.remedy.clone(),
        count: entry.count,
    });
}
