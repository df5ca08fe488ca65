//! A server that is a task: what each of its tools does is its name.

use std::sync::Arc;

use gateway::pool::{CellKey, Heard};
use model::profile::Profile;
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, watch},
    time::{Duration, sleep},
};
use tools::{introspect::Introspection, surface::Surface};

use crate::world::Doubles;

pub(crate) const TOOLS: [&str; 16] = [
    "ask", "broken", "die", "echo", "error", "flood", "input", "nothing", "progress", "sample", "silent",
    "slow", "stuck", "stubborn", "twice", "roots",
];

/// What it says of itself, and its lists.
pub(crate) fn answer(method: &str, tools: &[Value]) -> Option<Value> {
    Some(match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "serverInfo": { "name": "double", "version": "1" },
            "capabilities": { "tools": { "listChanged": true }, "resources": { "subscribe": true }, "logging": {} },
        }),
        "tools/list" => json!({ "tools": tools }),
        "resources/list" => {
            json!({ "resources": [{ "uri": "mem://a", "name": "a" }, { "uri": "mem://b", "name": "b" }] })
        }
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        _ => return None,
    })
}

pub(crate) fn tools() -> Vec<Value> {
    let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
    TOOLS.iter().map(tool).collect()
}

/// As a review reads it.
pub(crate) fn surface(profile: &Profile) -> Surface {
    let mut reading = Introspection::new(profile, "review-");
    let mut asked = reading.begin();
    while let Some(line) = asked.pop() {
        let Some(result) = line["method"].as_str().and_then(|method| answer(method, &tools())) else {
            continue;
        };
        asked.extend(reading.push(&json!({ "jsonrpc": "2.0", "id": line["id"], "result": result })));
    }
    reading.result().unwrap().unwrap()
}

/// One run of it.
pub(crate) struct Server {
    pub(crate) key: CellKey,
    pub(crate) doubles: Arc<Doubles>,
    pub(crate) say: mpsc::Sender<Heard>,
    pub(crate) frozen: watch::Receiver<bool>,
    pub(crate) run: usize,
}

