use std::collections::VecDeque;

use serde_json::json;

use crate::surface::{MAX_ENTRIES, MAX_PAGES, MAX_TEXT};

use super::*;

mod conversations;
mod endless;
mod pages;

/// A server as a function: what it says to each message.
fn drive(reading: &mut Introspection, mut server: impl FnMut(&Value) -> Vec<Value>) -> Vec<Value> {
    let mut sent = Vec::new();
    let mut outbox: VecDeque<Value> = reading.begin().into();
    while let Some(message) = outbox.pop_front() {
        for said in server(&message) {
            outbox.extend(reading.push(&said));
        }
        sent.push(message);
        assert!(sent.len() < 2_000, "the reading has no end");
    }
    sent
}

fn plain() -> Introspection {
    Introspection::new(&Profile::plain(), "t-")
}

#[expect(clippy::needless_pass_by_value, reason = "so that the value can be written where it is handed over")]
fn result(request: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

fn error(request: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": code, "message": message } })
}

fn greeting(capabilities: &Value) -> Value {
    json!({
        "protocolVersion": REVISION,
        "serverInfo": { "name": "scripted", "version": "1" },
        "capabilities": capabilities,
        "instructions": "Be kind."
    })
}

fn everything() -> Value {
    greeting(&json!({ "tools": { "listChanged": true }, "prompts": {}, "resources": {} }))
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

/// A server with one page of everything.
fn ordinary(message: &Value) -> Vec<Value> {
    match message["method"].as_str() {
        Some("initialize") => vec![result(message, everything())],
        Some("tools/list") => vec![result(message, json!({ "tools": [tool("b"), tool("a")] }))],
        Some("prompts/list") => vec![result(message, json!({ "prompts": [{ "name": "p" }] }))],
        Some("resources/list") => {
            vec![result(message, json!({ "resources": [{ "uri": "a:b", "name": "r" }] }))]
        }
        Some("resources/templates/list") => {
            vec![result(message, json!({ "resourceTemplates": [{ "uriTemplate": "a:{b}", "name": "t" }] }))]
        }
        _ => Vec::new(),
    }
}

fn failure(reading: &Introspection) -> SurfaceError {
    assert!(reading.has_settled());
    reading.result().unwrap().unwrap_err()
}

#[test]
fn a_server_is_read_as_the_profile_says() {
    for (profile, capabilities) in [
        ("plain", json!({})),
        ("roots", json!({ "roots": {} })),
        ("elicitation+roots", json!({ "elicitation": {}, "roots": {} })),
    ] {
        let mut reading = Introspection::new(&profile.parse().unwrap(), "fumehood-1f3a-");
        let sent = drive(&mut reading, ordinary);
        let methods: Vec<&str> = sent.iter().map(|message| message["method"].as_str().unwrap()).collect();
        let lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
        assert_eq!(methods[..2], ["initialize", "notifications/initialized"]);
        assert_eq!(methods[2..], lists);
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "fumehood", "version": "1" }
        });
        assert_eq!((&sent[0]["id"], &sent[0]["params"]), (&json!("fumehood-1f3a-0"), &hello));
        assert!(reading.has_settled() && !reading.wants_again());
        let surface = reading.result().unwrap().unwrap();
        assert_eq!(surface.client().to_string(), profile);
        assert_eq!((surface.tools().len(), surface.prompts().len()), (2, 1));
        assert_eq!((surface.resources().len(), surface.resource_templates().len()), (1, 1));
        assert_eq!(
            (surface.instructions(), surface.server_info()["name"].as_str()),
            (Some("Be kind."), Some("scripted"))
        );
        assert!(reading.begin().is_empty());
    }
}

