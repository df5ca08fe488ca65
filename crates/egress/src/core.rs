//! The egress of one cell: starting it, changing its policy, asking it, ending it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::secret::SecretName;
use serde::Serialize;
use tokio::task::JoinHandle;

use crate::dial::{DialSettings, Dialer};
use crate::dns::server::DnsServer;
use crate::dns::{Answerer, DnsSettings, Names, Readying};
use crate::doors::{Doors, Unopened, open_door};
use crate::edge::Core;
use crate::event::{Event, Log, LogSettings, Usage};
use crate::intake::{Intake, datagrams, listener};
use crate::limits::Limits;
use crate::name::HostName;
use crate::own::OwnAddresses;
use crate::policy::Policy;
use crate::refusal::{Code, Refusal, Subject};
use crate::registry::Registry;
use crate::resolve::{Resolver, SystemResolver};
use crate::rule::HostRule;
use crate::self_test::{self, SelfTestError};
use crate::serve::Door;
use crate::sink::Sinks;
use crate::synthetic::{Addresses, Synthetic, WildcardSettings};
use crate::tls::authority::Authority;
use crate::tls::client::Client;
use crate::tls::roots::{Roots, RootsError};
use crate::upstream::Upstreams;
use crate::verdict::{self, UrlError, Verdict};

/// The port of the explicit proxy, at [`crate::synthetic::Range::proxy`].
pub const PROXY_PORT: u16 = 3128;

/// RFC 1035 §4.2.
const DNS_PORT: u16 = 53;

/// What an egress is started with, beside its policy.
#[derive(Debug)]
pub struct Settings {
    /// The operator's settings of the way out.
    pub upstreams: Upstreams,
    /// Who looks names up.
    pub resolver: Arc<dyn Resolver>,
    /// Bounds of a dial.
    pub dial: DialSettings,
    /// Bounds of names under wildcards.
    pub wildcard: WildcardSettings,
    /// Bounds of the log.
    pub log: LogSettings,
    /// Bounds of connections.
    pub limits: Limits,
    /// Bounds of answering DNS.
    pub dns: DnsSettings,
    /// Whether there is an explicit HTTP proxy too, for tools that insist on one.
    pub proxy: bool,
    /// Who vouches inside the cell for hosts whose TLS is looked into. Without one these are refused.
    pub authority: Option<Arc<Authority>>,
    /// Who may vouch for hosts outside.
    pub roots: Arc<Roots>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            upstreams: Upstreams::default(),
            resolver: Arc::new(SystemResolver::new()),
            dial: DialSettings::default(),
            wildcard: WildcardSettings::default(),
            log: LogSettings::default(),
            limits: Limits::default(),
            dns: DnsSettings::default(),
            proxy: false,
            authority: None,
            roots: Arc::default(),
        }
    }
}

/// Why an egress cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The addresses of this machine cannot be read, so nobody could tell that a dial leads back to it.
    #[error("the addresses of this machine cannot be read: {0}")]
    OwnAddresses(#[source] io::Error),
    /// The certificate authorities of a name that has its own cannot be read.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The TLS library does not take its configuration.
    #[error("the TLS library refused its configuration: {0}")]
    Tls(#[from] rustls::Error),
    /// A service inside the cell cannot be listened on.
    #[error("`{address}` inside the cell cannot be listened on: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        #[source]
        error: io::Error,
    },
}

/// What a change of policy came to. When it is there, everything the policy does not allow is cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Flows reset, on both halves, and requests reset on flows of HTTP/2 that go on.
    pub cut: usize,
    /// Flows that go on.
    pub kept: usize,
    /// Ports of allowed hosts that could not be opened.
    pub unopened: Vec<Unopened>,
}

/// The way out of one cell. Dropping it cuts everything.
#[derive(Debug)]
pub struct Egress {
    core: Arc<Core>,
    doors: Arc<Doors>,
    tasks: Vec<JoinHandle<()>>,
    /// Answers the cell's questions until it is dropped.
    name_server: Option<DnsServer>,
    changing: tokio::sync::Mutex<()>,
}

