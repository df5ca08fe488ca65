use super::*;

fn metadata(base: &str) -> Metadata {
    let scopes = ["tools", "offline_access", "bad\"scope", "admin"].map(str::to_owned);
    Metadata::new(base, ["https://idp.example.com".to_owned()], scopes)
}

#[test]
fn each_resource_has_its_document_and_nothing_else_has() {
    let metadata = metadata("https://mcp.example.com/");
    for (path, resource) in [
        ("", Some("https://mcp.example.com")),
        ("/mcp", Some("https://mcp.example.com/mcp")),
        ("/servers/weather/mcp", Some("https://mcp.example.com/servers/weather/mcp")),
        ("/servers/../mcp", None),
        ("/servers//mcp", None),
        ("/v1/tools", None),
        ("/", None),
        ("/mcp/", None),
        ("-other", None),
    ] {
        let document = metadata.document(&format!("{WELL_KNOWN}{path}"));
        assert_eq!(document.as_ref().and_then(|document| document["resource"].as_str()), resource, "{path}");
    }
    assert_eq!(
        metadata.document(WELL_KNOWN).unwrap(),
        json!({
            "resource": "https://mcp.example.com",
            "authorization_servers": ["https://idp.example.com"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Fumehood",
            "scopes_supported": ["admin", "tools"],
        })
    );
}

#[test]
fn without_an_issuer_there_is_no_document() {
    let metadata = Metadata::new("http://127.0.0.1:8300", [], []);
    assert_eq!(metadata.document(WELL_KNOWN), None);
    assert_eq!(metadata.challenge("/mcp", Challenge::None, ""), "Bearer");
}

#[test]
fn a_challenge_names_the_document_of_the_resource() {
    let metadata = Metadata::new("https://example.com/gate", ["https://idp.example.com".to_owned()], []);
    assert_eq!(
        metadata.challenge("/servers/a/mcp", Challenge::InvalidToken, "the \"token\"\r\nhas expired"),
        "Bearer resource_metadata=\"https://example.com/.well-known/oauth-protected-resource/gate/servers/a/mcp\", \
         error=\"invalid_token\", error_description=\"the tokenhas expired\""
    );
    assert_eq!(
        metadata.challenge("/v1/tools", Challenge::None, "unused"),
        "Bearer resource_metadata=\"https://example.com/.well-known/oauth-protected-resource/gate\""
    );
    for path in
        ["/.well-known/oauth-protected-resource/gate/mcp", "/.well-known/oauth-protected-resource/mcp"]
    {
        assert_eq!(metadata.document(path).unwrap()["resource"], "https://example.com/gate/mcp");
    }
}

#[test]
fn scopes_stand_in_the_challenge() {
    let challenge =
        metadata("https://mcp.example.com").challenge("/mcp", Challenge::InsufficientScope, "more");
    assert!(challenge.to_str().unwrap().ends_with(", scope=\"admin tools\""), "{challenge:?}");
}
