//! A gateway with everything in it but the cells, and a listener on this machine.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};

use access::{
    principal::{Known, Principal},
    rules::Rules,
    screen::Screen,
};
use axum::{Router, extract::Request, middleware::Next, response::Response};
use bytes::Bytes;
use gateway::{
    identify::Connection,
    pool::{Pool, Times},
    service::{AuditOfEdges, Gateway, Policy, Road, ShelfOfPool},
    shelf::{Offer, Shelf, Terms},
};
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use model::{config::Operator, profile::Profile};
use serde_json::Value;
use store::audit::{Audit, Event, Filter, Kind, Log, Settings};
use tokio::net::{TcpListener, TcpStream};

use crate::servers::{Scripted, Servers};

/// A gateway, its servers and its record.
pub(crate) struct World {
    pub(crate) gateway: Gateway,
    pub(crate) servers: Arc<Servers>,
    pub(crate) audit: Audit,
    folder: tempfile::TempDir,
}

impl World {
    /// Of an operator's file that names the roles and each of the servers.
    pub(crate) async fn new(config: &str, servers: &[Scripted]) -> Self {
        let operator = Operator::resolve("config.toml", config.as_bytes(), None).unwrap();
        let offers = servers.iter().map(|server| Offer::accepted(terms(&operator, server), server.surface()));
        let shelf = Arc::new(Shelf::new(offers, |_, _| {}));
        let rules =
            Rules::new(&operator, operator.servers().iter().map(|(name, server)| (name, server.tools())));
        let policy = Policy {
            version: rules.version(),
            authorizer: Arc::new(rules),
            screen: Arc::new(Screen::none()),
        };
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            group: Duration::ZERO,
            bodies: operator.audit().bodies(),
            ..Settings::new(folder.path().join("record"))
        };
        let audit = Audit::open(settings).await.unwrap();
        let servers = Arc::new(Servers::new(servers));
        let changes = Arc::new(ShelfOfPool(Arc::clone(&shelf)));
        let edges = Arc::new(AuditOfEdges(audit.clone()));
        let pool = Pool::new(Arc::clone(&servers) as _, changes, edges, Times::default());
        let gateway = Gateway::new(Road::new(shelf, policy, audit.clone()), pool);
        Self { gateway, servers, audit, folder }
    }

    /// Every row of the record, the last of which is one of the test's own: what was noted before is written.
    pub(crate) async fn rows(&self) -> Vec<Event> {
        self.audit.commit(Event::new(Kind::Service)).await.unwrap();
        let mut log = Log::open(&self.folder.path().join("record")).await.unwrap();
        let rows = log.last(Log::PAGE, &Filter::default()).await.unwrap();
        rows.into_iter().map(|row| row.event).collect()
    }

    /// Puts these addresses up. Whoever asks is the subject in the header `who`, with the roles in `roles`.
    pub(crate) async fn listen(&self, router: Router) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = router.layer(axum::middleware::from_fn(known));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        address
    }
}

/// On which terms the operator's file has a server used.
pub(crate) fn terms(operator: &Operator, server: &Scripted) -> Terms {
    let (name, known) = operator.servers().iter().find(|(name, _)| name.as_str() == server.name).unwrap();
    Terms {
        name: name.clone(),
        cell: known.cell().clone(),
        pass_through: known.is_pass_through(),
        tools: known.tools().clone(),
        hosts: Vec::new(),
        version: "1".to_owned(),
        client: Profile::plain(),
    }
}

async fn known(mut request: Request, next: Next) -> Response {
    if let Some(principal) = principal(request.headers()) {
        request.extensions_mut().insert(Arc::new(principal));
    }
    request.extensions_mut().insert(Connection::Tcp(SocketAddr::from(([127, 0, 0, 1], 9))));
    next.run(request).await
}

fn principal(headers: &HeaderMap) -> Option<Principal> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let who = text("who")?;
    let roles = text("roles").unwrap_or_default();
    let roles: BTreeSet<String> = roles.split_whitespace().map(str::to_owned).collect();
    Some(Principal::of_key(&who, Known { subject: who.clone(), tenant: text("tenant"), roles }, None))
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// One request over a connection of its own; the connection closes where the future is dropped.
pub(crate) async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    let mut request = http::Request::builder().method(method).uri(path).header("host", address.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body.into())).unwrap();
    let exchange = async {
        let response = sender.send_request(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    };
    tokio::pin!(exchange);
    tokio::select! {
        answer = &mut exchange => answer,
        _ = connection => exchange.await,
    }
}
