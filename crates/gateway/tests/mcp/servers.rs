//! Servers that are tasks: what each of their tools does is its name. With them the face is looked at from outside, by the
//! tests here and by the protocol's own suites.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use access::principal::Principal;
use futures_util::future::BoxFuture;
use gateway::pool::{CellKey, Cells, Heard, Running, StartError};
use model::profile::Profile;
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};
use tools::{introspect::Introspection, surface::Surface};

use crate::fixtures;

#[path = "../support/strings.rs"]
mod strings;

use strings::Strings;

/// One server.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) name: &'static str,
    pub(crate) tools: Vec<Value>,
    /// It speaks 2026-07-28.
    pub(crate) modern: bool,
}

impl Scripted {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, tools: fixtures::tools(), modern: false }
    }

    fn answer(&self, method: &str) -> Option<Value> {
        Some(match method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "serverInfo": { "name": self.name, "version": "1" },
                "instructions": format!("how to use {}", self.name),
                "capabilities": {
                    "tools": { "listChanged": true }, "prompts": {}, "completions": {}, "logging": {},
                    "resources": { "subscribe": true }, "tasks": { "list": {} },
                },
            }),
            "server/discover" if self.modern => json!({
                "supportedVersions": ["2026-07-28", "2025-11-25"], "resultType": "complete",
                "capabilities": { "tools": {}, "prompts": {}, "resources": {} },
            }),
            "tools/list" => json!({ "tools": self.tools }),
            "prompts/list" => json!({ "prompts": fixtures::prompts() }),
            "resources/list" => json!({ "resources": fixtures::resources() }),
            "resources/templates/list" => json!({ "resourceTemplates": fixtures::templates() }),
            _ => return None,
        })
    }

    /// As a review reads it.
    pub(crate) fn surface(&self) -> Surface {
        let mut reading = Introspection::new(&profile(), "review-");
        let mut asked = reading.begin();
        while let Some(line) = asked.pop() {
            if let Some(result) = line["method"].as_str().and_then(|method| self.answer(method)) {
                asked.extend(reading.push(&json!({ "jsonrpc": "2.0", "id": line["id"], "result": result })));
            }
        }
        reading.result().unwrap().unwrap()
    }
}

/// As which client servers are spoken to here.
pub(crate) fn profile() -> Profile {
    "elicitation+roots".parse().unwrap()
}

/// All servers, and what each was told.
pub(crate) struct Servers {
    all: BTreeMap<&'static str, Scripted>,
    heard: Arc<Mutex<VecDeque<Value>>>,
    says: Mutex<HashMap<String, Voice>>,
}

impl Servers {
    pub(crate) fn new(all: &[Scripted]) -> Self {
        let all = all.iter().map(|one| (one.name, one.clone())).collect();
        Self { all, heard: Arc::default(), says: Mutex::default() }
    }

    /// The parameters of every message with this method that any server was told.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        let heard = heard.iter().filter(|message| message["method"] == method);
        heard.map(|message| message["params"].clone()).collect()
    }

    /// Has a server say something that is of no call.
    pub(crate) async fn say(&self, server: &str, method: &str, params: Value) {
        let voice = self.says.lock().unwrap().get(server).unwrap().clone();
        voice.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }
}

impl Cells for Servers {
    fn start(
        &self,
        key: CellKey,
        _who: Option<Arc<Principal>>,
    ) -> BoxFuture<'static, Result<Running, StartError>> {
        let (say, lines) = mpsc::channel(64);
        let (to_pool, hear) = mpsc::channel(64);
        let server = self.all[key.server.as_str()].clone();
        let voice = Voice { to_pool, asked: Arc::default(), counter: Arc::default() };
        self.says.lock().unwrap().insert(key.server.to_string(), voice.clone());
        let speaks_http = server.modern;
        tokio::spawn(serve(server, Arc::clone(&self.heard), lines, voice));
        let running = Running { say, hear, control: Arc::new(Strings), speaks_http, roots: Vec::new() };
        Box::pin(std::future::ready(Ok(running)))
    }
}

/// The last of what was heard: a suite that goes on for long shall not be remembered whole.
fn keep(heard: &Mutex<VecDeque<Value>>, message: &Value) {
    let mut heard = heard.lock().unwrap();
    heard.push_back(message.clone());
    if heard.len() > 1_000 {
        heard.pop_front();
    }
}

