use proptest::prelude::*;

use super::*;
use crate::rule::tests::{hosts, rules};

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
            let text = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
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
}
