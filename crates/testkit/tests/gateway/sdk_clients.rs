//! The official clients, as an application has them, at both addresses.

use serde_json::{Value, json};

use crate::{
    client::Client,
    service::{Fixture, KEY, packages},
};

const ADDRESSES: [(&str, &str, &str); 2] =
    [("/mcp", "fixture__", "fumehood://fixture/"), ("/servers/fixture/mcp", "", "")];

/// What the client for TypeScript 2.x says of everything that it can use.
fn current(fixture: &Fixture, (path, prefix, uri): (&str, &str, &str), mode: &str) -> Value {
    let script =
        fixture.clients.make_file("current.mjs", include_str!("../../clients/current.mjs"), 0o644).unwrap();
    let url = format!("{}{path}", fixture.service.as_ref().unwrap());
    let job =
        json!({ "packages": packages(), "url": url, "key": KEY, "mode": mode, "prefix": prefix, "uri": uri });
    let job = fixture.clients.make_file("job.json", &job.to_string(), 0o644).unwrap();
    let ran = fixture.run(&[script.to_str().unwrap(), job.to_str().unwrap()]);
    assert!(!ran.late && ran.code == Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn the_current_client_uses_everything_in_both_eras() {
    let fixture = Fixture::confined("");
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        for address @ (_, prefix, uri) in ADDRESSES {
            let told = current(&fixture, address, mode);
            assert_eq!(told["version"], version);
            let server = if prefix.is_empty() { "conformance-fixture" } else { "fumehood" };
            assert_eq!(told["server"], server);
            assert_eq!(told["tools"].as_array().unwrap().len(), 31);
            assert_eq!(told["prompts"].as_array().unwrap().len(), 8);
            assert!(
                told["resources"].as_array().unwrap().contains(&json!(format!("{uri}test://static-text")))
            );
            assert_eq!(told["text"], "This is a simple text response for testing.");
            assert_eq!(told["failed"], true);
            assert_eq!(told["answered"], "Hello, Ada!");
            // Whoever answers knows who asks.
            let asked = told["asked"][0].as_str().unwrap();
            assert!(asked.contains("fixture") && asked.contains("What is your name?"), "{asked}");
            assert!(told["unknown"].as_str().unwrap().contains("Unknown tool"), "{told}");
            assert_eq!(told["resource"]["text"], "This is the content of the static text resource.");
            assert_eq!(told["resource"]["uri"], format!("{uri}test://static-text"));
            assert_eq!(told["prompt"], "This is a simple prompt for testing.");
        }
    }
}

#[test]
fn the_other_official_clients_list_and_call() {
    let fixture = Fixture::confined("");
    for (path, prefix, _) in ADDRESSES {
        let (_keyed, url) = fixture.keyless(path);
        for client in [Client::TypeScript, Client::Python] {
            let name = format!("{prefix}test_simple_text");
            let session = client.visit(&fixture.clients, &url, &json!([{ "name": name, "arguments": {} }]));
            assert_eq!(session.tools().len(), 31, "{client:?}");
            let text = &session.told["results"][0]["content"][0]["text"];
            assert_eq!(text, "This is a simple text response for testing.", "{client:?}");
        }
    }
}