async fn serve(
    server: Scripted,
    heard: Arc<Mutex<VecDeque<Value>>>,
    mut lines: mpsc::Receiver<Vec<u8>>,
    voice: Voice,
) {
    while let Some(line) = lines.recv().await {
        let message: Value = serde_json::from_slice(&line).unwrap();
        keep(&heard, &message);
        let Some(id) = message.get("id").cloned() else { continue };
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            voice.answered(&message);
            continue;
        };
        if let Some(result) = server.answer(&method) {
            voice.result(&id, result).await;
            continue;
        }
        let (voice, params) = (voice.clone(), message["params"].clone());
        tokio::spawn(async move {
            match voice.act(&method, &params).await {
                Some(Ok(result)) => voice.result(&id, result).await,
                Some(Err(error)) => voice.line(&json!({ "jsonrpc": "2.0", "id": id, "error": error })).await,
                None => {}
            }
        });
    }
}

/// Where a server says something.
#[derive(Clone)]
pub(crate) struct Voice {
    to_pool: mpsc::Sender<Heard>,
    asked: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
    counter: Arc<AtomicU64>,
}

impl Voice {
    async fn line(&self, message: &Value) {
        self.to_pool.send(Heard::Line(message.to_string().into_bytes())).await.ok();
    }

    async fn result(&self, id: &Value, result: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    async fn notify(&self, method: &str, params: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Asks the client; its answer is the whole message.
    async fn ask(&self, method: &str, params: Value) -> Value {
        let id = format!("q{}", self.counter.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        self.asked.lock().unwrap().insert(id.clone(), sender);
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        receiver.await.unwrap_or_default()
    }

    fn answered(&self, message: &Value) {
        let sender = message["id"].as_str().and_then(|id| self.asked.lock().unwrap().remove(id));
        if let Some(sender) = sender {
            sender.send(message.clone()).ok();
        }
    }

    async fn act(&self, method: &str, params: &Value) -> Option<Result<Value, Value>> {
        let arguments = &params["arguments"];
        let name = params["name"].as_str().unwrap_or_default();
        match method {
            "tools/call" => match name {
                "echo" => Some(Ok(fixtures::text(&arguments.to_string()))),
                "silent" => None,
                "slow" => {
                    sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap())).await;
                    Some(Ok(fixtures::text("late")))
                }
                "end" => {
                    self.to_pool.send(Heard::Ended("exit code 3".to_owned())).await.ok();
                    None
                }
                "test_tool_with_progress" => {
                    let token = &params["_meta"]["progressToken"];
                    for progress in
                        arguments["steps"].as_array().unwrap_or(&vec![json!(0), json!(50), json!(100)])
                    {
                        let params = json!({ "progressToken": token, "progress": progress, "total": 100 });
                        self.notify("notifications/progress", params).await;
                        sleep(Duration::from_millis(50)).await;
                    }
                    Some(Ok(fixtures::text("done")))
                }
                "test_tool_with_logging" | "test_logging_tool" => {
                    for step in ["started", "processing data", "completed"] {
                        let data = json!({ "level": "info", "data": format!("Tool {step}") });
                        self.notify("notifications/message", data).await;
                        sleep(Duration::from_millis(50)).await;
                    }
                    Some(Ok(fixtures::text("logged")))
                }
                "ask" => {
                    let answer = self.ask("elicitation/create", arguments.clone()).await;
                    Some(if answer.get("error").is_some() {
                        Ok(
                            json!({ "isError": true, "content": [{ "type": "text", "text": answer["error"].to_string() }] }),
                        )
                    } else {
                        Ok(fixtures::text(&answer["result"].to_string()))
                    })
                }
                "ask_without" => {
                    let answer = self.ask("elicitation/create", arguments.clone()).await;
                    Some(Ok(fixtures::text(if answer.get("error").is_some() {
                        "did without"
                    } else {
                        "did with"
                    })))
                }
                "test_elicitation"
                | "test_streaming_elicitation"
                | "test_elicitation_sep1034_defaults"
                | "test_elicitation_sep1330_enums" => {
                    let answer = self.ask("elicitation/create", fixtures::form_of(name, arguments)).await;
                    Some(Ok(fixtures::text(&format!("User response: {}", answer["result"]))))
                }
                "test_sampling" => {
                    let text = json!({ "type": "text", "text": arguments["prompt"] });
                    let params =
                        json!({ "messages": [{ "role": "user", "content": text }], "maxTokens": 100 });
                    let answer = self.ask("sampling/createMessage", params).await;
                    Some(Ok(fixtures::text(&format!("LLM response: {answer}"))))
                }
                _ => Some(fixtures::call(name, params)),
            },
            "prompts/get" => Some(fixtures::prompt(name, params)),
            "resources/read" => Some(fixtures::read(params["uri"].as_str().unwrap_or_default())),
            "completion/complete" => Some(Ok(
                json!({ "completion": { "values": ["paris", "park"], "total": 2, "hasMore": false } }),
            )),
            "resources/subscribe" | "resources/unsubscribe" | "ping" | "logging/setLevel" => {
                Some(Ok(json!({})))
            }
            _ => Some(Err(json!({ "code": -32601, "message": "Method not found" }))),
        }
    }
}
