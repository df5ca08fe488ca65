//! Sessions.

use serde_json::json;

use crate::world;

#[tokio::test]
async fn versions() {
    let (_world, client) = world().await;
    for (wanted, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let params = json!({ "protocolVersion": wanted, "capabilities": {}, "clientInfo": {} });
        let answer = client.old(&json!(1), "initialize", params).await;
        let result = answer.result();
        assert_eq!(result["protocolVersion"], agreed);
        assert_eq!(result["serverInfo"]["name"], "fumehood");
        assert!(result["capabilities"].get("tasks").is_none());
        let id = answer.headers["mcp-session-id"].to_str().unwrap();
        assert!(id.len() >= 43 && id.bytes().all(|b| b.is_ascii_graphic()), "{id}");
    }
    let answer = client.old(&json!(1), "initialize", json!({})).await;
    assert_eq!(answer.code(), -32602);
    assert!(!answer.headers.contains_key("mcp-session-id"));
    // Without the header it is the version of before the header.
    let mut session = client.open("2025-11-25").await;
    session.headers.retain(|(name, _)| name != "mcp-protocol-version");
    assert_eq!(session.old_call("crm__echo", json!({})).await.text(), "{}");
    let other = session.with("mcp-protocol-version", "2031-01-01");
    let answer = other.old_call("crm__echo", json!({})).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (400, -32022));
}

#[tokio::test]
async fn a_session_is_a_name_and_no_right() {
    let (world, client) = world().await;
    let alice = client.who("alice", "all").open("2025-11-25").await;
    let bob = alice.who("bob", "all");
    let unknown = bob.with("mcp-session-id", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    let bobs = bob.old_call("crm__echo", json!({})).await;
    let nobodys = unknown.old_call("crm__echo", json!({})).await;
    assert_eq!((bobs.status.as_u16(), &bobs.body), (404, &nobodys.body));
    assert_eq!(bob.listen().await.status, 404);
    assert_eq!(bob.raw("DELETE", &[], "").await.status, 404);
    // For another address it is none either.
    assert_eq!(alice.of("crm").old_call("echo", json!({})).await.status, 404);
    assert!(world.servers.heard("tools/call").is_empty());
    // Rights are those of each request.
    assert_eq!(alice.old_call("crm__slow", json!({ "ms": 1 })).await.text(), "late");
    assert_eq!(alice.with("roles", "part").old_call("crm__slow", json!({ "ms": 1 })).await.code(), -32602);
    assert_eq!(alice.with("roles", "part").old_call("crm__echo", json!({})).await.text(), "{}");
}

#[tokio::test]
async fn a_session_ends() {
    let (_world, client) = world().await;
    let session = client.open("2025-11-25").await;
    let mut stream = session.listen().await;
    assert_eq!(stream.status, 200);
    assert_eq!(session.raw("DELETE", &[], "").await.status, 204);
    assert!(stream.next().await.is_none());
    let answer = session.old_call("crm__echo", json!({})).await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()["error"]["message"].clone()),
        (404, json!("Session not found"))
    );
    assert_eq!(session.raw("DELETE", &[], "").await.status, 404);
    let mut none = session.clone();
    none.headers.retain(|(name, _)| name != "mcp-session-id");
    assert_eq!(none.old_call("crm__echo", json!({})).await.status, 400);
}

#[tokio::test]
async fn small_requests() {
    let (_world, client) = world().await;
    let session = client.open("2025-11-25").await;
    for (method, params, result) in [
        ("ping", json!({}), Some(json!({}))),
        ("logging/setLevel", json!({ "level": "info" }), Some(json!({}))),
        ("logging/setLevel", json!({ "level": "loud" }), None),
        ("resources/subscribe", json!({ "uri": "fumehood://crm/test://watched-resource" }), Some(json!({}))),
        ("resources/subscribe", json!({ "uri": "fumehood://none/x" }), None),
        ("resources/subscribe", json!({}), None),
        (
            "resources/unsubscribe",
            json!({ "uri": "fumehood://crm/test://watched-resource" }),
            Some(json!({})),
        ),
        ("tasks/list", json!({}), None),
        ("x/y", json!({}), None),
    ] {
        let answer = session.old(&json!(1), method, params.clone()).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json().get("result"), result.as_ref(), "{method} {params}");
    }
    assert_eq!(session.old(&json!(1), "x/y", json!({})).await.code(), -32601);
    let answer = session.old(&json!(1), "resources/read", json!({ "uri": "fumehood://none/x" })).await;
    assert_eq!(answer.code(), -32002);
}

#[tokio::test]
async fn what_a_server_asks_is_asked_on_the_answers_stream() {
    let (world, client) = world().await;
    let session = client.open("2025-11-25").await;
    let form = json!({ "message": "Which city?", "requestedSchema": { "type": "object", "properties": { "city": { "type": "string" } } } });
    let call = json!({ "name": "crm__ask", "arguments": form });
    let mut stream = session.old_stream(json!(1), "tools/call", call.clone()).await;
    let question = stream.message().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "[server crm asks] Which city?");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": { "city": "Bern" } } });
    // Nobody else answers it.
    assert_eq!(client.open("2025-11-25").await.say(answer.clone()).await.status, 202);
    assert_eq!(session.who("bob", "all").say(answer.clone()).await.status, 404);
    assert!(stream.is_quiet().await);
    assert_eq!(session.say(answer.clone()).await.status, 202);
    let text = stream.message().await["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("Bern"), "{text}");
    assert_eq!(session.say(answer).await.status, 202);
    // A client that cannot be asked is not.
    for lacking in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let session = client.able(lacking).open("2025-11-25").await;
        let answer = session.old(&json!(1), "tools/call", call.clone()).await;
        assert_eq!(answer.messages().len(), 1);
        assert_eq!(answer.result()["isError"], true);
    }
    // Nor is a person asked for a password, or sent to a page by a server that was not told of pages.
    let session = client.able(json!({ "elicitation": { "form": {}, "url": {} } })).open("2025-11-25").await;
    for question in [
        json!({ "message": "m", "requestedSchema": { "properties": { "password": { "type": "string" } } } }),
        json!({ "mode": "url", "message": "m", "url": "https://login.example/x", "elicitationId": "1" }),
    ] {
        let answer = session.old_call("crm__ask", question).await;
        assert_eq!((answer.messages().len(), answer.result()["isError"].clone()), (1, json!(true)));
    }
    // `elicitation: {}` is forms alone.
    let session = client.able(json!({ "elicitation": {} })).open("2025-11-25").await;
    let url =
        json!({ "mode": "url", "message": "m", "url": "https://login.example/x", "elicitationId": "1" });
    let answer = session.old_call("crm__ask", url).await;
    assert_eq!((answer.messages().len(), answer.result()["isError"].clone()), (1, json!(true)));
    drop(world);
}

#[tokio::test]
async fn sampling_is_for_servers_that_pass_as_they_are() {
    let (_world, client) = world().await;
    let session = client.open("2025-11-25").await;
    let answer = session.old_call("crm__test_sampling", json!({ "prompt": "p" })).await;
    assert!(answer.text().contains("error"), "{}", answer.text());
    let params = json!({ "name": "free__test_sampling", "arguments": { "prompt": "p" } });
    let mut stream = session.old_stream(json!(2), "tools/call", params).await;
    let question = stream.message().await;
    assert_eq!(question["method"], "sampling/createMessage");
    let result = json!({ "role": "assistant", "content": { "type": "text", "text": "hi" }, "model": "m" });
    session.say(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
    let text = stream.message().await["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("hi"), "{text}");
}
