use super::*;

fn server() -> ServerName {
    ServerName::new("weather").unwrap()
}

#[test]
fn every_code_is_stable_and_has_a_remedy() {
    let rule = HostRule::parse("ok.com").unwrap();
    for code in Code::ALL {
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        assert!(code.as_str().starts_with("FH-"));
        assert!((400..600).contains(&code.status()), "{code}");
        let subject = Subject { server: &server(), host: "ok.com", port: Some(8443), rule: Some(&rule) };
        let refusal = Refusal::new(code, subject, "seen");
        assert!(!refusal.remedy.is_empty(), "{code}");
        assert!(refusal.message.contains("ok.com:8443") && refusal.message.ends_with(": seen"), "{refusal}");
        assert_eq!(refusal.rule.as_deref(), Some("ok.com"));
    }
    let mut codes = Code::ALL.to_vec();
    codes.dedup();
    assert_eq!(codes.len(), Code::ALL.len());
}

#[test]
fn the_json_of_a_refusal_has_what_a_client_needs() {
    let subject = Subject { server: &server(), host: "evil.com", port: Some(443), rule: None };
    let json = serde_json::to_value(Refusal::new(Code::Host, subject, "")).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "code": "FH-EGRESS-HOST",
            "message": "`evil.com:443`: no rule of this server names the host",
            "host": "evil.com",
            "port": 443,
            "rule": null,
            "remedy": "fumehood allow weather evil.com",
        })
    );
}

#[test]
fn a_remedy_for_what_is_no_name_allows_nothing() {
    for (host, expected) in [
        ("10.1.2.3", "address = \"10.1.2.3:443\""),
        ("0x7f.1", "address = \"127.0.0.1:443\""),
        ("[::1]", "address = \"[::1]:443\""),
        ("evil.com\0.ok.com", "use a host name"),
        ("ok.com; rm -rf ~", "use a host name"),
        ("$(id)", "use a host name"),
    ] {
        let subject = Subject { server: &server(), host, port: Some(443), rule: None };
        let refusal = Refusal::new(Code::Host, subject, host);
        assert!(refusal.remedy.contains(expected), "{host}: {}", refusal.remedy);
        assert!(!refusal.remedy.contains("fumehood allow"), "{host}: {}", refusal.remedy);
        assert!(!refusal.message.chars().any(char::is_control), "{host:?}");
    }
    let subject = Subject { server: &server(), host: "localhost", port: Some(3000), rule: None };
    let remedy = Refusal::new(Code::Host, subject, "").remedy;
    assert!(remedy.contains("loopback = true") && !remedy.contains("fumehood allow"), "{remedy}");
}

#[test]
fn each_code_has_a_paragraph_in_the_reference_with_its_status() {
    let page = include_str!("../../../../docs/reference/errors.md");
    for code in Code::ALL {
        let heading = format!("## {code} ({})", code.status());
        assert!(page.contains(&heading), "`{heading}` is not in docs/reference/errors.md");
    }
}
