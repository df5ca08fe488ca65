use proptest::prelude::*;

use super::*;
use crate::path::CanonicalPath;
use crate::rule::tests::{hosts, rules};

mod keys;

pub(crate) fn policy(generation: u64, lines: &[&str]) -> Policy {
    let rules = lines.iter().map(|line| HostRule::parse(line).unwrap());
    Policy::new(ServerName::new("weather").unwrap(), generation, rules)
}

fn name(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

#[test]
fn only_what_a_rule_names_is_permitted_and_the_permit_says_which() {
    let policy = policy(7, &["ok.com", "*.ok.com:8443", "tcp://db.ok.com:5432"]);
    let permit = policy.judge(&name("ok.com"), 443).unwrap();
    assert_eq!(
        (permit.kind(), permit.rule().to_string(), permit.generation()),
        (Kind::Tls, "ok.com".into(), 7)
    );
    assert_eq!(policy.judge(&name("ok.com"), 80).unwrap().kind(), Kind::Http);
    assert_eq!(policy.judge(&name("x.ok.com"), 8443).unwrap().rule().to_string(), "*.ok.com:8443");
    assert_eq!(policy.judge(&name("db.ok.com"), 5432).unwrap().kind(), Kind::Tcp);
    assert_eq!(policy.judge(&name("db.ok.com"), 8443).unwrap().kind(), Kind::Tls);
    for (host, port, code, remedy) in [
        ("evil.com", 443, Code::Host, "fumehood allow weather evil.com"),
        ("evil.com", 8443, Code::Host, "fumehood allow weather evil.com:8443"),
        ("evilok.com", 443, Code::Host, "fumehood allow weather evilok.com"),
        ("ok.com.evil.com", 443, Code::Host, "fumehood allow weather ok.com.evil.com"),
        ("ok.com", 8443, Code::Port, "fumehood allow weather ok.com:8443"),
        ("x.ok.com", 443, Code::Port, "fumehood allow weather x.ok.com"),
        ("db.ok.com", 22, Code::Port, "fumehood allow weather db.ok.com:22"),
        ("ok.com", 0, Code::Port, "fumehood allow"),
    ] {
        let refusal = policy.judge(&name(host), port).unwrap_err();
        assert_eq!(refusal.code, code, "{host}:{port}");
        assert!(port == 0 || refusal.remedy == remedy, "{host}:{port}: {}", refusal.remedy);
        assert_eq!(refusal.host, host);
        assert_eq!(refusal.rule.is_some(), code == Code::Port, "{host}:{port}");
    }
}

#[test]
fn of_several_rules_the_widest_and_nearest_counts() {
    let policy = policy(1, &["*.ok.com", "a.ok.com", "tcp://*.ok.com:443", "*.a.ok.com"]);
    assert_eq!(policy.judge(&name("a.ok.com"), 443).unwrap().rule().to_string(), "tcp://*.ok.com:443");
    assert_eq!(policy.judge(&name("a.ok.com"), 80).unwrap().rule().to_string(), "a.ok.com");
    assert_eq!(policy.judge(&name("x.a.ok.com"), 80).unwrap().rule().to_string(), "*.a.ok.com");
    let reach = policy.reach(&name("a.ok.com")).unwrap();
    assert!(reach.exact);
    assert_eq!(reach.ports, BTreeMap::from([(80, Kind::Http), (443, Kind::Tcp)]));
    assert!(!policy.reach(&name("b.ok.com")).unwrap().exact);
    assert_eq!(policy.reach(&name("ok.com")), None);
}

fn over(policy: &Policy, host: &str, port: u16, method: &str, target: &str) -> Result<Allowed, Refusal> {
    policy.judge_request(&policy.judge(&name(host), port)?, method, &CanonicalPath::of(target))
}

#[test]
fn a_request_is_let_through_by_a_rule_that_takes_its_method_and_path() {
    let policy = policy(1, &["GET,HEAD ok.com/repos/acme/*", "POST https://ok.com/graphql", "plain.com"]);
    for (port, method, target, rule) in [
        (443, "GET", "/repos/acme/x?q=1", "GET,HEAD ok.com/repos/acme/*"),
        (80, "HEAD", "/repos/acme/x", "GET,HEAD ok.com/repos/acme/*"),
        (443, "POST", "/graphql", "POST https://ok.com/graphql"),
        (443, "GET", "/%72epos/acme/x", "GET,HEAD ok.com/repos/acme/*"),
    ] {
        let allowed = over(&policy, "ok.com", port, method, target).unwrap();
        assert_eq!(allowed.rule().to_string(), rule, "{method} {target}");
    }
    let allowed = over(&policy, "ok.com", 443, "GET", "/%72epos/acme/x?q=%61").unwrap();
    assert_eq!(allowed.target(), "/repos/acme/x?q=%61", "what was judged is what is sent, but for the query");
    for (port, method, target, code, remedy) in [
        (443, "POST", "/repos/acme/x?q=1", Code::RequestMethod, "'POST https://ok.com/repos/acme/x'"),
        (443, "get", "/repos/acme/x", Code::RequestMethod, "https://ok.com/repos/acme/x"),
        (80, "POST", "/repos/acme/a%20b/c", Code::RequestMethod, "'POST http://ok.com/repos/acme/*'"),
        (443, "DELETE", "/graphql", Code::RequestMethod, "'DELETE https://ok.com/graphql'"),
        (443, "GET", "/repos/evil/x", Code::RequestPath, "'GET https://ok.com/repos/evil/x'"),
        (443, "GET", "/it's", Code::RequestPath, "'GET https://ok.com/it'\\''s'"),
        (443, "GET", "/", Code::RequestPath, "'GET https://ok.com/'"),
        (80, "POST", "/graphql", Code::RequestPath, "'POST http://ok.com/graphql'"),
    ] {
        let refusal = over(&policy, "ok.com", port, method, target).unwrap_err();
        assert_eq!(refusal.code, code, "{method} {target}");
        assert_eq!(refusal.remedy, format!("fumehood allow weather {remedy}"), "{method} {target}");
        assert!(refusal.rule.is_some() && !refusal.message.contains("q=1"), "{refusal}");
    }
    let allowed = over(&policy, "plain.com", 80, "POST", "/a/../%2e%2E//b;c?d").unwrap();
    assert_eq!(allowed.target(), "/a/../%2e%2E//b;c?d", "without a path in a rule it passes as it came");
}

#[test]
fn a_path_that_is_read_in_two_ways_is_taken_by_no_rule_that_has_a_path() {
    let policy = policy(1, &["GET ok.com/repos/acme/*", "POST ok.com", "GET any.com"]);
    for target in [
        "/repos/acme/../evil",
        "/repos/acme/..",
        "/repos/acme/%2e%2e/evil",
        "/repos/acme/..;/evil",
        "//repos/acme/x",
        "/repos/acme/x%2f..%2fevil",
        "/repos/acme/%252e%252e/evil",
        "/repos/acme/x\\..\\evil",
        "/repos/acme/x\0",
        "*",
    ] {
        let refusal = over(&policy, "ok.com", 443, "GET", target).unwrap_err();
        assert_eq!(refusal.code, Code::RequestPath, "{target}");
        assert!(!refusal.remedy.contains("fumehood allow"), "{}", refusal.remedy);
        assert_eq!(
            over(&policy, "ok.com", 443, "POST", target).unwrap().target(),
            target,
            "its rule has no path"
        );
        assert_eq!(over(&policy, "ok.com", 443, "PUT", target).unwrap_err().code, Code::RequestMethod);
        assert_eq!(over(&policy, "any.com", 443, "GET", target).unwrap().target(), target);
        let refusal = over(&policy, "any.com", 443, "POST", target).unwrap_err();
        assert_eq!(refusal.code, Code::RequestMethod);
        assert_eq!(refusal.remedy, "fumehood allow weather 'POST https://any.com'", "{target}");
    }
}

#[test]
fn a_rule_without_terms_lets_every_request_through_and_terms_have_it_looked_at() {
    let inspected = |lines: &[&str], port| policy(1, lines).judge(&name("a.ok.com"), port).unwrap().inspect();
    assert!(!inspected(&["a.ok.com", "*.ok.com"], 443));
    assert!(inspected(&["* a.ok.com"], 443));
    assert!(inspected(&["GET *.ok.com", "a.ok.com"], 443));
    assert!(!inspected(&["GET a.ok.com"], 80), "requests in the clear are seen anyway");
    assert!(!inspected(&["GET http://a.ok.com:443", "https://a.ok.com"], 443));
    assert!(!inspected(&["GET a.ok.com:8443", "a.ok.com"], 443));
    let policy = policy(1, &["GET *.ok.com/x", "a.ok.com"]);
    let allowed = over(&policy, "a.ok.com", 443, "DELETE", "/a/../b").unwrap();
    assert_eq!((allowed.rule().to_string(), allowed.target()), ("a.ok.com".into(), "/a/../b".into()));
    let permit = policy.judge(&name("a.ok.com"), 443).unwrap();
    assert_eq!(permit.rule().to_string(), "a.ok.com");
}

#[test]
fn a_request_under_way_goes_on_only_while_some_rule_takes_it() {
    let before = policy(1, &["GET ok.com/a/*"]);
    let permit = before.judge(&name("ok.com"), 443).unwrap();
    let allowed = before.judge_request(&permit, "GET", &CanonicalPath::of("/a/b")).unwrap();
    for lines in [&["GET ok.com/a/b"][..], &["* ok.com"], &["ok.com"], &["GET ok.com/a/*", "POST ok.com"]] {
        allowed.still(&policy(2, lines), &permit).unwrap();
    }
    for (lines, code) in [
        (&[][..], Code::Removed),
        (&["ok.com:8443"], Code::Removed),
        (&["tcp://ok.com:443"], Code::Removed),
        (&["POST ok.com/a/*"], Code::RequestMethod),
        (&["GET ok.com/c"], Code::RequestPath),
    ] {
        assert_eq!(allowed.still(&policy(2, lines), &permit).unwrap_err().code, code, "{lines:?}");
    }
}

#[test]
fn a_flow_that_passed_unseen_and_is_to_be_looked_at_is_cut_and_the_reverse() {
    let unseen = policy(1, &["ok.com"]).judge(&name("ok.com"), 443).unwrap();
    let seen = policy(1, &["* ok.com"]).judge(&name("ok.com"), 443).unwrap();
    let in_the_clear = policy(1, &["ok.com"]).judge(&name("ok.com"), 80).unwrap();
    for lines in [&["GET ok.com"][..], &["ok.com", "* ok.com"]] {
        let policy = policy(2, lines);
        assert_eq!(policy.judge_again(&unseen).unwrap_err().code, Code::Removed, "{lines:?}");
        policy.judge_again(&seen).unwrap();
        policy.judge_again(&in_the_clear).unwrap();
    }
    let policy = policy(2, &["ok.com"]);
    policy.judge_again(&unseen).unwrap();
    assert_eq!(policy.judge_again(&seen).unwrap_err().code, Code::Removed);
}

#[test]
fn a_flow_goes_on_only_while_the_same_is_spoken_by_some_rule() {
    let permit = policy(1, &["ok.com", "*.a.com"]).judge(&name("ok.com"), 443).unwrap();
    let again = policy(2, &["https://ok.com"]).judge_again(&permit).unwrap();
    assert_eq!((again.generation(), again.rule().to_string()), (2, "https://ok.com".into()));
    for lines in
        [&[][..], &["http://ok.com"], &["tcp://ok.com:443"], &["ok.com:8443"], &["*.ok.com"], &["a.ok.com"]]
    {
        let refusal = policy(2, lines).judge_again(&permit).unwrap_err();
        assert_eq!((refusal.code, refusal.rule.as_deref()), (Code::Removed, Some("ok.com")), "{lines:?}");
        assert_eq!(refusal.remedy, "fumehood allow weather ok.com");
    }
}

proptest! {
    #[test]
    fn no_rules_let_a_name_through_that_no_rule_names(
        rules in prop::collection::vec(rules(), 0..8),
        host in hosts(),
        port in prop_oneof![Just(443_u16), Just(80), Just(8443), any::<u16>()],
    ) {
        let policy = Policy::new(ServerName::new("s").unwrap(), 1, rules.clone());
        // Written out here once more, by text alone.
        let named = rules.iter().any(|rule| {
            let text = rule.to_string();
            let text = text.split_once(' ').map_or(text.as_str(), |(_, rest)| rest);
            let text = text.split_once("://").map_or(text, |(_, rest)| rest);
            let text = text.split_once('/').map_or(text, |(place, _)| place);
            let text = text.split_once(':').map_or(text, |(host, _)| host);
            let named = match text.strip_prefix("*.") {
                Some(suffix) => host.as_str().ends_with(&format!(".{suffix}"))
                    && psl::domain_str(host.as_str()) == psl::domain_str(suffix),
                None => host.as_str() == text,
            };
            named && rule.ports().any(|(own, _)| own == port)
        });
        match policy.judge(&host, port) {
            Ok(permit) => {
                prop_assert!(named);
                prop_assert!(permit.rule().covers(&host) && permit.rule().kind(port) == Some(permit.kind()));
                prop_assert!(policy.reach(&host).unwrap().ports.get(&port) == Some(&permit.kind()));
            }
            Err(refusal) => {
                prop_assert!(!named);
                // The remedy is the very line that allows it.
                if port != 0 {
                    let line = refusal.remedy.strip_prefix("fumehood allow s ").unwrap();
                    let wider = rules.into_iter().chain([HostRule::parse(line).unwrap()]);
                    prop_assert!(Policy::new(ServerName::new("s").unwrap(), 2, wider).judge(&host, port).is_ok());
                }
            }
        }
    }

    #[test]
    fn no_rules_let_a_request_through_that_no_rule_takes(
        rules in prop::collection::vec(rules(), 0..6),
        more in rules(),
        host in hosts(),
        port in prop_oneof![Just(443_u16), Just(80), any::<u16>()],
        method in prop_oneof![Just("GET"), Just("POST"), Just("PUT"), Just("get")],
        target in prop_oneof![
            Just("/"), Just("/a"), Just("/a/x"), Just("/x/b"), Just("/a/../x"), Just("/%61"), Just("/a*b/%20/c"),
            Just("/a//x"), Just("*"),
        ],
    ) {
        let server = || ServerName::new("s").unwrap();
        let policy = Policy::new(server(), 1, rules.clone());
        let Ok(permit) = policy.judge(&host, port) else { return Ok(()) };
        let path = CanonicalPath::of(target);
        // Written out here once more: the rules of what is spoken there, and the terms by text alone.
        let here: Vec<String> = rules
            .iter()
            .filter(|rule| rule.covers(&host) && rule.kind(port) == Some(permit.kind()))
            .map(ToString::to_string)
            .collect();
        let path_of = |text: &str| {
            let place = text.split_once("://").map_or(text, |(_, rest)| rest).to_owned();
            place.split_once('/').map(|(_, path)| format!("/{path}"))
        };
        let one_way = !matches!(target, "/a/../x" | "/a//x" | "*");
        let read = if target == "/%61" { "/a" } else { target };
        let taken = here.iter().any(|text| {
            let methods = text.split_once(' ').map(|(methods, _)| methods);
            if methods.is_none() && path_of(text).is_none() {
                return true;
            }
            let method_fits = methods.is_none_or(|own| own == "*" || own.split(',').any(|own| own == method));
            let path_fits = path_of(text).is_none_or(|own| match own.as_str() {
                _ if !one_way => false,
                "/a/*" => read.starts_with("/a/") && read != "/a/",
                "/*/b" => read == "/x/b",
                own => own == read,
            });
            method_fits && path_fits
        });
        match policy.judge_request(&permit, method, &path) {
            Ok(allowed) => {
                prop_assert!(taken);
                // One rule more takes nothing away, as long as the same is spoken there.
                let wider = Policy::new(server(), 2, rules.into_iter().chain([more]));
                if wider.judge(&host, port).unwrap().kind() == permit.kind() {
                    allowed.still(&wider, &permit).unwrap();
                }
            }
            Err(refusal) => {
                prop_assert!(!taken);
                // The remedy is the very line that allows it.
                if let Some(line) = refusal.remedy.strip_prefix("fumehood allow s ") {
                    let line = HostRule::parse(line.trim_matches('\'')).unwrap();
                    let wider = Policy::new(server(), 2, rules.into_iter().chain([line]));
                    wider.judge_request(&permit, method, &path).unwrap();
                } else {
                    prop_assert!(!one_way);
                }
            }
        }
    }
}
