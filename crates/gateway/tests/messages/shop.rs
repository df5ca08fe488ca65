//! A shop with two servers, and callers in two roles.

use std::{net::SocketAddr, time::Duration};

use gateway::messages;
use serde_json::{Value, json};

use crate::{
    servers::{Act, Scripted},
    world::{Answer, World, ask},
};

pub(crate) const ALICE: [(&str, &str); 2] = [("who", "alice"), ("roles", "support")];
pub(crate) const ADMIN: [(&str, &str); 2] = [("who", "carol"), ("roles", "admin")];

pub(crate) const CONFIG: &str = r#"
[roles.support]
tools = ["orders/get_order", "orders/slow", "orders/content", "orders/fails", "orders/dies", "weather/*"]
[roles.admin]
tools = ["*"]
[servers.orders]
command = ["orders"]
[servers.orders.tools.get_order]
tier = 1
bind.user_id = "subject"
[servers.orders.tools.refund]
tier = 3
[servers.weather]
command = ["weather"]
"#;

/// A shop that is open.
pub(crate) struct Shop {
    pub(crate) world: World,
    pub(crate) address: SocketAddr,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        Self::with("").await
    }

    /// With more in the operator's file.
    pub(crate) async fn with(more: &str) -> Self {
        let world = World::new(&format!("{CONFIG}{more}"), &[orders(), weather()]).await;
        let address = world.listen(messages::router(world.gateway.clone())).await;
        Self { world, address }
    }

    pub(crate) async fn get(&self, path: &str, who: &[(&str, &str)]) -> Answer {
        ask(self.address, "GET", path, who, "").await
    }

    /// The names of the tools that a caller may offer.
    pub(crate) async fn names(&self, who: &[(&str, &str)]) -> Vec<String> {
        let answer = self.get("/v1/tools?format=mcp", who).await.json();
        answer["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) async fn post(&self, who: &[(&str, &str)], body: &Value) -> Answer {
        let headers = [who, &[("content-type", "application/json")]].concat();
        ask(self.address, "POST", "/v1/tool-calls", &headers, body.to_string()).await
    }

    /// The blocks that answer a turn.
    pub(crate) async fn results(&self, who: &[(&str, &str)], uses: Vec<Value>) -> Vec<Value> {
        let answer = self.post(who, &json!({ "role": "assistant", "content": uses })).await;
        let message = answer.json();
        assert_eq!((answer.status.as_u16(), &message["role"]), (200, &json!("user")), "{message}");
        message["content"].as_array().unwrap().clone()
    }

    /// The names and arguments of the calls that reached a server.
    pub(crate) fn called(&self) -> Vec<(String, Value)> {
        let calls = self.world.servers.heard("tools/call").into_iter();
        calls
            .map(|it| (it["params"]["name"].as_str().unwrap().to_owned(), it["params"]["arguments"].clone()))
            .collect()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is written where it is used")]
pub(crate) fn used(id: &str, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

pub(crate) fn text_of(block: &Value) -> &str {
    block["content"][0]["text"].as_str().unwrap()
}

pub(crate) fn orders() -> Scripted {
    let tool = |name: &str, schema: Value| json!({ "name": name, "description": format!("Does {name}"), "inputSchema": schema, "icons": [{ "src": "https://orders.example/i.png" }] });
    let any = || json!({ "type": "object" });
    let get_order = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { "order": { "type": "string", "pattern": "^ORD-[0-9]{6,10}$" }, "user_id": { "type": "string" } },
        "required": ["order", "user_id"],
        "additionalProperties": false,
        "x-vendor": { "kept": true },
    });
    Scripted {
        name: "orders",
        tools: vec![
            tool("slow", any()),
            tool("get_order", get_order),
            tool("refund", any()),
            tool("delete.all", any()),
            tool("content", any()),
            tool("fails", any()),
            tool("dies", any()),
        ],
        act: |name, arguments| match name {
            "slow" => Act::After(
                Duration::from_millis(arguments["ms"].as_u64().unwrap_or(3_600_000)),
                json!({ "content": [{ "type": "text", "text": format!("slow {}", arguments["n"]) }] }),
            ),
            "content" => match arguments["fill"].as_u64() {
                Some(bytes) => Act::Result(filled(usize::try_from(bytes).unwrap())),
                None => Act::Result(arguments.clone()),
            },
            "fails" => Act::Error(json!({ "code": -32050, "message": "the shelf is empty" })),
            "dies" => Act::End,
            _ => Act::Result(json!({ "content": [{ "type": "text", "text": arguments.to_string() }] })),
        },
    }
}

pub(crate) fn weather() -> Scripted {
    Scripted {
        name: "weather",
        tools: vec![json!({ "name": "now", "inputSchema": { "type": "object" } })],
        act: |_, _| Act::Result(json!({ "content": [{ "type": "text", "text": "rain" }] })),
    }
}

fn filled(bytes: usize) -> Value {
    json!({ "content": [{ "type": "text", "text": "x".repeat(bytes) }] })
}
