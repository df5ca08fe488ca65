//! The service with tokens of a real OpenID provider, as a person and a program have them.

#![expect(clippy::indexing_slicing, reason = "JSON of an answer")]

use serde_json::{Value, json};

use super::accepted;
use super::running::Served;

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
