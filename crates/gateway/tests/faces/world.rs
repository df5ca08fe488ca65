//! The service as it is put together, with servers of the matrix that are tasks of the test.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use access::{principal::Principal, rules::Rules, screen::Screen};
use axum::{Router, middleware::from_fn_with_state};
use futures_util::future::BoxFuture;
use gateway::{
    http::{Hosts, Rim, behind},
    identify::{Door, Identifier, identified},
    jwks::Trust,
    listen, mcp, messages,
    pool::{CellKey, Cells, Heard, Pool, Running, StartError, Times},
    service::{AuditOfEdges, Gateway, Policy, Road, ShelfOfPool},
    shelf::{Offer, Shelf, Terms},
};
use model::{config::Operator, profile::Profile};
use serde_json::{Value, json};
use store::audit::{Audit, Event, Filter, Kind, Log, Settings};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
};
use tools::{introspect::Introspection, surface::Surface};

#[path = "../support/strings.rs"]
mod strings;

use strings::Strings;

/// Everything, and a listener.
pub(crate) struct World {
    pub(crate) gateway: Gateway,
    pub(crate) address: SocketAddr,
    pub(crate) servers: Arc<Servers>,
    pub(crate) door: Door,
    audit: Audit,
    folder: tempfile::TempDir,
    _stop: watch::Sender<bool>,
}

impl World {
    /// Of the matrix's own file, with a text added.
    pub(crate) async fn new(more: &str) -> Self {
        let config = format!("{}\n{more}", include_str!("../matrix/config.toml"));
        let operator = Operator::resolve("config.toml", config.as_bytes(), None).unwrap();
        let surfaces: BTreeMap<String, Value> =
            serde_json::from_str(include_str!("../matrix/surfaces.json")).unwrap();
        let servers = Arc::new(Servers { surfaces, heard: Arc::default() });
        let shelf = Arc::new(Shelf::new(servers.offers(&operator), |_, _| {}));
        let rules = rules(&operator);
        let policy = Policy {
            version: rules.version(),
            authorizer: Arc::new(rules),
            screen: Arc::new(Screen::none()),
        };
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { group: Duration::ZERO, ..Settings::new(folder.path().join("record")) };
        let audit = Audit::open(settings).await.unwrap();
        let changes = Arc::new(ShelfOfPool(Arc::clone(&shelf)));
        let edges = Arc::new(AuditOfEdges(audit.clone()));
        let pool = Pool::new(Arc::clone(&servers) as _, changes, edges, Times::default());
        let gateway = Gateway::new(Road::new(shelf, policy, audit.clone()), pool);

        let (stop, stopping) = watch::channel(false);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let identifier =
            Identifier::of(&operator, &format!("http://{address}"), |_| Trust::pem(b""), None).unwrap();
        let door = Door::new(identifier, Arc::new(|_| Box::pin(async {})));
        let faces: Router = mcp::router(gateway.clone(), 1000, stopping.clone())
            .unwrap()
            .merge(messages::router(gateway.clone()))
            .layer(from_fn_with_state(door.clone(), identified));
        let rim = Rim::of_listener(Hosts::of_port(address.port()), 1 << 20);
        tokio::spawn(listen::tcp(listener, behind(rim, faces), stopping));
        Self { gateway, address, servers, door, audit, folder, _stop: stop }
    }

    /// Every row of the record.
    pub(crate) async fn rows(&self) -> Vec<Event> {
        self.audit.commit(Event::new(Kind::Service)).await.unwrap();
        let mut log = Log::open(&self.folder.path().join("record")).await.unwrap();
        let rows = log.last(Log::PAGE, &Filter::default()).await.unwrap();
        rows.into_iter().map(|row| row.event).collect()
    }

    /// Nothing can be recorded any more.
    #[cfg(feature = "guard-off")]
    pub(crate) async fn without_record(&self) {
        self.audit.close().await;
    }
}

/// The servers of the matrix, and what they were asked.
pub(crate) struct Servers {
    surfaces: BTreeMap<String, Value>,
    heard: Arc<Mutex<Vec<Value>>>,
}

/// The rules of a file.
pub(crate) fn rules(operator: &Operator) -> Rules {
    Rules::new(operator, operator.servers().iter().map(|(name, server)| (name, server.tools())))
}

impl Servers {
    /// The servers of a file, as they were accepted.
    pub(crate) fn offers(&self, operator: &Operator) -> Vec<Offer> {
        let offers = operator.servers().iter().map(|(name, known)| {
            let terms = Terms {
                name: name.clone(),
                cell: known.cell().clone(),
                pass_through: known.is_pass_through(),
                tools: known.tools().clone(),
                hosts: Vec::new(),
                version: "1".to_owned(),
                client: Profile::plain(),
            };
            let offer = Offer::accepted(terms, self.surface(name.as_str()));
            assert_eq!(offer.faults(), []);
            offer
        });
        offers.collect()
    }

    fn answer(&self, server: &str, message: &Value) -> Value {
        let surface = &self.surfaces[server];
        let list = |name: &str| json!({ name: surface.get(name).cloned().unwrap_or(json!([])) });
        match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "serverInfo": { "name": server, "version": "1" },
                "capabilities": { "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {} },
            }),
            "tools/list" => list("tools"),
            "prompts/list" => list("prompts"),
            "resources/list" => list("resources"),
            "resources/templates/list" => list("resourceTemplates"),
            "tools/call" => {
                json!({ "content": [{ "type": "text", "text": message["params"]["arguments"].to_string() }] })
            }
            "prompts/get" => json!({ "messages": [] }),
            "resources/read" => json!({ "contents": [{ "uri": message["params"]["uri"], "text": "read" }] }),
            "completion/complete" => json!({ "completion": { "values": [] } }),
            _ => json!({}),
        }
    }

    /// As a review reads it.
    pub(crate) fn surface(&self, server: &str) -> Surface {
        let mut reading = Introspection::new(&Profile::plain(), "review-");
        let mut asked = reading.begin();
        while let Some(line) = asked.pop() {
            if line.get("id").is_some() {
                let answer =
                    json!({ "jsonrpc": "2.0", "id": line["id"], "result": self.answer(server, &line) });
                asked.extend(reading.push(&answer));
            }
        }
        reading.result().unwrap().unwrap()
    }

    /// What servers were asked, by method.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|message| message["method"] == method).cloned().collect()
    }
}

impl Cells for Servers {
    fn start(
        &self,
        key: CellKey,
        _who: Option<Arc<Principal>>,
    ) -> BoxFuture<'static, Result<Running, StartError>> {
        let (say, mut lines) = mpsc::channel::<Vec<u8>>(64);
        let (tell, hear) = mpsc::channel(64);
        let server = Self { surfaces: self.surfaces.clone(), heard: Arc::clone(&self.heard) };
        tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                let message: Value = serde_json::from_slice(&line).unwrap();
                server.heard.lock().unwrap().push(message.clone());
                if let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) {
                    let result = server.answer(key.server.as_str(), &message);
                    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                    tell.send(Heard::Line(answer.to_string().into_bytes())).await.ok();
                }
            }
        });
        let control = Arc::new(Strings);
        let running = Running { say, hear, control, speaks_http: false, roots: Vec::new() };
        Box::pin(std::future::ready(Ok(running)))
    }
}
