//! A gateway with everything in it but the cells, and its face on a listener of this machine.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};

use access::{
    principal::{Known, Principal},
    rules::Rules,
    screen::Screen,
};
use axum::{extract::Request, middleware::Next, response::Response};
use gateway::{
    http::{Hosts, Rim, behind},
    mcp,
    pool::{Pool, Times},
    service::{AuditOfEdges, Gateway, Policy, Road, ShelfOfPool},
    shelf::{Offer, Shelf, Terms},
};
use model::config::Operator;
use store::audit::{Audit, Settings};
use tokio::{net::TcpListener, sync::watch};

use crate::servers::{Scripted, Servers, profile};

/// A gateway, its servers and its listener.
pub(crate) struct World {
    pub(crate) gateway: Gateway,
    pub(crate) servers: Arc<Servers>,
    pub(crate) address: SocketAddr,
    pub(crate) stop: watch::Sender<bool>,
    _folder: tempfile::TempDir,
}

/// Most bytes of a body here.
pub(crate) const MAX_BODY: usize = 64 << 10;

impl World {
    /// Of an operator's file that names the roles and each of the servers, at any free port.
    pub(crate) async fn new(config: &str, servers: &[Scripted]) -> Self {
        Self::at(0, config, servers).await
    }

    pub(crate) async fn at(port: u16, config: &str, servers: &[Scripted]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { group: Duration::ZERO, ..Settings::new(folder.path().join("audit")) };
        let audit = Audit::open(settings).await.unwrap();
        let shelf = Arc::new(Shelf::new(offers(config, servers), |_, _| {}));
        let policy = policy(config);
        let servers = Arc::new(Servers::new(servers));
        let changes = Arc::new(ShelfOfPool(Arc::clone(&shelf)));
        let edges = Arc::new(AuditOfEdges(audit.clone()));
        let pool = Pool::new(Arc::clone(&servers) as _, changes, edges, Times::default());
        let gateway = Gateway::new(Road::new(shelf, policy, audit), pool);
        let (stop, stopping) = watch::channel(false);
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let face =
            mcp::router(gateway.clone(), 100, stopping).unwrap().layer(axum::middleware::from_fn(known));
        let hosts = Hosts::of_port(address.port()).with_origins(["https://app.example.com"]);
        let router = behind(Rim::of_listener(hosts, MAX_BODY), face);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { gateway, servers, address, stop, _folder: folder }
    }

    /// After a reload with another file.
    pub(crate) fn reload(&self, config: &str) {
        self.gateway.set_policy(policy(config));
    }
}

pub(crate) fn offers(config: &str, servers: &[Scripted]) -> Vec<Offer> {
    let operator = Operator::resolve("config.toml", config.as_bytes(), None).unwrap();
    let offers = servers.iter().map(|server| {
        let mut all = operator.servers().iter();
        let (name, known) = all.find(|(name, _)| name.as_str() == server.name).unwrap();
        let terms = Terms {
            name: name.clone(),
            cell: known.cell().clone(),
            pass_through: known.is_pass_through(),
            tools: known.tools().clone(),
            hosts: vec!["login.example".to_owned()],
            version: "1".to_owned(),
            client: profile(),
        };
        Offer::accepted(terms, server.surface())
    });
    offers.collect()
}

fn policy(config: &str) -> Policy {
    let operator = Operator::resolve("config.toml", config.as_bytes(), None).unwrap();
    let servers = operator.servers().iter().map(|(name, server)| (name, server.tools()));
    let rules = Rules::new(&operator, servers);
    Policy { version: rules.version(), authorizer: Arc::new(rules), screen: Arc::new(Screen::none()) }
}

async fn known(mut request: Request, next: Next) -> Response {
    let who = Arc::new(principal(request.headers()));
    request.extensions_mut().insert(who);
    next.run(request).await
}

/// Whoever asks is the subject in the header `who` (`alice` without it), with the roles in `roles` (`all` without it).
fn principal(headers: &http::HeaderMap) -> Principal {
    let text = |name: &str, otherwise: &str| {
        let value = headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        value.unwrap_or_else(|| otherwise.to_owned())
    };
    principal_of(&text("who", "alice"), &text("roles", "all"))
}

pub(crate) fn principal_of(who: &str, roles: &str) -> Principal {
    let roles: BTreeSet<String> =
        roles.split(' ').filter(|role| !role.is_empty()).map(str::to_owned).collect();
    let known = Known { subject: who.to_owned(), tenant: None, roles };
    Principal::of_key(who, known, None)
}
