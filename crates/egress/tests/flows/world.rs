//! An egress whose hosts are on this machine, and a client that finds them as a tool does.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use egress::core::{Changed, Egress, Settings};
use egress::event::{Entry, Event};
use egress::intake::{Arriving, Family, Intake};
use egress::limits::Limits;
use egress::name::HostName;
use egress::policy::Policy;
use egress::refusal::{Code, Refusal};
use egress::rule::HostRule;
use egress::synthetic::Range;
use egress::upstream::Pinned;
use hickory_proto::op::{Message, Query};
use hickory_proto::rr::{Name, RData, RecordType};
use model::name::ServerName;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UdpSocket};

/// Plain sockets of this process's namespace.
#[derive(Debug)]
pub(crate) struct HostSockets {
    v6: bool,
}

impl Intake for HostSockets {
    fn tcp(&self, family: Family) -> Arriving<'_> {
        Box::pin(std::future::ready(socket(family, SocketType::STREAM)))
    }

    fn udp(&self, family: Family) -> Arriving<'_> {
        Box::pin(std::future::ready(socket(family, SocketType::DGRAM)))
    }

    fn range(&self) -> Range {
        let v6 = self.v6.then_some([0xfd, 0x46, 0x75, 0x68, 0x6f, 0x6f, 0, 0]);
        Range { v6, ..Range::V4 }
    }
}

fn socket(family: Family, kind: SocketType) -> io::Result<std::os::fd::OwnedFd> {
    let family = match family {
        Family::V4 => AddressFamily::INET,
        Family::V6 => AddressFamily::INET6,
    };
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?)
}

/// An egress and what it was started with.
pub(crate) struct World {
    pub(crate) egress: Egress,
    generation: u64,
}

/// What a world is made of.
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    rules: Vec<String>,
    v6: bool,
}

impl Plan {
    pub(crate) fn new(rules: &[&str]) -> Self {
        let rules = rules.iter().map(ToString::to_string).collect();
        Self { settings: Settings::default(), rules, v6: false }
    }

    /// Binds a name to a server on this machine.
    pub(crate) fn pin(mut self, name: &str, address: SocketAddr) -> Self {
        let name = HostName::parse(name).unwrap();
        let pinned = Pinned::new(&name, address.ip(), NonZeroU16::new(address.port()), true).unwrap();
        self.settings.upstreams.pin(name, pinned);
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.settings.limits);
        self
    }

    pub(crate) fn proxy(mut self) -> Self {
        self.settings.proxy = true;
        self
    }

    pub(crate) fn v6(mut self) -> Self {
        self.v6 = true;
        self
    }

    pub(crate) async fn start(self) -> World {
        let rules: Vec<&str> = self.rules.iter().map(String::as_str).collect();
        let policy = policy(1, &rules);
        self.start_with(policy).await
    }

    /// Starts under a policy that is more than rules.
    pub(crate) async fn start_with(self, policy: Policy) -> World {
        let egress = Egress::start(HostSockets { v6: self.v6 }, self.settings, policy).await.unwrap();
        World { egress, generation: 1 }
    }
}

pub(crate) fn policy(generation: u64, rules: &[&str]) -> Policy {
    let rules = rules.iter().map(|rule| HostRule::parse(rule).unwrap());
    Policy::new(ServerName::new("test").unwrap(), generation, rules)
}

impl World {
    pub(crate) async fn set(&mut self, rules: &[&str]) -> Changed {
        self.generation += 1;
        self.egress.set_policy(policy(self.generation, rules)).await
    }

    /// Puts a policy in force that is more than rules: `make` is told its generation.
    pub(crate) async fn put(&mut self, make: impl FnOnce(u64) -> Policy) -> Changed {
        self.generation += 1;
        self.egress.set_policy(make(self.generation)).await
    }

    /// Where a name leads inside the cell, asked of the cell's own name server.
    pub(crate) async fn lookup(&self, name: &str, kind: RecordType) -> Option<IpAddr> {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        socket.connect(SocketAddr::new(Range::V4.name_server().v4.into(), 53)).await.unwrap();
        let mut question = Message::query();
        question.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
        socket.send(&question.to_vec().unwrap()).await.unwrap();
        let mut bytes = [0; 1500];
        let length = within(socket.recv(&mut bytes)).await.unwrap();
        let answer = Message::from_vec(&bytes[..length]).unwrap();
        answer.answers.first().and_then(|record| match &record.data {
            RData::A(a) => Some(IpAddr::V4(a.0)),
            RData::AAAA(aaaa) => Some(IpAddr::V6(aaaa.0)),
            _ => None,
        })
    }

    pub(crate) async fn address(&self, name: &str, port: u16) -> SocketAddr {
        SocketAddr::new(self.lookup(name, RecordType::A).await.expect("no such name"), port)
    }

    pub(crate) async fn connect(&self, name: &str, port: u16) -> TcpStream {
        TcpStream::connect(self.address(name, port).await).await.unwrap()
    }

    pub(crate) async fn to_proxy(&self) -> TcpStream {
        TcpStream::connect((Range::V4.proxy().v4, egress::core::PROXY_PORT)).await.unwrap()
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.egress.events().since(0)
    }

    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        let refused = |entry: Entry| match entry.event {
            Event::Refused(refusal) => Some(refusal),
            _ => None,
        };
        self.entries().into_iter().filter_map(refused).collect()
    }

    /// The codes of the refusals so far, in their order.
    pub(crate) fn codes(&self) -> Vec<Code> {
        self.refusals().into_iter().map(|refusal| refusal.code).collect()
    }

    /// Waits until there are so many flows.
    pub(crate) async fn until_flows(&self, count: usize) {
        until(|| self.egress.flows() == count).await;
    }
}

/// Longest anything may take that should happen at once.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// What comes soon, or a failed test.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, future).await.expect("nothing came")
}

/// Waits until something is so.
pub(crate) async fn until(mut is: impl FnMut() -> bool) {
    within(async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// How a connection ended for the one who reads it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In order, after these bytes.
    Closed(Vec<u8>),
    /// By a reset.
    Reset,
}

/// Reads to the end, whatever it is.
pub(crate) async fn ending(stream: &mut TcpStream) -> Ending {
    let mut bytes = Vec::new();
    match within(stream.read_to_end(&mut bytes)).await {
        Ok(_) => Ending::Closed(bytes),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ending::Reset,
        Err(error) => panic!("{error}"),
    }
}

/// A shared list.
pub(crate) type Shared<T> = Arc<std::sync::Mutex<Vec<T>>>;
