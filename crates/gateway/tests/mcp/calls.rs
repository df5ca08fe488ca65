//! Calls, and all the ways in which one ends.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{Client, World, world};

/// Waits until servers were told to stop something.
async fn cancelled(world: &World) -> Vec<Value> {
    for _ in 0..200 {
        let heard = world.servers.heard("notifications/cancelled");
        if !heard.is_empty() {
            return heard;
        }
        sleep(Duration::from_millis(20)).await;
    }
    Vec::new()
}

async fn called(world: &World) {
    for _ in 0..200 {
        if !world.servers.heard("tools/call").is_empty() {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("no server was called");
}

#[tokio::test]
async fn results_of_both_eras() {
    let (_world, client) = world().await;
    let session = client.open("2025-06-18").await;
    let modern = client.call("crm__echo", json!({ "a": 1 })).await;
    assert_eq!(modern.text(), r#"{"a":1}"#);
    assert_eq!(modern.result()["resultType"], "complete");
    let old = session.old_call("crm__echo", json!({ "a": 1 })).await;
    assert_eq!(old.text(), r#"{"a":1}"#);
    assert!(old.result().get("resultType").is_none());
    for answer in [
        client.call("crm__test_error_handling", json!({})).await,
        session.old_call("crm__test_error_handling", json!({})).await,
    ] {
        assert_eq!(answer.result()["isError"], true);
    }
    for answer in
        [client.call("crm__error", json!({})).await, session.old_call("crm__error", json!({})).await]
    {
        assert_eq!(answer.json()["error"], json!({ "code": 4711, "message": "no", "data": { "why": 1 } }));
    }
    for unknown in ["crm__links", "free__links"] {
        let result = client.call(unknown, json!({})).await.result();
        let server = unknown.split("__").next().unwrap();
        assert_eq!(result["content"][0]["uri"], format!("fumehood://{server}/test://static-text"));
        assert_eq!(result["content"][1], json!({ "type": "vendor/new", "x": 1 }));
    }
}

#[tokio::test]
async fn prompts_resources_and_completions() {
    let (world, client) = world().await;
    let session = client.open("2025-11-25").await;
    let ask = |client: Client, in_session: bool| async move {
        let ask = |method: &'static str, params: Value| {
            let client = client.clone();
            async move {
                match in_session {
                    true => client.old(&json!(1), method, params).await.result(),
                    false => client.ask(method, params).await.result(),
                }
            }
        };
        let params =
            json!({ "name": "crm__test_prompt_with_arguments", "arguments": { "arg1": "x", "arg2": "y" } });
        let prompt = ask("prompts/get", params).await;
        assert_eq!(prompt["messages"][0]["content"]["text"], "arg1='x', arg2='y'");
        let read = ask("resources/read", json!({ "uri": "fumehood://crm/test://static-text" })).await;
        assert_eq!(read["contents"][0]["uri"], "fumehood://crm/test://static-text");
        assert_eq!(read.get("cacheScope"), (!in_session).then(|| json!("private")).as_ref());
        let read = ask("resources/read", json!({ "uri": "fumehood://crm/test://template/7/data" })).await;
        assert!(read["contents"][0]["text"].as_str().unwrap().contains("Data for ID: 7"));
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "crm__test_prompt_with_arguments" },
            "argument": { "name": "arg1", "value": "par" },
        });
        assert_eq!(ask("completion/complete", params).await["completion"]["values"][0], "paris");
    };
    ask(client, false).await;
    ask(session, true).await;
    let heard = world.servers.heard("completion/complete");
    assert!(heard.iter().all(|params| params["ref"]["name"] == "test_prompt_with_arguments"), "{heard:?}");
}

