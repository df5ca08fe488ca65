//! Attacks on the face, each shown to work when its guard is taken away. Built with the feature `guard-off` only.

use std::time::SystemTime;

use gateway::{
    guard::without,
    mcp::state::{LIFE, Round, Seal, State},
};
use serde_json::{Value, json};

use crate::{CONFIG, Client, World, client::borrowed, modern_world, world};

/// Runs an attack with its guards, where it has to fail, and without, where it has to work.
fn control<F: Future<Output = bool>>(guards: &[&'static str], attack: impl Fn() -> F) {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(attack())
    };
    {
        let _all = without(&[]);
        assert!(!run(), "{guards:?} do not stop this");
    }
    let _off = without(guards);
    assert!(run(), "this fails without {guards:?} too");
}

/// A call of `crm__echo` with one header instead of the right one.
async fn called_with(name: &str, value: &str) -> bool {
    let (_world, client) = world().await;
    let (mut headers, body) =
        client.modern(&json!(1), "tools/call", json!({ "name": "crm__echo", "arguments": {} }));
    headers.retain(|(known, _)| known != name);
    headers.push((name.to_owned(), value.to_owned()));
    client.raw("POST", &borrowed(&headers), body).await.status == 200
}

#[test]
fn control_a_page_of_a_stranger_speaks_to_the_service() {
    control(&["http-host"], || called_with("host", "evil.example"));
    control(&["http-origin"], || called_with("origin", "http://evil.example"));
}

#[test]
fn control_one_request_is_two_to_two_readers() {
    control(&["mcp-header-agreement"], || called_with("mcp-name", "crm__silent"));
    control(&["mcp-look-alikes", "front-look-alikes"], || async {
        let (_world, client) = world().await;
        let params = json!({ "name": "crm__echo", "Name": "crm__silent", "arguments": {} });
        client.ask("tools/call", params).await.json().get("result").is_some()
    });
}

#[test]
fn control_a_session_is_anothers() {
    control(&["mcp-session-principal"], || async {
        let (_world, client) = world().await;
        let alice = client.who("alice", "all").open("2025-11-25").await;
        alice.who("bob", "all").old_call("crm__echo", json!({})).await.status == 200
    });
}

#[test]
fn control_a_caller_fills_the_memory_with_what_is_kept_of_it() {
    control(&["mcp-session-size"], || async {
        let (_world, client) = world().await;
        let info = json!({ "name": "x".repeat(40_000), "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        client.old(&json!(0), "initialize", params).await.headers.contains_key("mcp-session-id")
    });
    control(&["mcp-name-size"], || async {
        let (_world, client) = world().await;
        let session = client.open("2025-11-25").await;
        let uri = format!("fumehood://crm/test://{}", "x".repeat(9_000));
        session
            .old(&json!(1), "resources/subscribe", json!({ "uri": uri }))
            .await
            .json()
            .get("result")
            .is_some()
    });
}

const CONFIRM: &str = "free__test_input_required_result_request_state";

async fn first(client: &Client, tool: &str) -> Value {
    client.call(tool, json!({})).await.result()["requestState"].clone()
}

async fn confirmed(client: &Client, tool: &str, arguments: Value, state: &Value) -> bool {
    let responses = json!({ "confirm": { "action": "accept", "content": { "ok": "yes" } } });
    let params =
        json!({ "name": tool, "arguments": arguments, "inputResponses": responses, "requestState": state });
    client.ask("tools/call", params).await.json().get("result").is_some()
}

#[test]
fn control_a_state_is_used_by_another_for_another_thing_again() {
    control(&["mcp-state-principal"], || async {
        let (_world, client) = modern_world().await;
        confirmed(&client.who("bob", "all"), CONFIRM, json!({}), &first(&client, CONFIRM).await).await
    });
    control(&["mcp-state-request"], || async {
        let (_world, client) = modern_world().await;
        confirmed(&client, CONFIRM, json!({ "other": 1 }), &first(&client, CONFIRM).await).await
    });
    control(&["mcp-state-once"], || async {
        let (_world, client) = modern_world().await;
        let state = first(&client, CONFIRM).await;
        assert!(confirmed(&client, CONFIRM, json!({}), &state).await);
        confirmed(&client, CONFIRM, json!({}), &state).await
    });
    let of_another = || async {
        let (_world, client) = modern_world().await;
        let state = first(&client, "crm__test_input_required_result_request_state").await;
        confirmed(&client, CONFIRM, json!({}), &state).await
    };
    control(&["mcp-state-request", "mcp-state-server"], of_another);
    control(&["mcp-state-expiry"], || async {
        let (seal, now) = (Seal::new().unwrap(), SystemTime::now());
        let round = Round::Held { call: "c".to_owned() };
        let state = State { principal: "alice".to_owned(), request: "r".to_owned(), round };
        let text = seal.seal(state, now).unwrap();
        seal.open(&text, "alice", "r", now + LIFE).is_ok()
    });
}

#[test]
fn control_answers_that_nobody_asked_for_reach_the_server() {
    control(&["mcp-unasked-responses"], || async {
        let (_world, client) = modern_world().await;
        let params = json!({
            "name": "crm__test_input_required_result_elicitation", "arguments": {},
            "inputResponses": { "user_name": { "action": "accept", "content": { "name": "Mallory" } } },
        });
        client.ask("tools/call", params).await.json().to_string().contains("Hello, Mallory!")
    });
}

#[test]
fn control_who_may_not_call_any_more_goes_on() {
    control(&["mcp-held-seen"], || async {
        let (world, client): (World, Client) = world().await;
        let bob = client.who("bob", "part");
        let form = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
        let first = bob.call("crm__ask", form.clone()).await.result();
        let key = first["inputRequests"].as_object().unwrap().keys().next().unwrap();
        world.reload(&CONFIG.replace("'crm/echo', 'crm/ask'", "'crm/echo'"));
        let params = json!({
            "name": "crm__ask", "arguments": form, "requestState": first["requestState"],
            "inputResponses": { key: { "action": "accept", "content": {} } },
        });
        bob.ask("tools/call", params).await.json().get("result").is_some()
    });
}

#[test]
fn control_people_are_asked_for_secrets_sent_to_strangers_and_by_clients_that_cannot() {
    control(&["mcp-elicitation-secrets"], || async {
        let (_world, client) = modern_world().await;
        client.call("crm__wants_password", json!({})).await.json()["result"]["resultType"] == "input_required"
    });
    control(&["mcp-elicitation-hosts"], || async {
        let (_world, client) = modern_world().await;
        let client = client.able(json!({ "elicitation": { "url": {} } }));
        let answer = client.call("crm__wants_page", json!({ "url": "https://evil.example/" })).await.json();
        answer["result"]["resultType"] == "input_required"
    });
    control(&["mcp-client-capabilities"], || async {
        let (_world, client) = modern_world().await;
        let client = client.able(json!({ "elicitation": {} }));
        let answer = client.call("crm__wants_page", json!({ "url": "https://login.example/" })).await.json();
        answer["result"]["resultType"] == "input_required"
    });
}
