//! The service as one whole: put together at the start, changed as a whole by a reload, taken apart at the end.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use access::{Screen, principal::Known};
use anyhow::Context;
use axum::{Router, middleware::from_fn_with_state, routing::get};
use cell::folders::Folders;
use egress::tls::roots::Roots;
use gateway::{
    health::{self, Cause},
    http::{Hosts, Rim, behind},
    identify::{CELL_IDS, Door, Identifier, identified, metadata},
    jwks::{KeysError, Trust},
    listen::{Socket, tcp},
    mcp, messages,
    metering::{self, Meter},
    openapi,
    pool::{Pool, Times},
    resource_metadata::WELL_KNOWN,
    service::{AuditOfEdges, Gateway, Policy, Road, ShelfOfPool},
    shelf::Shelf,
};
use model::{config::Serve, name::ServerName};
use store::{
    Pending,
    audit::{Audit, Event, Kind, Settings},
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::{AbortHandle, JoinSet},
};
use tools::surface::Surface;

use super::{
    causes::{IssuerKeys, Servers, VaultFile},
    cells::{Declared, LiveCells, Screening},
    load::Loaded,
    watching::{self, Places},
};
use crate::{
    places,
    server::standing::trust,
    stop::{FAILURE, Stop, USAGE},
};

/// How long rows that nobody waits for are gathered.
const GROUP: Duration = Duration::from_millis(2);

/// How long connections have to end once no call is under way.
const LAST: Duration = Duration::from_secs(2);
/// How often measurements are summed up.
const SUMMED_UP: Duration = Duration::from_secs(10);

/// A service that serves.
pub(crate) struct Service {
    folders: Folders,
    gateway: Gateway,
    cells: LiveCells,
    screening: Screening,
    door: Door,
    /// Where it listens, with the real port.
    pub(crate) address: Option<SocketAddr>,
    /// Where its socket is.
    pub(crate) socket: PathBuf,
    serve: Serve,
    stop: watch::Sender<bool>,
    listeners: JoinSet<()>,
    keeping: Option<AbortHandle>,
    watched: watch::Sender<Places>,
    decided: mpsc::Receiver<()>,
}

impl Service {
    /// Puts it together and begins to serve. Within a runtime.
    pub(crate) async fn begin(
        folders: Folders,
        mut loaded: Loaded,
        listen: Option<SocketAddr>,
        socket: PathBuf,
    ) -> anyhow::Result<Self> {
        let serve = loaded.operator.serve().clone();
        let settings = Settings {
            folder: places::audit(&folders),
            checkpoints: loaded.operator.audit().checkpoints().cloned(),
            group: GROUP,
            bodies: loaded.operator.audit().bodies(),
        };
        let audit = Audit::open(settings).await.map_err(|error| {
            let hint = error.hint();
            Stop::new(FAILURE, error.to_string(), hint)
        })?;
        let listener = listener(listen.unwrap_or_else(|| serve.listen())).await?;
        let address = listener.local_addr()?;
        let cells = LiveCells::begin(folders.clone(), declared(&loaded, address))?;
        let screening = Screening::begin(folders.clone()).await?;
        let places_now = Places::of(&folders, loaded.servers.values().map(|served| &served.target));
        let shelf = Arc::new(Shelf::new(std::mem::take(&mut loaded.offers), keep(&folders, &cells)));
        let times = Times {
            idle_freeze: serve.idle_freeze(),
            idle_stop: serve.idle_stop(),
            drain: serve.drain(),
            ..Times::default()
        };
        let pool = Pool::new(
            Arc::new(cells.clone()),
            Arc::new(ShelfOfPool(Arc::clone(&shelf))),
            Arc::new(AuditOfEdges(audit.clone())),
            times,
        );
        let policy = policy(&loaded.rules, screening.screen());
        let gateway = Gateway::new(Road::new(Arc::clone(&shelf), policy, audit.clone()), pool);

        // In service mode clients are other users of the machine; a user's own service is for that user.
        let for_all = !loaded.operator.peers().is_empty();
        let socket = Socket::bind(&socket, for_all).map_err(|error| {
            let hint = error.hint();
            Stop::new(FAILURE, error.to_string(), hint)
        })?;
        let socket_path = socket.path().to_owned();

        let identifier = identifier(&loaded, address, None)?;
        tell_of_keys(&identifier).await;
        let door = door(identifier, audit);
        let (stop, stopping) = watch::channel(false);
        let router = addresses(&gateway, &door, &folders, &serve, &stopping)?;
        let max_body = usize::try_from(serve.max_body()).unwrap_or(usize::MAX);
        let hosts = hosts(&serve, address);
        let mut listeners = JoinSet::new();
        let over_tcp = behind(Rim::of_listener(hosts, max_body), router.clone());
        listeners.spawn(tcp(listener, over_tcp, stopping.clone()));
        let over_socket = behind(Rim::of_socket(max_body), router);
        listeners.spawn(socket.serve(over_socket, stopping));

        let (watched, places) = watch::channel(places_now);
        let (tell, decided) = mpsc::channel(1);
        tokio::spawn(watching::watch(places, tell));
        let followed = gateway.clone();
        tokio::spawn(screening.clone().follow(move |screen| followed.set_screen(|| Arc::clone(&screen))));
        let mut service = Self {
            folders,
            gateway,
            cells,
            screening,
            door,
            address: Some(address),
            socket: socket_path,
            serve,
            stop,
            listeners,
            keeping: None,
            watched,
            decided,
        };
        service.keep_keys();
        service.note("started").await;
        Ok(service)
    }

