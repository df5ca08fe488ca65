//! Servers that are tasks of the test: what each of their tools does, the test says.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use access::principal::Principal;
use futures_util::future::BoxFuture;
use gateway::pool::{CellKey, Cells, Heard, Running, StartError};
use model::profile::Profile;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tools::{introspect::Introspection, surface::Surface};

#[path = "strings.rs"]
mod strings;

use strings::Strings;

/// What comes of a call.
pub(crate) enum Act {
    /// This result.
    Result(Value),
    /// This result, after a while.
    After(Duration, Value),
    /// This error.
    Error(Value),
    /// The end of the server.
    End,
}

/// One server, and what it does with the name and the arguments of a call.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) name: &'static str,
    pub(crate) tools: Vec<Value>,
    pub(crate) act: fn(&str, &Value) -> Act,
}

impl Scripted {
    /// Of any answer of its that a review asks for.
    fn answer(&self, method: &str) -> Option<Value> {
        Some(match method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "serverInfo": { "name": self.name, "version": "1" },
                "capabilities": { "tools": {} },
            }),
            "tools/list" => json!({ "tools": self.tools }),
            _ => return None,
        })
    }

    /// As a review reads it.
    pub(crate) fn surface(&self) -> Surface {
        let mut reading = Introspection::new(&Profile::plain(), "review-");
        let mut asked = reading.begin();
        while let Some(line) = asked.pop() {
            if let Some(result) = line["method"].as_str().and_then(|method| self.answer(method)) {
                asked.extend(reading.push(&json!({ "jsonrpc": "2.0", "id": line["id"], "result": result })));
            }
        }
        reading.result().unwrap().unwrap()
    }

    async fn serve(
        self,
        heard: Arc<Mutex<Vec<Value>>>,
        mut lines: mpsc::Receiver<Vec<u8>>,
        say: mpsc::Sender<Heard>,
    ) {
        while let Some(line) = lines.recv().await {
            let message: Value = serde_json::from_slice(&line).unwrap();
            heard.lock().unwrap().push(message.clone());
            let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id").cloned()) else {
                continue;
            };
            let act = match self.answer(method) {
                Some(result) => Act::Result(result),
                None => (self.act)(
                    message["params"]["name"].as_str().unwrap_or_default(),
                    &message["params"]["arguments"],
                ),
            };
            let say = say.clone();
            tokio::spawn(async move {
                let line = match act {
                    Act::Result(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                    Act::After(wait, result) => {
                        tokio::time::sleep(wait).await;
                        json!({ "jsonrpc": "2.0", "id": id, "result": result })
                    }
                    Act::Error(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
                    Act::End => return drop(say.send(Heard::Ended("exit code 3".to_owned())).await),
                };
                say.send(Heard::Line(line.to_string().into_bytes())).await.ok();
            });
        }
    }
}

/// All servers of a world, and what each was told.
pub(crate) struct Servers {
    all: BTreeMap<&'static str, Scripted>,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Servers {
    pub(crate) fn new(all: &[Scripted]) -> Self {
        Self { all: all.iter().map(|it| (it.name, it.clone())).collect(), heard: Arc::default() }
    }

    /// Every message with this method that any server was told.
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
        let (say, lines) = mpsc::channel(64);
        let (to_pool, hear) = mpsc::channel(64);
        let server = self.all[key.server.as_str()].clone();
        tokio::spawn(server.serve(Arc::clone(&self.heard), lines, to_pool));
        let running =
            Running { say, hear, control: Arc::new(Strings), speaks_http: false, roots: Vec::new() };
        Box::pin(std::future::ready(Ok(running)))
    }
}
