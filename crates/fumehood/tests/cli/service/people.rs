//! The service and whoever asks it: people and programs with tokens of a real OpenID provider, and those who show nothing.

#![expect(clippy::indexing_slicing, reason = "JSON of an answer")]

use serde_json::{Value, json};

use super::accepted;
use super::running::Served;

#[expect(clippy::panic, reason = "a test fails by panicking, in its helpers too")]
#[path = "../../../../gateway/tests/provider/process.rs"]
mod process;

use process::Provider;

fn bearer(tokens: &Value, name: &str) -> String {
    format!("authorization: Bearer {}", tokens[name].as_str().unwrap())
}

fn status(served: &Served, header: &str) -> String {
    served.ask(
        "/mcp",
        &["-H", header, "-H", "accept: text/event-stream", "-o", "/dev/null", "-w", "%{http_code}"],
    )
}

#[test]
fn a_person_who_signed_in_has_what_the_role_has_and_acts_as_nobody_else() {
    let Some(mut provider) = Provider::begin("ES256") else { return };
    let world = accepted(&format!(
        "tools.get_order.bind.user_id = 'claims.sub'\n\
         [serve]\nurl = 'https://mcp.example.com'\n\
         [roles.support]\ntools = ['orders/get_order']\n\
         [identity.corp]\nissuer = '{}'\nclaims.tenant = 'tid'\nclaims.roles = 'groups'\nroles.people = ['support']\n",
        provider.issuer()
    ));
    let served = Served::start(&world, &[]);
    let tools = |header: &str| served.ask("/v1/tools", &["-H", header]);
    // The slash is what clients make of an address without a path.
    let wanted = json!({ "order": "person", "subject": "ann", "resource": "https://mcp.example.com/" });
    let ann = provider.told(&wanted);
    let header = bearer(&ann, "access_token");
    let list: Value = serde_json::from_str(&tools(&header)).unwrap();
    let named: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["orders__get_order"], "{list}");
    assert!(!list.to_string().contains("user_id"), "{list}");

    let call = |input: Value| {
        let block = json!({ "type": "tool_use", "id": "t1", "name": "orders__get_order", "input": input });
        let json = "content-type: application/json";
        served.ask("/v1/tool-calls", &["-H", &header, "-H", json, "-d", &block.to_string()])
    };
    let answer = call(json!({ "id": "1" }));
    assert!(answer.contains("order of ann"), "{answer}\n{}", served.text());
    let answer = call(json!({ "id": "1", "user_id": "bob" }));
    assert!(answer.contains("FH-BINDING-CONFLICT") && !answer.contains("order of"), "{answer}");

    // A program of the same client has no role here, so it sees nothing.
    let program = provider.told(&json!({ "order": "program", "resource": "https://mcp.example.com" }));
    let list: Value = serde_json::from_str(&tools(&bearer(&program, "access_token"))).unwrap();
    assert_eq!(list["tools"], json!([]), "{list}");

    // The ID token of the same sign-in opens nothing, nor does what is for somebody else.
    let other = provider.told(&json!({ "order": "program", "resource": "https://other.example.com/" }));
    for refused in [bearer(&ann, "id_token"), bearer(&other, "access_token")] {
        assert_eq!(status(&served, &refused), "401");
    }

    // What the provider has signed counts while it is out of reach.
    provider.told(&json!({ "order": "down" }));
    assert!(call(json!({ "id": "2" })).contains("order of ann"), "{}", served.text());
    let log = served.text();
    for token in [&ann["access_token"], &ann["id_token"], &program["access_token"]] {
        assert!(!log.contains(token.as_str().unwrap()), "a token stands in the log");
    }
    assert_eq!(served.end(), "", "stdout is nobody's");
}

#[test]
fn a_server_that_is_passed_through_is_no_open_door() {
    let (stranger, member) = ("fh_stranger", "fh_member");
    let digest = |key: &str| model::digest::Digest::of(key.as_bytes()).hex();
    let world = accepted(&format!(
        "profile = 'pass-through'\n[roles.support]\ntools = ['orders/get_order']\n\
         [keys.stranger]\nsha256 = '{}'\n[keys.member]\nsha256 = '{}'\nroles = ['support']\n",
        digest(stranger),
        digest(member)
    ));
    let served = Served::start(&world, &[]);
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let asked = |path: &str| {
        let (json, both) = ("content-type: application/json", "accept: application/json, text/event-stream");
        served.ask(path, &["-H", json, "-H", both, "-d", &initialize.to_string(), "-w", " %{http_code}"])
    };
    for path in ["/mcp", "/servers/orders/mcp", "/v1/tools", "/v1/tool-calls"] {
        let answer = asked(path);
        assert!(answer.ends_with(" 401") && answer.contains("FH-IDENTITY-NONE"), "{path}: {answer}");
    }
    let call = |key: &str| {
        let block = json!({ "type": "tool_use", "id": "t1", "name": "orders__get_order", "input": { "id": "1", "user_id": "u" } });
        let header = format!("authorization: Bearer {key}");
        let json = "content-type: application/json";
        let list: Value = serde_json::from_str(&served.ask("/v1/tools", &["-H", &header])).unwrap();
        let answer = served.ask("/v1/tool-calls", &["-H", &header, "-H", json, "-d", &block.to_string()]);
        (list["tools"].as_array().unwrap().len(), answer)
    };
    let (seen, answer) = call(stranger);
    assert!(seen == 0 && answer.contains("Unknown tool") && !answer.contains("order of"), "{answer}");
    let (seen, answer) = call(member);
    assert!(seen == 1 && answer.contains("order of u"), "{answer}\n{}", served.text());
    assert_eq!(served.end(), "");
}
