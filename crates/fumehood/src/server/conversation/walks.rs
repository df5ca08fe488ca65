//! The road of a session over stdio: each call of the client is judged and recorded before its server hears of it, as it
//! is behind any other face.

use std::{collections::HashMap, rc::Rc, sync::Arc, time::Duration};

use access::{
    Rules, Screen, Verb,
    principal::Principal,
    refusal::{Code, Refusal},
};
use cell::folders::Folders;
use gateway::{
    call::{Concluded, End, Face, Received, Scope},
    front::{Over, Ticket},
    pool::{Answer, AskError},
    results,
    road::{Recorded, Underway},
    service::{Policy, Road},
    shelf::{Offer, Shelf, Terms},
};
use model::{json, name::ServerName};
use serde_json::{Map, Value, json as value};
use store::audit::{Audit, CallId, Settings};
use tokio::{
    sync::{OnceCell, mpsc},
    task::JoinSet,
};
use tools::surface::Surface;

use crate::server::target::Target;

/// How long notes are gathered.
const GROUP: Duration = Duration::from_millis(5);
/// How long the end waits for what is not written yet.
const LAST_ROWS: Duration = Duration::from_secs(5);
/// Calls whose road has ended and that wait to be heard of.
const WAITING: usize = 64;
/// JSON-RPC 2.0, section 5.1.
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

/// Every call of one session that is not over.
pub(super) struct Walks {
    server: ServerName,
    principal: Arc<Principal>,
    is_pass_through: bool,
    desk: Rc<Desk>,
    back: mpsc::Receiver<Back>,
    send: mpsc::Sender<Back>,
    /// How many calls are on the road.
    walking: usize,
    under_way: HashMap<Ticket, Underway>,
    /// Rows on their way to the record.
    writing: JoinSet<()>,
}

/// What calls walk by. The record is opened when the first one does.
struct Desk {
    shelf: Arc<Shelf>,
    policy: Policy,
    settings: Settings,
    road: OnceCell<Result<Road, String>>,
}

/// A call that comes back from the road.
pub(super) struct Back {
    ticket: Ticket,
    id: Value,
    method: String,
    meta: Map<String, Value>,
    verb: Verb,
    end: Result<Box<Recorded>, Box<Concluded>>,
}

/// A call that may be asked, or the line in its place.
pub(super) enum Step {
    /// Ask it: [`Walks::begun`] afterwards, if it was.
    Ask(Ticket, Vec<u8>, Box<Underway>),
    /// The client's answer.
    Turned(Ticket, Vec<u8>),
}

impl Walks {
    /// For calls of whoever runs this program.
    pub(super) fn new(target: &Target, folders: &Folders, surface: Option<&Surface>) -> Self {
        let (send, back) = mpsc::channel(WAITING);
        let server = target.name.clone();
        let rules = Rules::owner([(&server, &target.tools)]);
        let policy = Policy {
            version: rules.version(),
            authorizer: Arc::new(rules),
            screen: Arc::new(Screen::none()),
        };
        let offers = surface.map(|surface| offer(target, surface));
        // What has changed is kept by whoever holds the session.
        let shelf = Arc::new(Shelf::new(offers, |_, _| {}));
        let settings = Settings { group: GROUP, ..Settings::new(crate::places::audit(folders)) };
        Self {
            server,
            principal: Arc::new(Principal::local(&crate::naming::user())),
            is_pass_through: target.is_pass_through,
            desk: Rc::new(Desk { shelf, policy, settings, road: OnceCell::new() }),
            back,
            send,
            walking: 0,
            under_way: HashMap::new(),
            writing: JoinSet::new(),
        }
    }

    /// The tools as the client is shown them.
    pub(super) fn shown(&self) -> std::collections::BTreeMap<String, Value> {
        let stock = self.desk.shelf.stock();
        let entries = stock.offers().flat_map(|offer| offer.entries().to_vec());
        let tools = entries.filter(|entry| entry.gate().is_some());
        tools.map(|entry| (entry.plain().to_owned(), Value::clone(&entry.alone().value))).collect()
    }

    /// Tools that are not offered, and why.
    pub(super) fn faults(&self) -> Vec<String> {
        let stock = self.desk.shelf.stock();
        let faults = stock.offers().flat_map(|offer| offer.faults().to_vec());
        faults.map(|fault| format!("the tool `{}` is not offered: {}", fault.tool, fault.reason)).collect()
    }