    /// Waits until a person has decided something elsewhere.
    pub(crate) async fn decided(&mut self) {
        if self.decided.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Takes over what was read anew, as a whole. What cannot change while it runs is said.
    pub(crate) async fn take_over(&mut self, loaded: Loaded, is_reload: bool) -> anyhow::Result<()> {
        let address = self.address.context("it does not listen")?;
        // What can fail comes before anything is changed.
        let identifier = identifier(&loaded, address, Some(&self.door.identifier()))?;
        if is_reload {
            self.screening.renew().await?;
        }
        self.cells.declare(declared(&loaded, address));
        let watched = Places::of(&self.folders, loaded.servers.values().map(|served| &served.target));
        self.watched.send_if_modified(|places| {
            let is_other = format!("{places:?}") != format!("{watched:?}");
            *places = watched;
            is_other
        });
        if is_reload {
            // Whoever was let in by the former file alone is nobody from here on.
            self.door.replace(identifier);
        }
        let rules = Arc::new(loaded.rules);
        let version = rules.version();
        self.gateway.take_over(loaded.offers, rules, version);
        self.gateway.set_screen(|| self.screening.screen());
        self.gateway.pool().reload();
        if is_reload {
            tell_of_keys(&self.door.identifier()).await;
            self.keep_keys();
            let serve = loaded.operator.serve();
            if serve.listen() != self.serve.listen() || serve.url() != self.serve.url() {
                tracing::warn!("`serve.listen` and `serve.url` are taken over by a restart only");
            }
            self.note("reloaded").await;
        }
        Ok(())
    }

    /// Takes no more calls, lets those under way end, and ends every cell.
    pub(crate) async fn end(mut self) {
        self.stop.send_replace(true);
        self.gateway.pool().stop(self.serve.drain()).await;
        let ends = async { while self.listeners.join_next().await.is_some() {} };
        tokio::time::timeout(LAST, ends).await.ok();
        self.listeners.shutdown().await;
        if let Some(keeping) = self.keeping.take() {
            keeping.abort();
        }
        self.note("stopped").await;
        self.cells.close().await;
        self.gateway.audit().close().await;
    }

    fn keep_keys(&mut self) {
        let keeping = tokio::spawn(self.door.identifier().keep()).abort_handle();
        if let Some(before) = self.keeping.replace(keeping) {
            before.abort();
        }
    }

    async fn note(&self, what: &str) {
        let mut event = Event::new(Kind::Service);
        event.policy = Some(self.gateway.policy().version);
        event.details.insert("what".into(), what.into());
        event.details.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        event.details.insert("pid".into(), std::process::id().into());
        self.gateway.audit().note(event).await;
    }
}

/// Where the socket is: where systemd puts it, else in the user's own folder of running things, else with what is kept.
pub(crate) fn socket(folders: &Folders) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|folder| folder.is_absolute() && folder.is_dir());
    match runtime {
        Some(folder) => folder.join("fumehood-gateway.sock"),
        None => folders.state.join("gateway.sock"),
    }
}

async fn listener(wanted: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(wanted).await.map_err(|error| {
        let hint = "end what listens there, or choose another one: `--listen 127.0.0.1:0`, `serve.listen`";
        Stop::new(FAILURE, format!("cannot listen at {wanted}: {error}"), hint).into()
    })
}

/// Whoever is not recognised at it is recorded.
fn door(identifier: Identifier, audit: Audit) -> Door {
    let witness = move |event: Event| -> futures_util::future::BoxFuture<'static, ()> {
        let audit = audit.clone();
        metering::recorded(&event);
        Box::pin(async move { audit.note(event).await })
    };
    Door::new(identifier, Arc::new(witness))
}

/// The servers as cells are made of them: no setting leads from one to the service itself.
fn declared(loaded: &Loaded, address: SocketAddr) -> Declared {
    let targets = loaded.servers.iter().map(|(name, served)| {
        let mut target = served.target.clone();
        target.spec.network.operator.own.push(address);
        (name.clone(), target)
    });
    targets.collect()
}

