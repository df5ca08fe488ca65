//! Requests that need an answer before they are done.

use serde_json::{Value, json};

use crate::{CONFIG, Client, client::Answer, modern_world, world};

fn form() -> Value {
    json!({ "message": "Which city?", "requestedSchema": { "type": "object", "properties": { "city": { "type": "string" } } } })
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

async fn retry(client: &Client, tool: &str, arguments: &Value, responses: Value, state: &Value) -> Answer {
    let mut params = json!({ "name": tool, "arguments": arguments, "inputResponses": responses });
    if !state.is_null() {
        params["requestState"] = state.clone();
    }
    client.ask("tools/call", params).await
}

#[tokio::test]
async fn a_call_waits_for_the_answer() {
    let (world, client) = world().await;
    let first = client.call("crm__ask", form()).await.result();
    assert_eq!(first["resultType"], "input_required");
    let (key, request) = first["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["message"], "[server crm asks] Which city?");
    // Without the answer the question is put again, under another state.
    let again =
        retry(&client, "crm__ask", &form(), json!({ "other": accept(json!({})) }), &first["requestState"])
            .await
            .result();
    assert_eq!(again["inputRequests"], first["inputRequests"]);
    assert_ne!(again["requestState"], first["requestState"]);
    let responses = json!({ key: accept(json!({ "city": "Bern" })) });
    let done = retry(&client, "crm__ask", &form(), responses.clone(), &again["requestState"]).await;
    assert!(done.text().contains("Bern"), "{}", done.text());
    assert_eq!(done.result()["resultType"], "complete");
    assert_eq!(world.servers.heard("tools/call").len(), 1);
    // Nothing is taken twice.
    for state in [&first["requestState"], &again["requestState"]] {
        assert_eq!(retry(&client, "crm__ask", &form(), responses.clone(), state).await.code(), -32602);
    }
}

#[tokio::test]
async fn a_state_is_of_one_caller_and_one_request() {
    let (world, client) = world().await;
    let first = client.call("crm__ask", form()).await.result();
    let state = &first["requestState"];
    let key = first["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let responses = json!({ key: accept(json!({ "city": "Bern" })) });
    let other = json!({ "message": "Other?", "requestedSchema": {} });
    let tampered = json!(format!("{}-TAMPERED", state.as_str().unwrap()));
    for (client, tool, arguments, state) in [
        (client.who("bob", "all"), "crm__ask", form(), state),
        (client.clone(), "crm__ask", other, state),
        (client.clone(), "free__ask", form(), state),
        (client.of("crm"), "ask", form(), state),
        (client.clone(), "crm__ask", form(), &tampered),
        (client.clone(), "crm__ask", form(), &json!("")),
        (client.clone(), "crm__ask", form(), &json!(7)),
    ] {
        let answer = retry(&client, tool, &arguments, responses.clone(), state).await;
        assert_eq!(answer.code(), -32602, "{tool} {state}");
    }
    assert_eq!(world.servers.heard("tools/call").len(), 1);
    let prompt =
        json!({ "name": "crm__test_simple_prompt", "requestState": state, "inputResponses": responses });
    assert_eq!(client.ask("prompts/get", prompt).await.code(), -32602);
    assert!(retry(&client, "crm__ask", &form(), responses, state).await.text().contains("Bern"));
}

#[tokio::test]
async fn who_may_not_call_any_more_does_not_go_on() {
    let (world, client) = world().await;
    let bob = client.who("bob", "part");
    let first = bob.call("crm__ask", form()).await.result();
    let key = first["inputRequests"].as_object().unwrap().keys().next().unwrap();
    world.reload(&CONFIG.replace("'crm/echo', 'crm/ask'", "'crm/echo'"));
    let responses = json!({ key: accept(json!({ "city": "Bern" })) });
    let answer = retry(&bob, "crm__ask", &form(), responses, &first["requestState"]).await;
    assert_eq!(answer.json()["error"]["message"], "Unknown tool: crm__ask");
    for _ in 0..100 {
        if !world.servers.heard("notifications/cancelled").is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the call that waited goes on");
}

#[tokio::test]
async fn answers_that_nobody_asked_for() {
    let (_world, client) = modern_world().await;
    let params = |server: &str, responses: Value| {
        let tool = format!("{server}__test_input_required_result_elicitation");
        json!({ "name": tool, "arguments": {}, "inputResponses": responses })
    };
    let early = json!({ "user_name": accept(json!({ "name": "Mallory" })), "unknown": accept(json!({})) });
    let asked = client.ask("tools/call", params("crm", early.clone())).await.result();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let passed = client.ask("tools/call", params("free", early)).await;
    assert_eq!(passed.text(), "Hello, Mallory!");
    for malformed in [json!(null), json!(7), json!([]), json!({ "user_name": 12_345 })] {
        assert_eq!(client.ask("tools/call", params("crm", malformed)).await.code(), -32602);
    }
    // Of what was asked, the answer alone goes on.
    let responses = json!({ "user_name": accept(json!({ "name": "Alice" })), "unknown": accept(json!({})) });
    let tool = "crm__test_input_required_result_elicitation";
    let done = retry(&client, tool, &json!({}), responses, &asked["requestState"]).await;
    assert_eq!(done.text(), "Hello, Alice!");
}

#[tokio::test]
async fn a_servers_own_state_travels_sealed() {
    let (world, client) = modern_world().await;
    for (server, tool) in [
        ("free", "test_input_required_result_request_state"),
        ("crm", "test_input_required_result_request_state"),
    ] {
        let tool = format!("{server}__{tool}");
        let first = client.call(&tool, json!({})).await.result();
        assert_eq!(first["resultType"], "input_required", "{first}");
        let state = &first["requestState"];
        assert!(!state.as_str().unwrap().contains("state-of-theirs"));
        let message = first["inputRequests"]["confirm"]["params"]["message"].as_str().unwrap();
        assert_eq!(message.starts_with("[server crm asks]"), server == "crm", "{message}");
        let responses = json!({ "confirm": accept(json!({ "ok": "yes" })) });
        // A server's own state is worth nothing here, nor is that of another server.
        for (client, tool, state) in [
            (client.clone(), tool.as_str(), &json!("state-of-theirs")),
            (client.who("bob", "all"), tool.as_str(), state),
            (
                client.clone(),
                if server == "crm" {
                    "free__test_input_required_result_request_state"
                } else {
                    "crm__test_input_required_result_request_state"
                },
                state,
            ),
        ] {
            assert_eq!(retry(&client, tool, &json!({}), responses.clone(), state).await.code(), -32602);
        }
        let done = retry(&client, &tool, &json!({}), responses, state).await;
        assert_eq!(done.text(), "state-ok");
    }
    let states: Vec<_> =
        world.servers.heard("tools/call").iter().map(|params| params["requestState"].clone()).collect();
    assert_eq!(states, [Value::Null, json!("state-of-theirs"), Value::Null, json!("state-of-theirs")]);
}

/// A private key is found without anybody having told of it.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----";

#[tokio::test]
async fn no_secret_is_given_for_an_answer() {
    let (_world, client) = world().await;
    let first = client.call("crm__ask", form()).await.result();
    for key in [KEY, "harmless"] {
        let (is_kept, responses) = (key == KEY, json!({ "question": accept(json!({ "city": key })) }));
        let answer = retry(&client, "crm__ask", &form(), responses, &first["requestState"]).await;
        let text = answer.json().to_string();
        assert_eq!((text.contains("FH-SECRET-ARGUMENT"), text.contains("BEGIN")), (is_kept, false), "{text}");
    }
    let session = client.open("2025-11-25").await;
    let call = json!({ "name": "crm__ask", "arguments": form() });
    let mut stream = session.old_stream(json!(1), "tools/call", call).await;
    let id = stream.message().await["id"].clone();
    session.say(json!({ "jsonrpc": "2.0", "id": id, "result": accept(json!({ "city": KEY })) })).await;
    let text = stream.message().await.to_string();
    assert!(text.contains("FH-SECRET-ARGUMENT") && !text.contains("BEGIN"), "{text}");
}

#[tokio::test]
async fn several_rounds_and_several_questions() {
    let (_world, client) = modern_world().await;
    let tool = "free__test_input_required_result_multi_round";
    let first = client.call(tool, json!({})).await.result();
    let second =
        retry(&client, tool, &json!({}), json!({ "step1": accept(json!({})) }), &first["requestState"])
            .await
            .result();
    assert!(second["inputRequests"].get("step2").is_some());
    let done =
        retry(&client, tool, &json!({}), json!({ "step2": accept(json!({})) }), &second["requestState"])
            .await;
    assert_eq!(done.text(), "both rounds");
    let tool = "test_input_required_result_multiple_inputs";
    let first = client.call(&format!("free__{tool}"), json!({})).await.result();
    assert_eq!(first["inputRequests"].as_object().unwrap().len(), 3);
    // Of a guarded server nothing but forms is asked; and that is a refusal, no half of an answer.
    let answer = client.call(&format!("crm__{tool}"), json!({})).await;
    assert!(
        answer.json()["error"]["message"].as_str().unwrap().starts_with("FH-QUESTION"),
        "{}",
        answer.json()
    );
    // A prompt may ask as well.
    let params = json!({ "name": "free__test_input_required_result_prompt" });
    let first = client.ask("prompts/get", params.clone()).await.result();
    assert_eq!(first["resultType"], "input_required");
    assert!(first.get("requestState").is_none());
    let mut params = params;
    params["inputResponses"] = json!({ "context": accept(json!({ "c": "x" })) });
    assert!(client.ask("prompts/get", params).await.result()["messages"].is_array());
}

#[tokio::test]
async fn only_what_the_client_can_do_and_nobody_for_a_password() {
    let (_world, client) = modern_world().await;
    let able = client.able(json!({ "sampling": {} }));
    let result = able.call("free__test_input_required_result_capabilities", json!({})).await.result();
    assert_eq!(result["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["sample"]);
    let answer = able.call("free__test_input_required_result_elicitation", json!({})).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (400, -32021));
    assert_eq!(
        answer.json()["error"]["data"]["requiredCapabilities"],
        json!({ "elicitation": { "form": {} } })
    );
    let answer = client.call("crm__wants_password", json!({})).await;
    assert!(
        answer.json()["error"]["message"].as_str().unwrap().starts_with("FH-ELICITATION-SECRET"),
        "{}",
        answer.json()
    );
    assert_eq!(client.call("free__wants_password", json!({})).await.result()["resultType"], "input_required");
}

#[tokio::test]
async fn sessions_are_asked_what_a_server_of_the_newer_era_wants_to_know() {
    let (_world, client) = modern_world().await;
    let session = client.open("2025-11-25").await;
    let params = json!({ "name": "free__test_input_required_result_multi_round" });
    let mut stream = session.old_stream(json!(1), "tools/call", params).await;
    for _ in 0..2 {
        let question = stream.message().await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        session.say(json!({ "jsonrpc": "2.0", "id": question["id"], "result": accept(json!({})) })).await;
    }
    assert_eq!(stream.message().await["result"]["content"][0]["text"], "both rounds");
}

#[tokio::test]
async fn people_are_sent_to_pages_of_the_server_alone_and_by_clients_that_can() {
    let (_world, client) = modern_world().await;
    let both = json!({ "elicitation": { "form": {}, "url": {} } });
    for (capabilities, tool, url, outcome) in [
        (&both, "crm__wants_page", "https://login.example/x", "asked"),
        (&both, "crm__wants_page", "https://evil.example/x", "FH-ELICITATION-URL"),
        (&both, "free__wants_page", "https://evil.example/x", "asked"),
        (&json!({ "elicitation": {} }), "crm__wants_page", "https://login.example/x", "-32021"),
        (&json!({ "elicitation": {} }), "free__wants_page", "https://login.example/x", "-32021"),
    ] {
        let answer = client.able(capabilities.clone()).call(tool, json!({ "url": url })).await.json();
        match outcome {
            "asked" => {
                assert_eq!(answer["result"]["inputRequests"]["page"]["params"]["url"], url, "{answer}");
            }
            outcome => assert!(answer["error"].to_string().contains(outcome), "{answer}"),
        }
    }
    // In a session as well.
    let session = client.able(both).open("2025-11-25").await;
    let params = json!({ "name": "crm__wants_page", "arguments": { "url": "https://login.example/x" } });
    let question = session.old_stream(json!(1), "tools/call", params).await.message().await;
    assert_eq!(question["params"]["url"], "https://login.example/x");
    let params = json!({ "name": "crm__wants_page", "arguments": { "url": "https://evil.example/x" } });
    let answer = session.old(&json!(2), "tools/call", params).await;
    assert!(answer.json()["error"]["message"].as_str().unwrap().starts_with("FH-ELICITATION-URL"));
}
