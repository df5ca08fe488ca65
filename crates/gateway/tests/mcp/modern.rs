//! Requests that stand for themselves.

use serde_json::{Value, json};

use crate::{client::borrowed, world};

#[tokio::test]
async fn what_is_told_of_the_service() {
    let (_world, client) = world().await;
    let result = client.ask("server/discover", json!({})).await.result();
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]));
    assert_eq!(result["capabilities"]["tools"], json!({ "listChanged": true }));
    assert_eq!(result["capabilities"]["resources"], json!({ "subscribe": true, "listChanged": true }));
    assert!(result["capabilities"].get("tasks").is_none() && result["capabilities"].get("logging").is_none());
    assert_eq!(result["resultType"], "complete");
    let alone = client.of("crm").ask("server/discover", json!({})).await.result();
    assert_eq!(alone["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "crm");
    assert_eq!(alone["instructions"], "how to use crm");
    assert!(alone["capabilities"].get("tasks").is_none());
}

#[tokio::test]
async fn what_each_request_has_to_say() {
    let (_world, client) = world().await;
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let header = ("mcp-protocol-version", "2026-07-28");
    for (meta, sent, code) in [
        (json!({ version: "2026-07-28", capabilities: {} }), &[header][..], None),
        (json!({ version: "2026-07-28", capabilities: {} }), &[], Some(-32020)),
        (
            json!({ version: "2026-07-28", capabilities: {} }),
            &[("mcp-protocol-version", "2025-11-25")],
            Some(-32020),
        ),
        (json!({ version: "v9" , capabilities: {} }), &[header], Some(-32020)),
        (json!({ version: "v9", capabilities: {} }), &[("mcp-protocol-version", "v9")], Some(-32022)),
        (
            json!({ version: "2025-11-25", capabilities: {} }),
            &[("mcp-protocol-version", "2025-11-25")],
            Some(-32022),
        ),
        (json!({ version: "2026-07-28" }), &[header], Some(-32602)),
        (json!({ version: "2026-07-28", capabilities: [] }), &[header], Some(-32602)),
        (json!({ capabilities: {} }), &[header], Some(-32602)),
        (json!({}), &[header], Some(-32602)),
    ] {
        let body =
            json!({ "jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": { "_meta": meta } });
        let mut headers = vec![("content-type", "application/json"), ("mcp-method", "server/discover")];
        headers.extend(sent);
        let answer = client.raw("POST", &headers, body.to_string()).await;
        assert_eq!(answer.json()["id"], 7);
        match code {
            None => assert_eq!(answer.status, 200, "{meta}"),
            Some(code) => assert_eq!((answer.status.as_u16(), answer.code()), (400, code), "{meta} {sent:?}"),
        }
        if code == Some(-32022) {
            let data = &answer.json()["error"]["data"];
            assert_eq!((&data["requested"], &data["supported"][0]), (&meta[version], &json!("2026-07-28")));
        }
    }
}

#[tokio::test]
async fn headers_say_what_the_body_says() {
    let (world, client) = world().await;
    let (headers, body) =
        client.modern(&json!(1), "tools/call", json!({ "name": "crm__echo", "arguments": {} }));
    for (name, value, status) in [
        ("mcp-name", "crm__echo", 200),
        ("mcp-name", "=?base64?Y3JtX19lY2hv?=", 200),
        ("mcp-name", "crm__ask", 400),
        ("mcp-name", "CRM__ECHO", 400),
        ("mcp-method", "tools/list", 400),
        ("mcp-protocol-version", "2025-11-25", 400),
        ("mcp-session-id", "whatever", 200),
    ] {
        let mut sent = headers.clone();
        sent.retain(|(known, _)| known != name);
        sent.push((name.to_owned(), value.to_owned()));
        let answer = client.raw("POST", &borrowed(&sent), body.clone()).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        if status == 400 {
            assert_eq!(answer.code(), -32020);
        }
    }
    for name in ["mcp-name", "mcp-method", "mcp-protocol-version"] {
        let mut missing = headers.clone();
        missing.retain(|(known, _)| known != name);
        assert_eq!(client.raw("POST", &borrowed(&missing), body.clone()).await.code(), -32020, "{name}");
        let twice = headers.iter().find(|(known, _)| known == name).unwrap().clone();
        let twice: Vec<_> = headers.iter().cloned().chain([twice]).collect();
        assert_eq!(client.raw("POST", &borrowed(&twice), body.clone()).await.code(), -32020, "{name}");
    }
    assert_eq!(world.servers.heard("tools/call").len(), 3);
}

#[tokio::test]
async fn parameters_in_headers() {
    let (world, client) = world().await;
    let params = json!({ "name": "crm__test_x_mcp_header", "arguments": { "region": "eu" } });
    let (headers, body) = client.modern(&json!(1), "tools/call", params);
    for (extra, status) in [
        (&[("mcp-param-region", "eu")][..], 200),
        // The parameter is bound: what a client says of it is nobody's, and reaches nobody.
        (&[("mcp-param-region", "eu"), ("mcp-param-user", "bob")], 200),
        (&[("mcp-param-region", "us")], 400),
        (&[], 400),
    ] {
        let mut sent = borrowed(&headers);
        sent.extend(extra);
        let answer = client.raw("POST", &sent, body.clone()).await;
        assert_eq!(answer.status, status, "{extra:?} {}", answer.json());
    }
    let heard = world.servers.heard("tools/call");
    assert_eq!(heard.len(), 2);
    assert!(
        heard.iter().all(|params| params["arguments"] == json!({ "region": "eu", "user": "alice" })),
        "{heard:?}"
    );
}

#[tokio::test]
async fn what_is_not_spoken_in_this_era() {
    let (_world, client) = world().await;
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/get", "x/y"] {
        let answer = client.ask(method, json!({})).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (404, -32601), "{method}");
    }
    let version = ("mcp-protocol-version", "2026-07-28");
    let kind = ("content-type", "application/json");
    for (method, status) in [("GET", 405), ("DELETE", 405)] {
        let sent = [version, ("mcp-session-id", "x"), ("accept", "text/event-stream")];
        assert_eq!(client.raw(method, &sent, "").await.status, status);
    }
    let said = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let answer = client.raw("POST", &[version, kind], said.to_string()).await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
    let said = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    assert_eq!(client.raw("POST", &[version, kind], said.to_string()).await.status, 400);
}