    /// A person has accepted another surface.
    pub(super) fn accept(&mut self, target: &Target, surface: &Surface) {
        self.desk.shelf.replace([offer(target, surface)]);
    }

    /// Sends a call on its way; it comes by [`Walks::next`].
    pub(super) fn walk(&mut self, ticket: Ticket, line: &[u8], client: Option<&str>) {
        let Some(asked) = Asked::of(line) else {
            // The front has read it as what it is not.
            tracing::error!("a request was handed out that is none");
            return;
        };
        let Asked { id, method, verb, name, params, meta } = asked;
        let received = Received {
            call: CallId::new(),
            face: Face::Stdio,
            principal: Arc::clone(&self.principal),
            scope: Scope::Server(self.server.clone()),
            verb,
            name,
            params,
            meta: meta.clone(),
            client: client.map(str::to_owned),
            progress: None,
            questions: None,
            modern: false,
        };
        let (desk, send) = (Rc::clone(&self.desk), self.send.clone());
        self.walking += 1;
        tokio::task::spawn_local(async move {
            let call = received.call.clone();
            let end = match desk.road().await {
                Ok(road) => match road.up_to_recorded(received).await {
                    Ok(recorded) => Ok(Box::new(recorded)),
                    Err(turned) => Err(Box::new(turned.conclude(road.audit()).await)),
                },
                Err(why) => Err(Box::new(unrecorded(call, why))),
            };
            // The session may be over.
            send.send(Back { ticket, id, method, meta, verb, end }).await.ok();
        });
    }

    /// Whether a call is on the road.
    pub(super) fn is_walking(&self) -> bool {
        self.walking > 0
    }

    /// The next call that comes back from the road.
    pub(super) async fn next(&mut self) -> Step {
        let Some(Back { ticket, id, method, meta, verb, end }) = self.back.recv().await else {
            return std::future::pending().await;
        };
        self.walking = self.walking.saturating_sub(1);
        match end {
            Ok(recorded) => {
                let underway = recorded.begin();
                let mut params = underway.params();
                if let (Value::Object(params), false) = (&mut params, meta.is_empty()) {
                    params.insert("_meta".into(), Value::Object(meta));
                }
                let message = value!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
                Step::Ask(ticket, line(&message), Box::new(underway))
            }
            Err(concluded) => Step::Turned(ticket, line(&answer(&id, verb, &concluded))),
        }
    }

    /// A call was handed to the server; or it was not, and nothing came of it.
    pub(super) fn begun(&mut self, ticket: Ticket, underway: Underway, was_asked: bool) {
        if was_asked {
            self.under_way.insert(ticket, underway);
        } else {
            let error =
                AskError::Ended { why: "it was withdrawn before it was asked".into(), was_sent: false };
            self.conclude(underway, Err(error));
        }
    }

    /// The server has answered: what the client is told.
    pub(super) fn answered(&mut self, ticket: &Ticket, said: Vec<u8>) -> Vec<u8> {
        let Some(underway) = self.under_way.remove(ticket) else { return said };
        let Ok(Value::Object(mut message)) = json::parse(&said) else {
            self.conclude(underway, Err(AskError::Malformed("the server's answer cannot be read".into())));
            return said;
        };
        let mut said = said;
        let answer = match (message.remove("result"), message.remove("error")) {
            (Some(result), _) if self.is_pass_through => Answer::Result(result),
            (Some(result), _) => {
                let result = results::guard(result, &results::Bounds::default());
                message.insert("result".into(), result.clone());
                said = line(&Value::Object(message));
                Answer::Result(result)
            }
            (None, Some(error)) if !self.is_pass_through => {
                let error = results::error(error, &results::Bounds::default());
                message.insert("error".into(), error.clone());
                said = line(&Value::Object(message));
                Answer::Error(error)
            }
            (None, error) => Answer::Error(error.unwrap_or_default()),
        };
        self.conclude(underway, Ok(answer));
        said
    }

    /// A call has come to another end.
    pub(super) fn over(&mut self, ticket: &Ticket, over: Over) {
        let Some(underway) = self.under_way.remove(ticket) else { return };
        if let (Over::Withdrawn, Some(audit)) = (over, self.desk.audit()) {
            return drop(underway.recorded_by(audit));
        }
        let error = AskError::Ended { why: "the server has ended".into(), was_sent: true };
        self.conclude(underway, Err(error));
    }