impl Egress {
    /// Starts the egress of a cell: its name server, its explicit proxy if there is one, and the listeners of the
    /// policy's names.
    ///
    /// # Errors
    /// If this machine's own addresses are unknown, or a service inside the cell has no socket.
    pub async fn start(intake: impl Intake, settings: Settings, policy: Policy) -> Result<Self, StartError> {
        let own = OwnAddresses::open().map_err(StartError::OwnAddresses)?;
        let Settings { upstreams, resolver, dial, mut wildcard, log, limits, dns, proxy, authority, roots } =
            settings;
        let client = client(roots, &upstreams)?;
        wildcard.names = wildcard.names.min(limits.wildcard_names.saturating_add(1));
        let policy = Arc::new(policy);
        let registry = Registry::new(Arc::clone(&policy), limits.connections, limits.connections_per_host);
        let core = Arc::new(Core {
            synthetic: Synthetic::new(intake.range(), wildcard),
            intake: Box::new(intake),
            registry: Arc::new(registry),
            dialer: Dialer::new(resolver, own, upstreams, dial),
            log: Arc::new(Log::new(log)),
            limits,
            pipes: Arc::default(),
            ending: AtomicBool::new(false),
            authority,
            client,
            sinks: Sinks::default(),
        });
        let mut egress = Self {
            core,
            doors: Arc::default(),
            tasks: Vec::new(),
            name_server: None,
            changing: tokio::sync::Mutex::new(()),
        };
        egress.start_services(proxy, dns).await?;
        drop(egress.doors.arrange(&egress.core, &policy).await);
        let (core, doors) = (Arc::clone(&egress.core), Arc::clone(&egress.doors));
        egress.tasks.push(tokio::spawn(async move { doors.keep_closing(&core).await }));
        Ok(egress)
    }

    async fn start_services(&mut self, proxy: bool, dns: DnsSettings) -> Result<(), StartError> {
        let core = &self.core;
        let answerer =
            Answerer::new(Arc::new(Lookups { core: Arc::clone(core), doors: Arc::clone(&self.doors) }), dns);
        self.name_server = Some(name_server(core.as_ref(), answerer).await?);
        if proxy {
            let addresses = core.synthetic.range().proxy();
            let address = SocketAddr::new(addresses.v4.into(), PROXY_PORT);
            let tasks = open_door(core, addresses, PROXY_PORT, &Door::Proxy)
                .await
                .map_err(|error| StartError::Listen { address, error })?;
            self.tasks.extend(tasks);
        }
        Ok(())
    }

    /// Puts a policy in force. Returns after every flow it does not allow was reset on both halves, and every look-up and
    /// dial it does not allow was given up; flows in a TLS greeting are cut as well.
    ///
    /// Connections to a host that was taken away are answered with a refusal for a while ([`Limits::farewell`]).
    pub async fn set_policy(&self, policy: Policy) -> Changed {
        let turn = self.changing.lock().await;
        let before = self.core.registry.policy();
        let cut = self.core.registry.change(policy);
        let after = self.core.registry.policy();
        let flows = cut.refusals.len();
        for refusal in cut.refusals {
            self.core.log.record(Event::Refused(refusal));
        }
        cut.batch.until_ended().await;
        let unopened = self.doors.arrange(&self.core, &after).await;
        let (added, removed) = difference(before.rules(), after.rules());
        let changed = Changed { cut: flows, kept: cut.kept, unopened };
        self.core.log.record(Event::PolicyChanged {
            generation: after.generation(),
            added,
            removed,
            cut: changed.cut,
            kept: changed.kept,
        });
        drop(turn);
        changed
    }

    /// Tests a key on the wire, from inside the cell to where its host would begin: over a connection through the cell's
    /// own listener to the key's first host, TLS against the cell's authority, a request with the placeholder. Exactly this
    /// connection leads to a stand-in within this process that sends back what it was sent. Nothing leaves the machine.
    ///
    /// # Errors
    /// Unless the stand-in saw the value, and the cell's side saw the placeholder and not the value.
    pub async fn self_test(&self, key: &SecretName) -> Result<(), SelfTestError> {
        self_test::run(&self.core, &self.doors, key).await
    }

    /// The policy in force.
    pub fn policy(&self) -> Arc<Policy> {
        self.core.registry.policy()
    }

    /// What would happen to `GET` of `url`, which rule would decide, and where it would go. Looks the name up if the rules
    /// allow it, and connects nowhere. For a URL without a path only the connection is judged.
    ///
    /// # Errors
    /// If it is no URL.
    pub async fn check(&self, url: &str) -> Result<Verdict, UrlError> {
        self.check_request(url, None).await
    }