#[tokio::test]
async fn a_client_that_lacks_what_a_server_needs_is_told_what() {
    let (_world, client) = world().await;
    let lacking = client.able(json!({}));
    let answer = lacking.call("free__test_missing_capability", json!({})).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (400, -32021));
    let form = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
    let answer = lacking.call("crm__ask", form.clone()).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (400, -32021));
    assert_eq!(
        answer.json()["error"]["data"]["requiredCapabilities"],
        json!({ "elicitation": { "form": {} } })
    );
    // A server that could do without has its say.
    assert_eq!(lacking.call("crm__ask_without", form).await.text(), "did without");
}

#[tokio::test]
async fn things_that_are_not_there() {
    let (_world, client) = world().await;
    for (method, params, message) in [
        ("tools/call", json!({ "name": "x" }), "Unknown tool: x"),
        ("prompts/get", json!({ "name": "x" }), "Unknown prompt: x"),
        ("resources/read", json!({ "uri": "x://y" }), "Resource not found"),
        ("resources/read", json!({ "uri": "fumehood://none/x://y" }), "Resource not found"),
        ("resources/read", json!({ "uri": "fumehood://crm/x://y" }), "Resource not found"),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "b" } }),
            "Unknown prompt or resource: x",
        ),
        ("tools/call", json!({}), "`name` is missing, or no text"),
        ("resources/read", json!({ "uri": 7 }), "`uri` is missing, or no text"),
    ] {
        let asked: Value = params.clone();
        let answer = client.ask(method, params).await;
        let error = answer.json()["error"].clone();
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!(message)), "{asked}");
        if method == "resources/read" && asked["uri"].is_string() {
            assert_eq!(error["data"]["uri"], asked["uri"]);
        }
    }
}