#[test]
fn only_lists_that_the_server_has_are_asked_for() {
    for (capabilities, asked) in [
        (json!({}), vec![]),
        (json!({ "logging": {}, "tools": null }), vec![]),
        (json!({ "tools": {} }), vec!["tools/list"]),
        (
            json!({ "resources": {}, "prompts": {} }),
            vec!["prompts/list", "resources/list", "resources/templates/list"],
        ),
    ] {
        let mut reading = plain();
        let sent = drive(&mut reading, |message| match message["method"].as_str() {
            Some("initialize") => vec![result(message, greeting(&capabilities))],
            _ => ordinary(message),
        });
        let methods: Vec<&str> =
            sent.iter().skip(2).map(|message| message["method"].as_str().unwrap()).collect();
        assert_eq!(methods, asked);
        assert!(reading.has_settled());
        let surface = reading.result().unwrap().unwrap();
        assert_eq!(surface.tools().len(), if asked == ["tools/list"] { 2 } else { 0 });
    }
}

/// A greeting, and what is said of it.
#[test]
fn a_greeting_out_of_shape_is_refused() {
    let with = |key: &str, value: Value| {
        let mut greeting = everything();
        greeting[key] = value;
        greeting
    };
    for (greeting, said) in [
        (with("protocolVersion", json!("2026-07-28")), "wants to speak revision `2026-07-28`"),
        (with("protocolVersion", json!("\u{1b}[2J")), "revision `<U+001B>[2J`"),
        (with("protocolVersion", json!(1)), "no `protocolVersion`"),
        (with("serverInfo", Value::Null), "`serverInfo` is no object"),
        (with("capabilities", json!([])), "`capabilities` is no object"),
        (with("instructions", json!(["a"])), "`instructions` is no text"),
        (with("instructions", json!("x".repeat(MAX_TEXT + 1))), "instructions are longer"),
        (json!("hello"), "no `result` that is an object"),
        (Value::Null, "no `result` that is an object"),
    ] {
        let mut reading = plain();
        drive(&mut reading, |message| match message["method"].as_str() {
            Some("initialize") => vec![result(message, greeting.clone())],
            _ => ordinary(message),
        });
        let failure = failure(&reading);
        assert!(failure.to_string().contains(said), "{failure}");
        assert!(!failure.hint().is_empty());
    }
    for revision in REVISIONS {
        let mut reading = plain();
        drive(&mut reading, |message| match message["method"].as_str() {
            Some("initialize") => vec![result(message, with("protocolVersion", json!(revision)))],
            _ => ordinary(message),
        });
        assert_eq!(reading.result().unwrap().unwrap().protocol_version(), revision);
    }
}

#[test]
fn an_error_for_an_answer_names_what_was_asked() {
    for method in ["initialize", "tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        for code in [-32601, -32603] {
            let mut reading = plain();
            drive(&mut reading, |message| match message["method"].as_str() {
                Some(asked) if asked == method => vec![error(message, code, "no\u{1b}[1m key")],
                _ => ordinary(message),
            });
            if code == -32601 && !matches!(method, "initialize" | "tools/list") {
                let surface = reading.result().unwrap().unwrap();
                let list = match method {
                    "prompts/list" => surface.prompts(),
                    "resources/list" => surface.resources(),
                    _ => surface.resource_templates(),
                };
                assert_eq!((surface.tools().len(), list), (2, Vec::new()));
                continue;
            }
            let message = "no<U+001B>[1m key".to_owned();
            assert_eq!(failure(&reading), SurfaceError::Answer { method: method.to_owned(), code, message });
        }
    }
}

#[test]
fn a_list_that_is_known_no_more_on_its_second_page_is_not_complete() {
    for (method, list) in [("prompts/list", "prompts"), ("resources/templates/list", "resourceTemplates")] {
        let mut reading = plain();
        drive(&mut reading, |message| match message["method"].as_str() {
            Some(asked) if asked == method && message["params"].get("cursor").is_some() => {
                vec![error(message, -32601, "unknown")]
            }
            Some(asked) if asked == method => {
                vec![result(message, json!({ list: [], "nextCursor": "more" }))]
            }
            _ => ordinary(message),
        });
        let message = "unknown".to_owned();
        assert_eq!(
            failure(&reading),
            SurfaceError::Answer { method: method.to_owned(), code: -32601, message }
        );
    }
}
