//! What does not come in at all.

use serde_json::json;

use crate::{client::borrowed, world, world::MAX_BODY};

const TYPE: (&str, &str) = ("content-type", "application/json");
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn hosts_and_origins() {
    let (_world, client) = world().await;
    let (headers, body) = client.modern(&json!(1), "tools/list", json!({}));
    let port = client.address.port();
    for (host, origin, status) in [
        (format!("127.0.0.1:{port}"), None, 200),
        (format!("localhost:{port}"), Some("http://localhost:6274"), 200),
        (format!("[::1]:{port}"), Some("https://app.example.com"), 200),
        ("evil.example".to_owned(), None, 403),
        (format!("evil.example:{port}"), Some("http://evil.example"), 403),
        (format!("127.0.0.1:{}", port ^ 1), None, 403),
        (format!("127.0.0.1:{port}"), Some("http://evil.example"), 403),
        (format!("127.0.0.1:{port}"), Some("null"), 403),
    ] {
        let mut sent = borrowed(&headers);
        sent.push(("host", &host));
        sent.extend(origin.map(|origin| ("origin", origin)));
        let answer = client.raw("POST", &sent, body.clone()).await;
        assert_eq!(answer.status, status, "{host} {origin:?}");
        let may_read = origin == Some("https://app.example.com");
        assert_eq!(answer.headers.contains_key("access-control-allow-origin"), may_read, "{origin:?}");
    }
    let origin = ("origin", "https://app.example.com");
    let wanted = ("access-control-request-headers", "Authorization,mcp-param-region, x-other");
    let asked = client.raw("OPTIONS", &[origin, ("access-control-request-method", "POST"), wanted], "").await;
    assert_eq!(asked.status, 204);
    assert_eq!(asked.headers["access-control-allow-origin"], origin.1);
    assert_eq!(asked.headers["access-control-allow-headers"], "Authorization, mcp-param-region");
    let other = client.raw("OPTIONS", &[("origin", "http://localhost:6274")], "").await;
    assert_eq!(other.status, 405);
    assert!(!other.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn what_is_no_request() {
    let (_world, client) = world().await;
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(MAX_BODY));
    for (method, headers, body, status) in [
        ("PUT", &[TYPE][..], PING, 405),
        ("GET", &[], "", 405),
        ("DELETE", &[], "", 405),
        ("POST", &[], PING, 415),
        ("POST", &[("content-type", "text/plain")], PING, 415),
        ("POST", &[TYPE, ("content-encoding", "gzip")], PING, 415),
        ("POST", &[TYPE, ("accept", "text/html")], PING, 406),
        ("POST", &[TYPE, ("accept", "text/event-stream")], PING, 406),
        ("POST", &[TYPE], "", 400),
        ("POST", &[TYPE], "no json", 400),
        ("POST", &[TYPE], "[]", 400),
        ("POST", &[TYPE], PING, 400),
        ("POST", &[TYPE], r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#, 400),
        ("POST", &[TYPE], long.as_str(), 413),
        ("POST", &[TYPE, ("mcp-protocol-version", "2024-01-01")], PING, 400),
        (
            "POST",
            &[TYPE, ("mcp-protocol-version", "2025-11-25"), ("mcp-protocol-version", "2025-06-18")],
            PING,
            400,
        ),
    ] {
        let answer = client.raw(method, headers, body.to_owned()).await;
        assert_eq!(answer.status, status, "{method} {headers:?} {}", body.get(..80).unwrap_or(body));
        assert!(answer.json().get("result").is_none());
    }
    for path in [
        "/",
        "/mcp/",
        "/mcp/x",
        "/servers/crm",
        "/servers/crm/mcp/x",
        "/servers//mcp",
        "/servers/CRM..%2f/mcp",
    ] {
        let client = crate::Client { path: path.to_owned(), ..client.clone() };
        assert_eq!(client.raw("POST", &[TYPE], PING).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_seen_is_not_there() {
    let (_world, client) = world().await;
    let nobody = client.who("eve", "nothing");
    let unseen = nobody.of("crm").ask("server/discover", json!({})).await;
    let unknown = nobody.of("none-such").ask("server/discover", json!({})).await;
    assert_eq!((unseen.status, &unseen.body), (unknown.status, &unknown.body));
    assert_eq!(unseen.status, 404);
    let open = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {} });
    let unseen = nobody.of("crm").old(&json!(1), "initialize", open.clone()).await;
    let unknown = nobody.of("none-such").old(&json!(1), "initialize", open).await;
    assert_eq!((unseen.status, &unseen.body), (unknown.status, &unknown.body));
    assert_eq!(client.of("crm").ask("server/discover", json!({})).await.status, 200);
}