    fn conclude(&mut self, underway: Underway, answer: Result<Answer, AskError>) {
        let (Some(performed), Some(audit)) = (underway.ended(answer), self.desk.audit()) else { return };
        while self.writing.try_join_next().is_some() {}
        self.writing.spawn_local(async move { drop(performed.conclude(&audit).await) });
    }

    /// Writes what is not written yet.
    pub(super) async fn finish(&mut self) {
        let Some(audit) = self.desk.audit() else { return };
        for (_, underway) in std::mem::take(&mut self.under_way) {
            drop(underway.recorded_by(audit.clone()));
        }
        // What came back too late to be asked has its intent in the record, and needs its end.
        while let Ok(Back { end: Ok(recorded), .. }) = self.back.try_recv() {
            drop(recorded.begin().recorded_by(audit.clone()));
        }
        let writing = &mut self.writing;
        let rest = async {
            while writing.join_next().await.is_some() {}
            audit.close().await;
        };
        tokio::time::timeout(LAST_ROWS, rest).await.ok();
    }
}

impl Desk {
    async fn road(&self) -> Result<&Road, &str> {
        let road = self.road.get_or_init(|| async {
            let audit = Audit::open(self.settings.clone()).await.map_err(|error| error.to_string())?;
            Ok(Road::new(Arc::clone(&self.shelf), self.policy.clone(), audit))
        });
        road.await.as_ref().map_err(String::as_str)
    }

    fn audit(&self) -> Option<Audit> {
        self.road.get()?.as_ref().ok().map(|road| road.audit().clone())
    }
}

/// One request, taken apart.
struct Asked {
    id: Value,
    method: String,
    verb: Verb,
    name: String,
    params: Map<String, Value>,
    meta: Map<String, Value>,
}

impl Asked {
    fn of(line: &[u8]) -> Option<Self> {
        let Ok(Value::Object(mut message)) = json::parse(line) else { return None };
        let method = message.get("method")?.as_str()?.to_owned();
        let verb = match method.as_str() {
            "tools/call" => Verb::CallTool,
            "prompts/get" => Verb::GetPrompt,
            "resources/read" => Verb::ReadResource,
            "completion/complete" => Verb::Complete,
            "resources/subscribe" => Verb::Subscribe,
            _ => return None,
        };
        let Some(Value::Object(mut params)) = message.remove("params") else { return None };
        let meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        let of = match verb {
            Verb::CallTool | Verb::GetPrompt => params.get("name"),
            Verb::ReadResource | Verb::Subscribe => params.get("uri"),
            Verb::Complete => params.get("ref").and_then(|of| of.get("name").or_else(|| of.get("uri"))),
        };
        let name = of?.as_str()?.to_owned();
        Some(Self { id: message.remove("id")?, method, verb, name, params, meta })
    }
}

fn offer(target: &Target, surface: &Surface) -> Offer {
    let terms = Terms {
        name: target.name.clone(),
        cell: model::config::Whose::Server,
        pass_through: target.is_pass_through,
        tools: target.tools.clone(),
        hosts: target.spec.network.hosts.clone(),
        version: surface.fingerprint().to_string(),
        client: target.client.clone(),
    };
    Offer::accepted(terms, surface.clone())
}

/// Nothing is done that cannot be written down.
fn unrecorded(call: CallId, why: &str) -> Concluded {
    let refusal =
        Refusal::new(Code::AUDIT_UNAVAILABLE, format!("what would be done cannot be recorded ({why})"));
    Concluded { call, end: End::Refused(Box::new(refusal)), subscription: None }
}

/// The answer to a call that was turned away: to a tool's the model reads it, to any other the client.
fn answer(id: &Value, verb: Verb, concluded: &Concluded) -> Value {
    let End::Refused(refusal) = &concluded.end else {
        return value!({ "jsonrpc": "2.0", "id": id, "error": { "code": INTERNAL_ERROR, "message": "no answer" } });
    };
    if verb == Verb::CallTool && !refusal.hidden {
        let text = format!("{}: {}", refusal.code, refusal.text());
        let result = value!({ "content": [{ "type": "text", "text": text }], "isError": true });
        return value!({ "jsonrpc": "2.0", "id": id, "result": result });
    }
    let code = if refusal.hidden { INVALID_PARAMS } else { INTERNAL_ERROR };
    let message = format!("{}: {}", refusal.code, refusal.text());
    value!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message, "data": { "code": refusal.code } } })
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