fn policy(rules: &access::Rules, screen: Arc<Screen>) -> Policy {
    Policy { authorizer: Arc::new(rules.clone()), version: rules.version(), screen }
}

/// What a running server offers instead of what was accepted is kept until a person has decided.
fn keep(
    folders: &Folders,
    cells: &LiveCells,
) -> impl Fn(&ServerName, &Result<Surface, String>) + Send + Sync + 'static {
    let (folders, cells) = (folders.clone(), cells.clone());
    move |name, now| {
        tracing::warn!(server = %name, "it is not what was accepted any more: `fumehood review {name}`");
        let (Ok(surface), Some(target)) = (now, cells.target(name)) else { return };
        let seen = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let pending = Pending {
            fingerprint: surface.fingerprint().to_string(),
            surface: surface.value().clone(),
            first_seen: seen.clone(),
            last_seen: seen,
        };
        if let Err(error) = trust(&folders).set_pending(&target.lock.key(&target.name), &pending) {
            tracing::error!(server = %name, %error, "the change that was seen cannot be kept");
        }
    }
}

// `gateway` does not name the crate that hands these ids out.
const _: () = assert!(
    CELL_IDS.start == sandbox::identity::FIRST_ID
        && CELL_IDS.end == sandbox::identity::FIRST_ID + sandbox::identity::IDS
);

/// Whoever finds callers. The user who runs the service is let in over the socket without being named.
fn identifier(
    loaded: &Loaded,
    address: SocketAddr,
    before: Option<&Identifier>,
) -> anyhow::Result<Identifier> {
    let base = loaded.operator.serve().url().map_or_else(|| format!("http://{address}"), str::to_owned);
    let trust = |extra: Option<&Path>| {
        let extra: Vec<PathBuf> = extra.into_iter().map(Path::to_owned).collect();
        let roots = Roots::system(&extra).map_err(|error| KeysError::Certificates(error.to_string()))?;
        Trust::pem(roots.pem().as_bytes())
    };
    let identifier = Identifier::of(&loaded.operator, &base, trust, before).map_err(|error| {
        let hint = error.hint();
        Stop::new(USAGE, error.to_string(), hint)
    })?;
    let me = rustix::process::getuid().as_raw();
    let is_named = loaded.operator.peers().values().any(|peer| peer.uid() == me);
    Ok(if is_named { identifier } else { identifier.letting_in(me, owner()) })
}

fn owner() -> Known {
    Known {
        subject: crate::naming::user(),
        tenant: None,
        roles: [access::principal::OWNER.to_owned()].into(),
    }
}

/// An issuer that is down keeps nobody else's callers out.
async fn tell_of_keys(identifier: &Identifier) {
    for (issuer, error) in identifier.fetch().await {
        tracing::warn!(issuer, %error, "its keys cannot be had; its callers are refused until they can");
    }
}

fn hosts(serve: &Serve, address: SocketAddr) -> Hosts {
    let hosts = Hosts::of_port(address.port()).with_hosts(serve.hosts()).with_origins(serve.origins());
    match serve.url() {
        Some(url) => hosts.with_url(url),
        None => hosts,
    }
}

/// Every address of the service. What is behind `identified` has a caller.
fn addresses(
    gateway: &Gateway,
    door: &Door,
    folders: &Folders,
    serve: &Serve,
    stopping: &watch::Receiver<bool>,
) -> anyhow::Result<Router> {
    let faces = mcp::router(gateway.clone(), serve.max_sessions(), stopping.clone())
        .context("the kernel gave no random bytes")?
        .merge(messages::router(gateway.clone()))
        .layer(from_fn_with_state(door.clone(), identified));
    let documents = Router::new()
        .route(WELL_KNOWN, get(metadata))
        .route(&format!("{WELL_KNOWN}/{{*path}}"), get(metadata))
        .with_state(door.clone());
    let causes: Vec<Arc<dyn Cause>> = vec![
        Arc::new(gateway.audit().clone()),
        Arc::new(VaultFile(folders.clone())),
        Arc::new(IssuerKeys(door.clone())),
        Arc::new(Servers(Arc::clone(gateway.shelf()))),
    ];
    let meter = Meter::install()?;
    tokio::spawn(sum_up(meter.clone()));
    Ok(faces
        .merge(documents)
        .merge(health::router(causes))
        .merge(metering::router(meter))
        .merge(openapi::router()))
}

/// Nobody has to look at what is measured.
async fn sum_up(meter: Meter) {
    loop {
        tokio::time::sleep(SUMMED_UP).await;
        meter.sum_up();
    }
}