impl Server {
    pub(crate) async fn serve(mut self, mut lines: mpsc::Receiver<Vec<u8>>) {
        let mut asked: Vec<(Value, Value)> = Vec::new();
        while let Some(line) = lines.recv().await {
            // What is frozen reads nothing.
            self.frozen.wait_for(|frozen| !frozen).await.ok();
            let text = std::str::from_utf8(&line).unwrap().strip_suffix('\n').unwrap();
            let message: Value = serde_json::from_str(text).unwrap();
            self.doubles.heard(self.run, &message);
            let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
                if message["method"] == "notifications/cancelled" {
                    self.withdrawn(&message["params"]["requestId"]).await;
                } else if let Some(place) = asked.iter().position(|(id, _)| Some(id) == message.get("id")) {
                    let (_, call) = asked.remove(place);
                    self.result(&call, &json!({ "content": [], "answered": message })).await;
                }
                continue;
            };
            if let Some(result) = answer(method, &self.doubles.tools(self.run)) {
                if !self.doubles.with(|state| state.is_deaf) {
                    self.result(id, &result).await;
                }
                continue;
            }
            let is_stuck =
                message["params"]["name"] == "stuck" || self.doubles.with(|state| state.reads_nothing);
            if method == "tools/call" && is_stuck {
                return std::future::pending().await;
            }
            match method {
                "server/discover" => self.discovered(id).await,
                "tools/call" => {
                    if self.call(id, &message["params"], &mut asked).await {
                        return;
                    }
                }
                _ => self.result(id, &json!({})).await,
            }
        }
    }

    async fn discovered(&self, id: &Value) {
        if self.doubles.with(|state| state.knows_modern) {
            self.result(
                id,
                &json!({ "supportedVersions": ["2026-07-28", "2025-11-25"], "capabilities": {} }),
            )
            .await;
        } else {
            let error = json!({ "code": -32601, "message": "Method not found" });
            self.line(&json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
        }
    }

    /// Whether that was its end.
    #[expect(clippy::too_many_lines, reason = "one arm for each thing that a server can do")]
    async fn call(&self, id: &Value, params: &Value, asked: &mut Vec<(Value, Value)>) -> bool {
        let arguments = params["arguments"].clone();
        let done =
            json!({ "content": [], "arguments": arguments, "run": self.run, "key": self.key.to_string() });
        match params["name"].as_str().unwrap() {
            "slow" => {
                let (say, id) = (self.say.clone(), id.clone());
                tokio::spawn(async move {
                    sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap())).await;
                    let line = json!({ "jsonrpc": "2.0", "id": id, "result": done });
                    say.send(Heard::Line(line.to_string().into_bytes())).await.ok();
                });
            }
            "progress" => {
                let (say, id, token) =
                    (self.say.clone(), id.clone(), params["_meta"]["progressToken"].clone());
                tokio::spawn(async move {
                    for step in arguments["steps"].as_array().unwrap() {
                        sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap())).await;
                        let params = json!({ "progressToken": token, "progress": step, "message": "on" });
                        let line =
                            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                        say.send(Heard::Line(line.to_string().into_bytes())).await.ok();
                    }
                    let line = json!({ "jsonrpc": "2.0", "id": id, "result": done });
                    say.send(Heard::Line(line.to_string().into_bytes())).await.ok();
                });
            }
            name @ ("ask" | "sample" | "roots") => {
                let method = match name {
                    "ask" => "elicitation/create",
                    "sample" => "sampling/createMessage",
                    _ => "roots/list",
                };
                let question = json!(format!("q{}", asked.len()));
                asked.push((question.clone(), id.clone()));
                let params = json!({ "message": "who are you?", "requestedSchema": { "type": "object" } });
                self.line(&json!({ "jsonrpc": "2.0", "id": question, "method": method, "params": params }))
                    .await;
            }
            "die" => {
                self.say.send(Heard::Ended("exit code 3".to_owned())).await.ok();
                return true;
            }
            // `stubborn` answers when it was told not to.
            "silent" | "stubborn" => {}
            "twice" => {
                self.result(id, &done).await;
                self.result(id, &json!({ "content": [], "second": true })).await;
                self.result(&json!("somebody's"), &done).await;
            }
            "input" => {
                let state =
                    json!({ "resultType": "input_required", "requestState": "sealed", "inputRequests": {} });
                let is_answered = params.get("requestState") == Some(&json!("sealed"));
                self.result(id, if is_answered { &done } else { &state }).await;
            }
            "error" => {
                let error = json!({ "code": -32050, "message": "no", "data": { "why": 1 } });
                self.line(&json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
            }
            "nothing" => self.line(&json!({ "jsonrpc": "2.0", "id": id, "error": null })).await,
            "broken" => {
                let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
                let line = match arguments["how"].as_str().unwrap() {
                    "deep" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{deep}}}}}"#),
                    "two" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"result":{{"a":1}}}}"#),
                    _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":1e999}}}}"#),
                };
                self.say.send(Heard::Line(line.into_bytes())).await.ok();
            }
            "flood" => {
                for n in 0..arguments["lines"].as_u64().unwrap() {
                    let params = json!({ "level": "info", "data": n });
                    self.line(
                        &json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }),
                    )
                    .await;
                }
                self.result(id, &done).await;
            }
            _ => self.result(id, &done).await,
        }
        false
    }

    async fn withdrawn(&self, id: &Value) {
        if self.doubles.with(|state| state.answers_withdrawn) {
            self.result(id, &json!({ "content": [], "late": true })).await;
        }
    }

    async fn result(&self, id: &Value, result: &Value) {
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    async fn line(&self, message: &Value) {
        self.say.send(Heard::Line(message.to_string().into_bytes())).await.ok();
    }
}
