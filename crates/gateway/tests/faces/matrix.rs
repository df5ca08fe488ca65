//! Every line of the table.

use std::collections::{BTreeMap, BTreeSet};

use gateway::names;
use model::name::ServerName;
use serde_json::{Value, json};

use crate::{
    client::{Answer, Client, borrowed},
    table::{Case, cases},
    world::World,
};

/// The lines with an HTTP face; those of `run` are one caller's, who may everything.
fn lines() -> Vec<Case> {
    let mut cases = cases(include_str!("../matrix/cases.tsv"));
    cases.retain(|case| case.face != "stdio");
    assert!(cases.len() > 300, "{}", cases.len());
    cases
}

/// One caller.
struct Caller {
    client: Client,
    /// Of the older era, by the path.
    sessions: BTreeMap<String, String>,
}

impl Caller {
    fn new(world: &World, actor: &str) -> Self {
        let client = Client::new(world.address).with("authorization", &format!("Bearer matrix-{actor}"));
        Self { client, sessions: BTreeMap::new() }
    }

    fn at(&self, path: &str) -> Client {
        Client { path: path.to_owned(), ..self.client.clone() }
    }

    /// A request of the newer era.
    async fn modern(&self, path: &str, method: &str, params: Value) -> Answer {
        let client = self.at(path);
        let (headers, body) = client.modern(&json!(1), method, params);
        client.raw("POST", &borrowed(&headers), body).await
    }