#[tokio::test]
async fn progress_is_the_clients_own_and_increases() {
    let (_world, client) = world().await;
    let session = client.open("2025-11-25").await;
    let params = json!({
        "name": "crm__test_tool_with_progress",
        "arguments": { "steps": [0, 50, 20, 50, 100] },
        "_meta": { "progressToken": "mine" },
    });
    for in_session in [false, true] {
        let answer = match in_session {
            true => session.old(&json!(1), "tools/call", params.clone()).await,
            false => client.ask("tools/call", params.clone()).await,
        };
        assert!(answer.is_stream());
        let messages = answer.messages();
        let (last, progress) = messages.split_last().unwrap();
        let progress: Vec<_> = progress
            .iter()
            .map(|message| (&message["params"]["progressToken"], &message["params"]["progress"]))
            .collect();
        let token = json!("mine");
        assert_eq!(progress, [(&token, &json!(0)), (&token, &json!(50)), (&token, &json!(100))]);
        assert_eq!(last["result"]["content"][0]["text"], "done");
    }
    // Nobody asked for it, or nobody can take it.
    let quiet = client.call("crm__test_tool_with_progress", json!({})).await;
    assert_eq!((quiet.is_stream(), quiet.text().as_str()), (false, "done"));
    let (mut headers, body) = client.modern(&json!(1), "tools/call", params);
    headers
        .iter_mut()
        .filter(|(name, _)| name == "accept")
        .for_each(|(_, value)| *value = "application/json".to_owned());
    let whole = client.raw("POST", &crate::client::borrowed(&headers), body).await;
    assert_eq!((whole.is_stream(), whole.text().as_str()), (false, "done"));
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_call_back() {
    for in_session in [false, true] {
        for with_stream in [false, true] {
            let (world, client) = world().await;
            let session = client.open("2025-11-25").await;
            let name = if with_stream { "crm__test_tool_with_progress" } else { "crm__silent" };
            let steps: Vec<u32> = (0..1000).collect();
            let params =
                json!({ "name": name, "arguments": { "steps": steps }, "_meta": { "progressToken": 1 } });
            let asking = tokio::spawn(async move {
                let mut stream = match in_session {
                    true => session.old_stream(json!(1), "tools/call", params).await,
                    false => client.stream(json!(1), "tools/call", params).await,
                };
                stream.message().await;
            });
            called(&world).await;
            if with_stream {
                asking.await.unwrap();
            } else {
                sleep(Duration::from_millis(50)).await;
                asking.abort();
            }
            assert_eq!(
                cancelled(&world).await.len(),
                1,
                "in a session: {in_session}, with a stream: {with_stream}"
            );
        }
    }
}

#[tokio::test]
async fn a_request_is_taken_back_by_its_session() {
    let (world, client) = world().await;
    let session = client.open("2025-11-25").await;
    let other = client.open("2025-11-25").await;
    let asking = tokio::spawn({
        let session = session.clone();
        async move { session.old(&json!("r"), "tools/call", json!({ "name": "crm__silent" })).await }
    });
    called(&world).await;
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "r" } });
    assert_eq!(other.say(cancel.clone()).await.status, 202);
    assert_eq!(client.who("bob", "all").with("mcp-session-id", "x").say(cancel.clone()).await.status, 404);
    sleep(Duration::from_millis(100)).await;
    assert!(world.servers.heard("notifications/cancelled").is_empty());
    assert_eq!(session.say(cancel).await.status, 202);
    assert!(asking.await.unwrap().json().get("result").is_none());
    assert_eq!(cancelled(&world).await.len(), 1);
}

#[tokio::test]
async fn no_failure_is_an_empty_success() {
    let (_world, client) = world().await;
    for (tool, expected) in [("crm__end", "FH-SERVER-ENDED")] {
        let answer = client.call(tool, json!({})).await;
        let result = answer.result();
        assert_eq!(result["isError"], true);
        assert!(answer.text().starts_with(expected), "{result}");
        assert_eq!(result["_meta"]["dev.fumehood/refusal"]["code"], expected);
        assert!(result["_meta"]["dev.fumehood/refusal"]["call"].is_string());
    }
    // Another server has nothing to do with it, and the one that has ended is started anew.
    assert_eq!(client.call("free__echo", json!({})).await.text(), "{}");
    assert_eq!(client.call("crm__echo", json!({})).await.text(), "{}");
    let refused = client.call("crm__odd", json!({ "b": 1 })).await;
    assert_eq!(refused.result()["isError"], true);
    assert!(refused.text().starts_with("FH-ARGUMENTS-SCHEMA: "), "{}", refused.text());
}

#[tokio::test]
async fn a_long_call_is_kept_alive() {
    let (_world, client) = world().await;
    let mut stream = client
        .stream(json!(1), "tools/call", json!({ "name": "crm__slow", "arguments": { "ms": 10_500 } }))
        .await;
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    assert_eq!(stream.headers["x-accel-buffering"], "no");
    assert_eq!(stream.message().await["result"]["content"][0]["text"], "late");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn one_id_is_one_request_of_a_session() {
    let (world, client) = world().await;
    let session = client.open("2025-11-25").await;
    let asking = tokio::spawn({
        let session = session.clone();
        async move {
            session
                .old(&json!(1), "tools/call", json!({ "name": "crm__slow", "arguments": { "ms": 300 } }))
                .await
        }
    });
    called(&world).await;
    assert_eq!(session.old_call("crm__echo", json!({})).await.code(), -32600);
    assert_eq!(asking.await.unwrap().text(), "late");
    assert_eq!(session.old_call("crm__echo", json!({})).await.text(), "{}");
    // Requests that stand for themselves share nothing, their ids least of all.
    let bob = client.who("bob", "all");
    let (one, other) = tokio::join!(client.call("crm__echo", json!({})), bob.call("crm__echo", json!({})));
    assert_eq!((one.text(), other.text()), ("{}".to_owned(), "{}".to_owned()));
}