    /// The same for another method.
    ///
    /// # Errors
    /// If it is no URL.
    pub async fn check_request(&self, url: &str, method: Option<&str>) -> Result<Verdict, UrlError> {
        verdict::check(&self.policy(), &self.core.dialer, url, method).await
    }

    /// What happened so far and what goes on happening.
    pub fn events(&self) -> Arc<Log> {
        Arc::clone(&self.core.log)
    }

    /// What went through so far, open flows included.
    pub fn usage(&self) -> Usage {
        self.core.registry.settle();
        self.core.log.total()
    }

    /// Flows there are now, idle and refused ones included.
    pub fn flows(&self) -> usize {
        self.core.registry.len()
    }

    /// Listeners there are, by host and port, and how many of them only refuse.
    pub fn listeners(&self) -> (usize, usize) {
        self.doors.count()
    }

    /// Closes all listeners, cuts all flows, and returns when they have ended.
    pub async fn end(mut self) {
        self.doors.until_closed().await;
        let batch = self.stop();
        if let Some(name_server) = self.name_server.take() {
            name_server.end().await;
        }
        for task in std::mem::take(&mut self.tasks) {
            // Aborted is what it was meant to be.
            drop(task.await);
        }
        batch.until_ended().await;
    }

    fn stop(&self) -> Arc<crate::batch::Batch> {
        self.core.ending.store(true, Ordering::Release);
        for task in &self.tasks {
            task.abort();
        }
        self.doors.close();
        self.core.synthetic.retain(|_| false);
        self.core.registry.cut_all()
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        drop(self.stop());
    }
}

/// What the name server asks of the rest.
#[derive(Debug)]
struct Lookups {
    core: Arc<Core>,
    doors: Arc<Doors>,
}

impl Names for Lookups {
    fn policy(&self) -> Arc<Policy> {
        self.core.registry.policy()
    }

    fn ready<'a>(&'a self, name: &'a HostName) -> Readying<'a> {
        Box::pin(async move {
            let policy = self.core.registry.policy();
            let (assigned, unopened) = self.doors.admit(&self.core, &policy, name).await?;
            if assigned.first && !assigned.reach.exact {
                let rule = assigned.reach.rule.to_string();
                self.core.log.record(Event::WildcardName { host: name.to_string(), rule });
            }
            for Unopened { port, error, .. } in unopened {
                let rule = Some(assigned.reach.rule.as_ref());
                let subject =
                    Subject { server: policy.server(), host: name.as_str(), port: Some(port), rule };
                self.core.log.record(Event::Refused(Refusal::new(Code::Limit, subject, &error)));
            }
            Ok(assigned.addresses)
        })
    }

    fn log(&self) -> &Log {
        &self.core.log
    }
}

/// TLS towards the hosts. The authorities of names that have their own are read now if they were not before.
fn client(mut roots: Arc<Roots>, upstreams: &Upstreams) -> Result<Client, StartError> {
    Arc::make_mut(&mut roots).add_own(upstreams)?;
    Ok(Client::new(&roots)?)
}

/// The name server on its sockets inside the cell.
async fn name_server(core: &Core, answerer: Answerer<Lookups>) -> Result<DnsServer, StartError> {
    let Addresses { v4, v6 } = core.synthetic.range().name_server();
    let (mut udp, mut tcp) = (Vec::new(), Vec::new());
    for address in std::iter::once(IpAddr::V4(v4)).chain(v6.map(IpAddr::V6)) {
        let address = SocketAddr::new(address, DNS_PORT);
        let fault = |error| StartError::Listen { address, error };
        udp.push(datagrams(core.intake.as_ref(), address).await.map_err(fault)?);
        tcp.push(listener(core.intake.as_ref(), address).await.map_err(fault)?);
    }
    Ok(DnsServer::start(answerer, udp, tcp))
}

/// The rules that came and those that went, as text.
fn difference(before: &[Arc<HostRule>], after: &[Arc<HostRule>]) -> (Vec<String>, Vec<String>) {
    let beyond = |these: &[Arc<HostRule>], those: &[Arc<HostRule>]| {
        let those: std::collections::HashSet<&HostRule> = those.iter().map(AsRef::as_ref).collect();
        these.iter().filter(|rule| !those.contains(rule.as_ref())).map(ToString::to_string).collect()
    };
    (beyond(after, before), beyond(before, after))
}
