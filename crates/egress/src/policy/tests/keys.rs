//! Rules and keys together.

use super::*;
use crate::credential::Keyring;
use crate::credential::key::tests::{TOKEN, binding, key};
use model::request::{Method, PathPattern};
use model::secret::{Binding, SecretName};

/// A key for `GET /repos/acme/*` at `hosts`.
fn bound(hosts: &[&str]) -> Binding {
    Binding {
        methods: vec![Method::new("GET").unwrap()],
        paths: vec![PathPattern::new("/repos/acme/*").unwrap()],
        ..binding(hosts, &[])
    }
}

fn ring(binding: Binding) -> Arc<Keyring> {
    Arc::new(Keyring::new().with(key("TOKEN", TOKEN, binding)).unwrap())
}

fn with(generation: u64, lines: &[&str], binding: Binding) -> Policy {
    policy(generation, lines).with_keys(ring(binding))
}

#[test]
fn the_hosts_of_a_key_are_allowed_for_its_requests_and_nothing_else() {
    let policy = with(1, &["plain.com"], bound(&["api.ok.com", "*.key.com:8443"]));
    let permit = policy.judge(&name("api.ok.com"), 443).unwrap();
    assert_eq!((permit.kind(), permit.inspect()), (Kind::Tls, true));
    assert_eq!(permit.rule().to_string(), "GET https://api.ok.com/repos/acme/*");
    assert!(policy.judge(&name("x.key.com"), 8443).unwrap().inspect());
    over(&policy, "api.ok.com", 443, "GET", "/repos/acme/x").unwrap();
    for (method, target, code) in [
        ("POST", "/repos/acme/x", Code::RequestMethod),
        ("GET", "/user", Code::RequestPath),
        ("GET", "/repos/acme/%2e%2e/%2e%2e/user", Code::RequestPath),
    ] {
        assert_eq!(
            over(&policy, "api.ok.com", 443, method, target).unwrap_err().code,
            code,
            "{method} {target}"
        );
    }
    for (host, port, code) in [
        ("api.ok.com", 80, Code::Port),
        ("api.ok.com", 8443, Code::Port),
        ("x.key.com", 443, Code::Port),
        ("key.com", 8443, Code::Host),
        ("ok.com", 443, Code::Host),
    ] {
        assert_eq!(policy.judge(&name(host), port).unwrap_err().code, code, "{host}:{port}");
    }
    assert!(!policy.judge(&name("plain.com"), 443).unwrap().inspect());
    // What resolves names sees the key's hosts too, and what is shown to people the rules alone.
    let reach = policy.reach(&name("api.ok.com")).unwrap();
    assert_eq!((reach.exact, reach.ports), (true, BTreeMap::from([(443, Kind::Tls)])));
    assert!(policy.names().any(|own| *own == name("api.ok.com")));
    assert_eq!(policy.rules().len(), 1);
    assert_eq!(policy.keys().names().count(), 1);
}

#[test]
fn where_a_key_is_bound_tls_is_taken_off_whatever_the_rules_say() {
    for line in ["api.ok.com", "*.ok.com", "tcp://api.ok.com:443", "http://api.ok.com:443"] {
        let policy = with(1, &[line], bound(&["api.ok.com"]));
        let permit = policy.judge(&name("api.ok.com"), 443).unwrap();
        assert_eq!((permit.kind(), permit.inspect()), (Kind::Tls, true), "{line}");
        assert_eq!(policy.reach(&name("api.ok.com")).unwrap().ports[&443], Kind::Tls, "{line}");
    }
    // A rule without terms lets every request through; where the key may be written is not its to say.
    let policy = with(1, &["api.ok.com"], bound(&["api.ok.com"]));
    let allowed = over(&policy, "api.ok.com", 443, "POST", "/a/../b").unwrap();
    assert_eq!((allowed.rule().to_string(), allowed.target()), ("api.ok.com".into(), "/a/../b".into()));
    let allowed = over(&policy, "api.ok.com", 443, "GET", "/%72epos/acme/x").unwrap();
    assert_eq!(
        allowed.target(),
        "/repos/acme/x",
        "the form the key's path was compared with is the form sent"
    );
}

#[test]
fn a_key_that_comes_or_goes_cuts_what_was_agreed_without_it() {
    let without = policy(1, &["api.ok.com"]);
    let unseen = without.judge(&name("api.ok.com"), 443).unwrap();
    let with_key = with(2, &["api.ok.com"], bound(&["api.ok.com"]));
    assert_eq!(with_key.judge_again(&unseen).unwrap_err().code, Code::Removed);
    let seen = with_key.judge(&name("api.ok.com"), 443).unwrap();
    assert_eq!(without.judge_again(&seen).unwrap_err().code, Code::Removed);
    with(3, &[], bound(&["api.ok.com"])).judge_again(&seen).unwrap();
}

#[test]
fn a_request_with_a_key_in_it_goes_on_only_while_the_key_is_for_it() {
    let names = [SecretName::new("TOKEN").unwrap()];
    let before = with(1, &["* api.ok.com"], bound(&["api.ok.com"]));
    let permit = before.judge(&name("api.ok.com"), 443).unwrap();
    let judged = || before.judge_request(&permit, "GET", &CanonicalPath::of("/repos/acme/x")).unwrap();
    let plain = judged();
    let using = judged().using(&names, before.keys());
    assert_eq!(using.used().collect::<Vec<_>>(), [&names[0]]);
    let places = |binding: Binding, places: &[&str]| Binding {
        places: places.iter().map(|place| model::secret::Place::parse(place).unwrap()).collect(),
        ..binding
    };
    let any = Binding { methods: Vec::new(), paths: Vec::new(), ..bound(&["api.ok.com", "more.com"]) };
    for still in
        [bound(&["api.ok.com"]), any, places(bound(&["*.ok.com"]), &["header:authorization", "basic"])]
    {
        let again = using.still(&with(2, &["* api.ok.com"], still), &permit).unwrap();
        assert_eq!(again.used().count(), 1, "what it used is remembered for the next change");
    }
    let rotated = Keyring::new()
        .with(key("TOKEN", "ghp_ZZZZ81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t", bound(&["api.ok.com"])))
        .unwrap();
    using.still(&policy(2, &["* api.ok.com"]).with_keys(Arc::new(rotated)), &permit).unwrap();
    let post = Binding { methods: vec![Method::new("POST").unwrap()], ..bound(&["api.ok.com"]) };
    let path = Binding { paths: vec![PathPattern::new("/user").unwrap()], ..bound(&["api.ok.com"]) };
    let moved = places(bound(&["api.ok.com"]), &["header:x-api-key"]);
    for gone in [bound(&["other.com"]), bound(&["api.ok.com:8443"]), post, path, moved] {
        let policy = with(2, &["* api.ok.com"], gone);
        assert_eq!(using.still(&policy, &permit).unwrap_err().code, Code::SecretRemoved);
        plain.still(&policy, &permit).unwrap();
    }
    let none = policy(2, &["* api.ok.com"]);
    let refusal = using.still(&none, &permit).unwrap_err();
    assert_eq!(refusal.code, Code::SecretRemoved);
    assert!(refusal.message.contains("TOKEN"), "{refusal}");
}