    /// A request within a session of the older era.
    async fn legacy(&mut self, path: &str, method: &str, params: Value) -> Answer {
        let client = self.at(path);
        let base = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        if !self.sessions.contains_key(path) {
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
            let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
            let answer = client.raw("POST", &base, hello.to_string()).await;
            let Some(session) = answer.headers.get("mcp-session-id") else { return answer };
            let session = session.to_str().unwrap().to_owned();
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            let headers = [base[0], base[1], ("mcp-session-id", session.as_str())];
            client.raw("POST", &headers, ready.to_string()).await;
            self.sessions.insert(path.to_owned(), session);
        }
        let session = &self.sessions[path];
        let headers =
            [base[0], base[1], ("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        client.raw("POST", &headers, body.to_string()).await
    }
}

/// What is asked for a line, under the name that the face has for it.
fn asked(case: &Case) -> (&'static str, Value, String) {
    let server = ServerName::new(&case.server).unwrap();
    let plain =
        case.name.strip_prefix("prompt:").or(case.name.strip_prefix("template:")).unwrap_or(&case.name);
    let is_uri =
        matches!(case.verb.as_str(), "read_resource" | "subscribe") || case.name.starts_with("template:");
    let name = match (case.face.as_str(), is_uri) {
        ("mcp-one", _) => plain.to_owned(),
        (_, true) => names::uri(&server, plain),
        (_, false) => names::public(&server, plain),
    };
    let arguments: Value = serde_json::from_str(&case.arguments).unwrap();
    let argument = json!({ "name": "item", "value": "" });
    let (method, params) = match case.verb.as_str() {
        "call_tool" => ("tools/call", json!({ "name": name, "arguments": arguments })),
        "get_prompt" => ("prompts/get", json!({ "name": name, "arguments": arguments })),
        "read_resource" => ("resources/read", json!({ "uri": name })),
        "subscribe" => ("resources/subscribe", json!({ "uri": name })),
        "complete" if is_uri => (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": name }, "argument": argument }),
        ),
        "complete" => (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": name }, "argument": argument }),
        ),
        other => panic!("{other}"),
    };
    (method, params, name)
}

/// What came of it, in the words of the table.
fn verdict(answer: &Answer) -> String {
    let message = answer.json();
    // A server that a caller sees nothing of has no address.
    let code = message.pointer("/error/code").and_then(Value::as_i64);
    // MCP 2025-11-25 has a code of its own for resources; a method of which nothing is seen is not known.
    if matches!(code, Some(-32602 | -32002 | -32601)) || answer.status == 404 {
        return "FH-TOOL-UNKNOWN".to_owned();
    }
    let refusal =
        message.pointer("/result/_meta/dev.fumehood~1refusal/code").or(message.pointer("/error/data/code"));
    match refusal.and_then(Value::as_str) {
        Some(code) => code.to_owned(),
        None if message.get("result").is_some() => "permitted".to_owned(),
        None => panic!("{} {message}", answer.status),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_comes_out_by_every_face_and_in_both_eras() {
    let world = World::new("").await;
    let mut callers: BTreeMap<String, Caller> = BTreeMap::new();
    for case in lines() {
        let caller = callers.entry(case.actor.clone()).or_insert_with(|| Caller::new(&world, &case.actor));
        let (method, params, name) = asked(&case);
        let path = match case.face.as_str() {
            "mcp" => "/mcp".to_owned(),
            "mcp-one" => format!("/servers/{}/mcp", case.server),
            _ => String::new(),
        };
        if case.face == "messages" {
            // A key for one server counts at no other address.
            if case.actor == "ci" {
                let answer = caller.at("/v1/tools").raw("GET", &[], "").await;
                assert_eq!(answer.status, 401, "{}", case.line());
                continue;
            }
            let used = json!({ "type": "tool_use", "id": "u", "name": name, "input": params["arguments"] });
            let headers = [("content-type", "application/json")];
            let answer = caller.at("/v1/tool-calls").raw("POST", &headers, used.to_string()).await;
            let block = answer.json()["content"][0].clone();
            let text = block["content"].to_string();
            let expected = match case.verdict.as_str() {
                "permitted" => !text.contains("FH-") && block.get("is_error") != Some(&json!(true)),
                "FH-TOOL-UNKNOWN" => text.contains("Unknown tool"),
                code => text.contains(code),
            };
            assert!(expected, "{}: {block}", case.line());
            continue;
        }
        if case.actor == "ci" && path != "/servers/crm/mcp" {
            assert_eq!(caller.modern(&path, method, params).await.status, 401, "{}", case.line());
            continue;
        }
        if method != "resources/subscribe" {
            let answer = caller.modern(&path, method, params.clone()).await;
            assert_eq!(verdict(&answer), case.verdict, "2026-07-28: {}: {}", case.line(), answer.json());
        }
        let answer = caller.legacy(&path, method, params).await;
        assert_eq!(verdict(&answer), case.verdict, "2025-11-25: {}: {}", case.line(), answer.json());
    }
    let rows = world.rows().await;
    assert!(rows.iter().any(|row| row.code.as_deref() == Some("FH-TIER-3")), "denials are recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_hold_what_may_be_called_and_nothing_else() {
    let world = World::new("").await;
    let lists =
        [("call_tool", "tools/list", "tools", "name"), ("get_prompt", "prompts/list", "prompts", "name")];
    for actor in ["nobody", "ann", "bob", "sue", "root", "ops"] {
        let caller = Caller::new(&world, actor);
        for (verb, method, list, key) in lists {
            let answer = caller.modern("/mcp", method, json!({})).await;
            let message = answer.json();
            if answer.status == 200 {
                assert_eq!(message["result"]["cacheScope"], "private", "{message}");
            }
            let seen: BTreeSet<String> = message["result"][list]
                .as_array()
                .into_iter()
                .flatten()
                .map(|entry| entry[key].as_str().unwrap().to_owned())
                .collect();
            let cases = lines()
                .into_iter()
                .filter(|case| case.actor == actor && case.face == "mcp" && case.verb == verb);
            let (permitted, refused): (Vec<Case>, Vec<Case>) =
                cases.partition(|case| case.verdict != "FH-TOOL-UNKNOWN");
            let named =
                |cases: Vec<Case>| -> BTreeSet<String> { cases.iter().map(|case| asked(case).2).collect() };
            assert_eq!(seen, named(permitted), "{actor} {list}");
            assert!(named(refused).is_disjoint(&seen), "{actor} {list}");
        }
        let answer = caller.at("/v1/tools?format=mcp").raw("GET", &[], "").await;
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        for bound in ["user_id", "tenant_id"] {
            assert!(!text.contains(bound), "{actor}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_seen_and_what_is_not_there_are_told_alike_to_the_byte() {
    let world = World::new("").await;
    let mut ann = Caller::new(&world, "ann");
    let same = |one: &Answer, other: &Answer, names: [&str; 2]| {
        let text = |answer: &Answer| String::from_utf8(answer.body.to_vec()).unwrap();
        assert_eq!(one.status, other.status);
        assert_eq!(text(one).replace(names[0], names[1]), text(other));
        let headers = |answer: &Answer| {
            let mut headers = answer.headers.clone();
            headers.remove("date");
            headers.remove("content-length");
            headers.remove("mcp-session-id");
            format!("{headers:?}")
        };
        assert_eq!(headers(one), headers(other));
    };
    for (method, key, hidden, absent) in [
        ("tools/call", "name", "orders__issue_refund", "orders__issue_refunx"),
        ("tools/call", "name", "crm__delete_customer", "crx__delete_customer"),
        ("prompts/get", "name", "handbook__escalate", "handbook__escalatx"),
        ("resources/read", "uri", "fumehood://crm/crm://export", "fumehood://crm/crm://exporx"),
        ("resources/read", "uri", "fumehood://crm/crm://export", "fumehood://crx/crm://export"),
    ] {
        let [one, other] =
            [hidden, absent].map(|name| json!({ key: name, "arguments": { "order_id": "ORD-100001" } }));
        let (one, other) = (ann.modern("/mcp", method, one).await, ann.modern("/mcp", method, other).await);
        same(&one, &other, [hidden, absent]);
        let [one, other] = [hidden, absent].map(|name| json!({ key: name, "arguments": {} }));
        let (one, other) = (ann.legacy("/mcp", method, one).await, ann.legacy("/mcp", method, other).await);
        same(&one, &other, [hidden, absent]);
    }
    // A whole server of which nothing is seen.
    let tools = |path: &'static str| ann.modern(path, "tools/list", json!({}));
    let (one, other) = (tools("/servers/crm/mcp").await, tools("/servers/crx/mcp").await);
    same(&one, &other, ["crm", "crx"]);
    let used = async |name: &str| {
        let used = json!({ "type": "tool_use", "id": "u", "name": name, "input": {} });
        let headers = [("content-type", "application/json")];
        ann.at("/v1/tool-calls").raw("POST", &headers, used.to_string()).await
    };
    let (one, other) = (used("orders__issue_refund").await, used("orders__issue_refunx").await);
    let text = |answer: &Answer| answer.json()["content"].to_string();
    assert_eq!(text(&one).replace("issue_refund", "issue_refunx"), text(&other));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_made_as_whoever_asks_and_nobody_else() {
    let world = World::new("").await;
    let ann = Caller::new(&world, "ann");
    let call = |arguments: Value| {
        ann.modern("/mcp", "tools/call", json!({ "name": "orders__get_order", "arguments": arguments }))
    };
    let own = call(json!({ "order_id": "ORD-100001" })).await;
    let done: Value = serde_json::from_str(&own.text()).unwrap();
    assert_eq!(done, json!({ "order_id": "ORD-100001", "user_id": "ann", "tenant_id": "acme" }));
    for (spoofed, code) in [
        (json!({ "order_id": "ORD-100001", "user_id": "bob" }), "FH-BINDING-CONFLICT"),
        (json!({ "order_id": "ORD-100001", "tenant_id": "evil" }), "FH-BINDING-CONFLICT"),
        (json!({ "order_id": "1 OR 1=1" }), "FH-ARGUMENTS-SCHEMA"),
        (json!({ "order_id": "ORD-12345" }), "FH-ARGUMENTS-SCHEMA"),
        (json!({ "order_id": "ORD-100001", "note": "-----BEGIN PRIVATE KEY-----" }), "FH-"),
    ] {
        let answer = call(spoofed.clone()).await;
        assert!(answer.text().starts_with(code), "{spoofed}: {}", answer.text());
    }
    // The same value is no lie.
    let same = call(json!({ "order_id": "ORD-100001", "user_id": "ann" })).await;
    assert!(same.text().contains("ann"), "{}", same.text());
    assert_eq!(world.servers.heard("tools/call").len(), 2, "the server was asked what was permitted only");
    let rows = world.rows().await;
    let bound: Vec<_> = rows.iter().filter(|row| !row.bound.is_empty()).collect();
    assert_eq!(bound.len(), 2);
    let text = format!("{rows:?}");
    assert!(!text.contains("ORD-100001") && !text.contains("evil"), "no argument is in the record: {text}");
}
