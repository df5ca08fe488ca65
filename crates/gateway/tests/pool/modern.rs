//! Servers that know 2026-07-28.

use gateway::pool::Ask;
use serde_json::{Value, json};

use crate::world::{World, ask, key, result};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn modern() -> Ask {
    let able = json!({ VERSION: "2026-07-28", CAPABILITIES: { "elicitation": {}, "sampling": {} }, "traceparent": "00-a-b-01" });
    Ask { modern: Some(able), ..ask("echo", json!({})) }
}

async fn sent(speaks_http: bool, knows: bool, ask: Ask) -> (usize, Value) {
    let world = World::new();
    world.state(|state| (state.speaks_http, state.knows_modern) = (speaks_http, knows));
    result(world.asking(key("one"), ask).await.unwrap());
    let discovered = world.heard("server/discover");
    for asked in &discovered {
        assert_eq!(asked["params"]["_meta"][VERSION], "2026-07-28");
    }
    (discovered.len(), world.heard("tools/call")[0]["params"].clone())
}

#[tokio::test(start_paused = true)]
async fn a_server_that_knows_it_is_asked_in_it() {
    let (discovered, params) = sent(true, true, modern()).await;
    assert_eq!(discovered, 1);
    let meta = json!({
        VERSION: "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "fumehood", "version": "1" },
        CAPABILITIES: { "elicitation": {} },
        "traceparent": "00-a-b-01",
    });
    assert_eq!(params, json!({ "name": "echo", "arguments": {}, "_meta": meta }));
}

#[tokio::test(start_paused = true)]
async fn everybody_else_is_asked_as_before() {
    let plain = json!({ "name": "echo", "arguments": {} });
    assert_eq!(sent(true, false, modern()).await, (1, plain.clone()));
    assert_eq!(sent(false, true, modern()).await, (0, plain.clone()));
    assert_eq!(sent(true, true, ask("echo", json!({}))).await, (1, plain));
}

/// Neither the name that a caller gives itself nor its tokens reach a server.
#[tokio::test(start_paused = true)]
async fn a_callers_words_about_itself_stay_here() {
    let params = json!({ "name": "echo", "arguments": {}, "_meta": {
        VERSION: "2025-11-25", "progressToken": "theirs", "vendor.example/x": 1 } });
    let call = Ask { params, ..ask("echo", json!({})) };
    let (_, params) = sent(false, false, call).await;
    assert_eq!(params["_meta"], json!({ "vendor.example/x": 1 }));
}

/// What a server wants to know before it answers is for whoever called, and so is what is said to that.
#[tokio::test(start_paused = true)]
async fn a_call_in_several_rounds_passes_as_it_is() {
    let world = World::new();
    world.state(|state| (state.speaks_http, state.knows_modern) = (true, true));
    let call = |params: Value| Ask { params, ..modern() };
    let first = call(json!({ "name": "input", "arguments": {} }));
    let answer = result(world.asking(key("one"), first).await.unwrap());
    assert_eq!(
        answer,
        json!({ "resultType": "input_required", "requestState": "sealed", "inputRequests": {} })
    );
    let second =
        json!({ "name": "input", "arguments": {}, "requestState": "sealed", "inputResponses": { "a": 1 } });
    result(world.asking(key("one"), call(second)).await.unwrap());
    let asked = world.heard("tools/call");
    assert_ne!(asked[0]["id"], asked[1]["id"]);
    assert_eq!(asked[1]["params"]["inputResponses"], json!({ "a": 1 }));
}
