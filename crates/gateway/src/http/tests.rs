use super::*;

fn parts(target: &str, headers: &[(&str, &str)]) -> http::request::Parts {
    let mut request = http::Request::builder().uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn rim() -> Rim {
    let hosts = Hosts::of_port(8300)
        .with_url("https://MCP.example.com/base")
        .with_hosts(["inside.example:8443", "alias.example"])
        .with_origins(["https://app.example.com"]);
    Rim::of_listener(hosts, DEFAULT_BODY)
}

#[test]
fn hosts() {
    for (host, status) in [
        ("127.0.0.1:8300", 200),
        ("localhost:8300", 200),
        ("LocalHost.:8300", 200),
        ("[::1]:8300", 200),
        ("[0:0::1]:8300", 200),
        ("mcp.example.com", 200),
        ("mcp.example.com:443", 200),
        ("inside.example:8443", 200),
        ("alias.example:1", 200),
        ("inside.example", 403),
        ("127.0.0.1", 403),
        ("127.0.0.1:8301", 403),
        ("localhost:80", 403),
        ("evil.example:8300", 403),
        ("localhost.evil.example:8300", 403),
        ("mcp.example.com.evil.example", 403),
        ("127.0.0.1.nip.example:8300", 403),
        ("localhost:8300@evil.example", 400),
        ("evil.example#:8300", 400),
        ("[::1]8300", 400),
        ("localhost:", 400),
        ("localhost:99999", 400),
        ("", 400),
    ] {
        let outcome = rim().check(&parts("/mcp", &[("host", host)]));
        let got = outcome.as_ref().map_or_else(|error| error.status().as_u16(), |()| 200);
        assert_eq!(got, status, "{host}: {outcome:?}");
    }
    assert_eq!(rim().check(&parts("/mcp", &[])), Err(HostError::NoHost));
    let twice = [("host", "localhost:8300"), ("host", "evil.example")];
    assert_eq!(rim().check(&parts("/mcp", &twice)), Err(HostError::NoHost));
    // The target goes before the header.
    let absolute = parts("http://evil.example:8300/mcp", &[("host", "localhost:8300")]);
    assert!(matches!(rim().check(&absolute), Err(HostError::Host(_))));
    assert_eq!(Rim::of_socket(1).check(&parts("/mcp", &[])), Ok(()));
}

#[test]
fn origins() {
    for (origin, is_let_in) in [
        ("http://localhost:6274", true),
        ("http://127.0.0.1:8300", true),
        ("https://[::1]:8300", true),
        ("https://mcp.example.com", true),
        ("https://mcp.example.com:443", true),
        ("https://app.example.com", true),
        ("http://app.example.com", false),
        ("https://app.example.com:444", false),
        ("https://alias.example", false),
        ("https://evil.example", false),
        ("http://localhost.evil.example", false),
        ("file:///etc/passwd", false),
        ("null", false),
        ("", false),
        ("chrome-extension://localhost", false),
    ] {
        let outcome = rim().check(&parts("/mcp", &[("host", "localhost:8300"), ("origin", origin)]));
        assert_eq!(outcome.is_ok(), is_let_in, "{origin}: {outcome:?}");
        if let Err(error) = outcome {
            assert_eq!((error.status(), error.code()), (StatusCode::FORBIDDEN, "FH-ORIGIN"));
        }
    }
    let twice =
        [("host", "localhost:8300"), ("origin", "http://localhost"), ("origin", "http://evil.example")];
    assert!(rim().check(&parts("/mcp", &twice)).is_err());
}

#[test]
fn only_named_pages_may_read() {
    let hosts = rim().hosts.unwrap();
    for (origin, may) in [("https://app.example.com", true), ("http://localhost:6274", false)] {
        let parts = parts("/mcp", &[("origin", origin)]);
        assert_eq!(hosts.shares_with(&parts.headers).is_some(), may, "{origin}");
    }
}

#[test]
fn types_of_bodies() {
    for (kind, is_taken) in [
        ("application/json", true),
        ("Application/JSON; charset=UTF-8", true),
        ("application/json;charset=\"utf-8\"; x=y", true),
        ("application/json; charset=utf-16", false),
        ("text/plain", false),
        ("application/jsonp", false),
        ("text/plain, application/json", false),
        ("", false),
    ] {
        let parts = parts("/mcp", &[("content-type", kind)]);
        assert_eq!(is_json(&parts.headers), is_taken, "{kind}");
    }
    let twice = parts("/mcp", &[("content-type", "application/json"), ("content-type", "text/plain")]);
    assert!(!is_json(&twice.headers));
    assert!(!is_json(&HeaderMap::new()));
}

#[test]
fn what_is_accepted() {
    for (accept, json, stream) in [
        (None, true, true),
        (Some("*/*"), true, true),
        (Some("application/json, text/event-stream"), true, true),
        (Some("application/json"), true, false),
        (Some("text/*"), false, true),
        (Some("text/html"), false, false),
        (Some("application/json;q=0, text/event-stream"), false, true),
    ] {
        let headers: Vec<_> = accept.iter().map(|accept| ("accept", *accept)).collect();
        let headers = parts("/mcp", &headers).headers;
        assert_eq!(
            (accepts(&headers, "application/json"), accepts(&headers, "text/event-stream")),
            (json, stream),
            "{accept:?}"
        );
    }
}

#[tokio::test]
async fn bodies() {
    let json = parts("/mcp", &[("content-type", "application/json")]).headers;
    assert_eq!(read_json(&json, Body::from("{}"), 2).await.unwrap(), "{}");
    assert_eq!(read_json(&json, Body::from("{ }"), 2).await, Err(BodyError::TooLong(2)));
    assert_eq!(read_json(&HeaderMap::new(), Body::from("{}"), 2).await, Err(BodyError::Type));
    let packed = parts("/mcp", &[("content-type", "application/json"), ("content-encoding", "gzip")]).headers;
    assert_eq!(read_json(&packed, Body::from("{}"), 2).await, Err(BodyError::Packed));
}
