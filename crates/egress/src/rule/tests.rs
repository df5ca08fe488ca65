use proptest::prelude::*;

use super::*;

fn rule(text: &str) -> HostRule {
    HostRule::parse(text).unwrap()
}

fn name(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

#[test]
fn a_rule_is_read_and_written() {
    for (text, written, ports) in [
        ("api.github.com", "api.github.com", "443 tls, 80 http"),
        ("API.GitHub.com.", "api.github.com", "443 tls, 80 http"),
        ("api.github.com:8443", "api.github.com:8443", "8443 tls"),
        ("api.github.com:443", "https://api.github.com", "443 tls"),
        ("api.github.com:80", "http://api.github.com", "80 http"),
        ("https://api.github.com", "https://api.github.com", "443 tls"),
        ("https://api.github.com/", "https://api.github.com", "443 tls"),
        ("HTTPS://api.github.com:80", "https://api.github.com:80", "80 tls"),
        ("tls://mail.example.com:993", "mail.example.com:993", "993 tls"),
        ("http://host.example", "http://host.example", "80 http"),
        ("http://host.example:8080", "http://host.example:8080", "8080 http"),
        ("tcp://db.example.com:5432", "tcp://db.example.com:5432", "5432 tcp"),
        ("*.example.com", "*.example.com", "443 tls, 80 http"),
        ("*.example.com:8443", "*.example.com:8443", "8443 tls"),
        ("tcp://*.example.com:22", "tcp://*.example.com:22", "22 tcp"),
        ("bücher.example", "xn--bcher-kva.example", "443 tls, 80 http"),
        ("ghe", "ghe", "443 tls, 80 http"),
        ("GET,HEAD https://ok.com/*", "GET,HEAD https://ok.com/*", "443 tls"),
        ("HEAD,GET,HEAD ok.com", "GET,HEAD ok.com", "443 tls, 80 http"),
        ("GET OK.com/Repos/acme/*", "GET ok.com/Repos/acme/*", "443 tls, 80 http"),
        ("ok.com/repos/*/issues", "ok.com/repos/*/issues", "443 tls, 80 http"),
        ("* ok.com/repos/*", "ok.com/repos/*", "443 tls, 80 http"),
        ("* ok.com", "* ok.com", "443 tls, 80 http"),
        ("* ok.com/", "* ok.com/", "443 tls, 80 http"),
        ("GET https://ok.com/", "GET https://ok.com/", "443 tls"),
        ("POST https://h.com:8443/v1/messages", "POST h.com:8443/v1/messages", "8443 tls"),
        ("GET http://h.com:8080/a", "GET http://h.com:8080/a", "8080 http"),
        ("GET *.ok.com:8443/@scope/x@1.0.0", "GET *.ok.com:8443/@scope/x@1.0.0", "8443 tls"),
    ] {
        let read = rule(text);
        assert_eq!(read.to_string(), written, "{text}");
        let told: Vec<String> = read.ports().map(|(port, kind)| format!("{port} {kind}")).collect();
        assert_eq!(told.join(", "), ports, "{text}");
        assert_eq!(rule(written), read, "{text}");
    }
}

#[test]
fn what_is_no_rule_says_why_and_what_to_do() {
    type Is = fn(&RuleError) -> bool;
    let cases: &[(&str, Is)] = &[
        ("", |error| matches!(error, RuleError::Name { .. })),
        ("https://", |error| matches!(error, RuleError::Name { .. })),
        ("10.1.2.3", |error| matches!(error, RuleError::Address { .. })),
        ("https://10.1.2.3:8443", |error| matches!(error, RuleError::Address { .. })),
        ("2130706433", |error| matches!(error, RuleError::Address { .. })),
        ("http://0x7f.1/", |error| matches!(error, RuleError::Address { .. } | RuleError::Name { .. })),
        ("[::1]:443", |error| matches!(error, RuleError::Address { .. })),
        ("::1", |error| matches!(error, RuleError::Address { .. })),
        ("fe80::1%eth0", |error| matches!(error, RuleError::Address { .. })),
        ("１２７．１", |error| matches!(error, RuleError::Address { .. })),
        ("https://ok.com?x", |error| matches!(error, RuleError::Query { .. })),
        ("https://ok.com#/x", |error| matches!(error, RuleError::Query { .. })),
        ("https://ok.com\\@evil.com/x", |error| matches!(error, RuleError::Name { .. })),
        ("ok.com\\evil.com", |error| matches!(error, RuleError::Query { .. })),
        ("ok.com/", |error| matches!(error, RuleError::Slash { .. })),
        ("10.0.0.0/8", |error| matches!(error, RuleError::Address { .. })),
        ("GET https://10.0.0.1/x", |error| matches!(error, RuleError::Address { .. })),
        ("ok.com/a?b", |error| matches!(error, RuleError::Path { .. })),
        ("ok.com/a/../b", |error| matches!(error, RuleError::Path { .. })),
        ("ok.com//a", |error| matches!(error, RuleError::Path { .. })),
        ("ok.com/a%2fb", |error| matches!(error, RuleError::Path { .. })),
        ("ok.com/a b", |error| matches!(error, RuleError::Method { .. })),
        ("GET ok.com/a b", |error| matches!(error, RuleError::Path { .. })),
        ("GET ", |error| matches!(error, RuleError::Name { .. })),
        (" ok.com", |error| matches!(error, RuleError::Method { .. })),
        ("GET  ok.com", |error| matches!(error, RuleError::Name { .. })),
        ("GET, HEAD ok.com", |error| matches!(error, RuleError::Method { .. })),
        ("GET,* ok.com", |error| matches!(error, RuleError::Method { .. })),
        ("TRACE ok.com", |error| matches!(error, RuleError::Method { .. })),
        ("CONNECT ok.com", |error| matches!(error, RuleError::Method { .. })),
        ("get ok.com", |error| matches!(error, RuleError::LowerCase { .. })),
        ("my host.com", |error| matches!(error, RuleError::LowerCase { .. })),
        ("A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q ok.com", |error| matches!(error, RuleError::Methods { .. })),
        ("GET tcp://ok.com:22", |error| matches!(error, RuleError::Unseen { .. })),
        ("* tcp://ok.com:22", |error| matches!(error, RuleError::Unseen { .. })),
        ("tcp://ok.com:22/x", |error| matches!(error, RuleError::Unseen { .. })),
        ("GET *.com/x", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("* *", |error| matches!(error, RuleError::Wildcard { .. })),
        ("GET localhost/x", |error| matches!(error, RuleError::Localhost { .. })),
        ("ok.com:0", |error| matches!(error, RuleError::Port { .. })),
        ("ok.com:65536", |error| matches!(error, RuleError::Port { .. })),
        ("ok.com:+443", |error| matches!(error, RuleError::Port { .. })),
        ("ok.com:0443", |error| matches!(error, RuleError::Port { .. })),
        ("ok.com:", |error| matches!(error, RuleError::Port { .. })),
        ("ok.com:443:443", |error| matches!(error, RuleError::Name { .. })),
        ("tcp://ok.com", |error| matches!(error, RuleError::NoPort { .. })),
        ("ftp://ok.com", |error| matches!(error, RuleError::Scheme { .. })),
        ("user@ok.com", |error| matches!(error, RuleError::Name { .. })),
        ("https://user:pw@ok.com", |error| matches!(error, RuleError::Name { .. })),
        ("ok.com:443@evil.com", |error| matches!(error, RuleError::Name { .. })),
        ("ok.com\0.evil.com", |error| matches!(error, RuleError::Name { .. })),
        ("*", |error| matches!(error, RuleError::Wildcard { .. })),
        ("**.example.com", |error| matches!(error, RuleError::Wildcard { .. })),
        ("*.*.example.com", |error| matches!(error, RuleError::Wildcard { .. })),
        ("a*.example.com", |error| matches!(error, RuleError::Wildcard { .. })),
        ("api.*.example.com", |error| matches!(error, RuleError::Wildcard { .. })),
        ("*.", |error| matches!(error, RuleError::Name { .. })),
        ("*.com", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.co.uk", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.github.io", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.s3.amazonaws.com", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.cloudfront.net", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.COM.", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.公司.cn", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.xn--55qx5d.cn", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("*.whatever-is-not-listed", |error| matches!(error, RuleError::PublicSuffix { .. })),
        ("localhost", |error| matches!(error, RuleError::Localhost { .. })),
        ("http://localhost:3000", |error| matches!(error, RuleError::Localhost { .. })),
        ("app.localhost", |error| matches!(error, RuleError::Localhost { .. })),
    ];
    for (text, is) in cases {
        let told = HostRule::parse(text);
        let Err(error) = told else { panic!("{text} read as {told:?}") };
        assert!(is(&error), "{text}: {error:?}");
        assert!(!error.hint().is_empty(), "{text}");
    }
}

#[test]
fn terms_are_read_and_taken() {
    assert_eq!(rule("ok.com").terms(), None);
    assert_eq!(rule("https://ok.com/").terms(), None);
    let terms = rule("* ok.com").terms().cloned().unwrap();
    assert!(terms.methods().is_empty() && terms.path().is_none());
    assert!(terms.take_method("ANY") && terms.take_path("/any"));
    let terms = rule("GET,HEAD ok.com/repos/acme/*").terms().cloned().unwrap();
    for (method, path, taken) in [
        ("GET", "/repos/acme/x", true),
        ("HEAD", "/repos/acme/x/y", true),
        ("POST", "/repos/acme/x", false),
        ("get", "/repos/acme/x", false),
        ("GET", "/repos/acme", false),
        ("GET", "/repos/evil", false),
    ] {
        assert_eq!(terms.take_method(method) && terms.take_path(path), taken, "{method} {path}");
    }
    let plain = HostRule::exactly(&name("ok.com"), 443, Kind::Tls).unwrap();
    assert_eq!(plain.with_terms(terms).unwrap().to_string(), "GET,HEAD https://ok.com/repos/acme/*");
    let raw = HostRule::exactly(&name("ok.com"), 22, Kind::Tcp).unwrap();
    assert_eq!(raw.with_terms(Terms::new([], None)), None);
    assert_eq!(HostRule::exactly(&name("ok.com"), 0, Kind::Tls), None);
}

#[test]
fn a_rule_can_lose_some_of_its_methods() {
    for (whole, gone, left) in [
        ("GET,POST ok.com/a", "GET,POST ok.com/a", None),
        ("ok.com", "ok.com", None),
        ("GET,POST ok.com/a", "POST ok.com/a", Some("GET ok.com/a")),
        ("GET,POST ok.com", "POST OK.com:443", Some("GET,POST ok.com")),
        ("GET,POST ok.com/a", "POST ok.com", Some("GET,POST ok.com/a")),
        ("GET,POST ok.com", "PUT ok.com", Some("GET,POST ok.com")),
        ("GET,POST ok.com", "GET,PUT ok.com", Some("GET,POST ok.com")),
        ("GET ok.com", "* ok.com", Some("GET ok.com")),
        ("* ok.com", "GET ok.com", Some("* ok.com")),
        ("ok.com", "GET ok.com", Some("ok.com")),
    ] {
        assert_eq!(rule(whole).without(&rule(gone)), left.map(rule), "{whole} - {gone}");
    }
}

#[test]
fn an_address_is_refused_with_the_lines_that_would_reach_it() {
    let hint = HostRule::parse("https://10.1.2.3").unwrap_err().hint();
    assert!(hint.contains("[upstreams.\"NAME\"]") && hint.contains("address = \"10.1.2.3:443\""), "{hint}");
    let hint = HostRule::parse("localhost").unwrap_err().hint();
    assert!(hint.contains("loopback = true"), "{hint}");
}

#[test]
fn exact_is_exact_and_a_wildcard_is_whole_labels() {
    let exact = rule("ok.com");
    for other in ["evilok.com", "ok.com.evil.com", "a.ok.com", "ok.co", "ok.comm", "k.com", "com"] {
        assert!(!exact.covers(&name(other)), "{other}");
    }
    assert!(exact.covers(&name("OK.com.")));
    let wild = rule("*.ok.com");
    for other in ["ok.com", "evilok.com", "a.evilok.com", "a.ok.com.evil.com", "com", "xok.com"] {
        assert!(!wild.covers(&name(other)), "{other}");
    }
    for below in ["a.ok.com", "a.b.c.ok.com", "A.OK.com."] {
        assert!(wild.covers(&name(below)), "{below}");
    }
}

#[test]
fn a_wildcard_stops_where_names_have_other_owners() {
    let wild = rule("*.amazonaws.com");
    assert!(wild.covers(&name("sts.amazonaws.com")));
    for strangers in ["bucket.s3.amazonaws.com", "bucket.s3.eu-west-1.amazonaws.com"] {
        assert!(!wild.covers(&name(strangers)), "{strangers}");
    }
    assert!(rule("*.mine.github.io").covers(&name("a.mine.github.io")));
}

/// Labels that are often enough alike for rules to meet names.
pub(crate) fn hosts() -> impl Strategy<Value = HostName> {
    let label =
        prop_oneof![Just("a"), Just("b"), Just("ok"), Just("com"), Just("github"), Just("io"), Just("s3")];
    prop::collection::vec(label, 1..5)
        .prop_filter_map("no name", |labels| HostName::parse(&labels.join(".")).ok())
}

pub(crate) fn rules() -> impl Strategy<Value = HostRule> {
    let port = prop_oneof![Just(None), Just(Some(80_u16)), Just(Some(443)), (1..=u16::MAX).prop_map(Some)];
    let scheme = prop_oneof![Just(""), Just("https://"), Just("http://"), Just("tcp://")];
    let methods = prop_oneof![4 => Just(""), 1 => Just("* "), 1 => Just("GET "), 1 => Just("GET,POST ")];
    let path =
        prop_oneof![4 => Just(""), 1 => Just("/"), 1 => Just("/a"), 1 => Just("/a/*"), 1 => Just("/*/b")];
    (hosts(), any::<bool>(), port, scheme, methods, path).prop_filter_map(
        "no rule",
        |(host, wild, port, scheme, methods, path)| {
            let wild = if wild { "*." } else { "" };
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            HostRule::parse(&format!("{methods}{scheme}{wild}{host}{port}{path}")).ok()
        },
    )
}

proptest! {
    #[test]
    fn a_written_rule_reads_as_itself(rule in rules()) {
        prop_assert_eq!(HostRule::parse(&rule.to_string()).unwrap(), rule.clone());
        let json = serde_json::to_string(&rule).unwrap();
        prop_assert_eq!(serde_json::from_str::<HostRule>(&json).unwrap(), rule);
    }

    #[test]
    fn whatever_is_read_is_written_so_that_it_reads_the_same(text in "([A-Z,*]{1,8} )?(https://|http://|tcp://)?\\PC{0,30}(:[0-9]{1,6})?(/[a-z*/]{0,8})?") {
        if let Ok(rule) = HostRule::parse(&text) {
            prop_assert_eq!(HostRule::parse(&rule.to_string()).unwrap(), rule);
        }
    }
}
