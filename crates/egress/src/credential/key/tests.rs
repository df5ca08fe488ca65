use super::*;

/// A value of the form of a GitHub token.
pub(crate) const TOKEN: &str = "ghp_c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t";

pub(crate) fn binding(hosts: &[&str], places: &[&str]) -> Binding {
    Binding {
        hosts: hosts.iter().map(ToString::to_string).collect(),
        methods: Vec::new(),
        paths: Vec::new(),
        places: places.iter().map(|place| Place::parse(place).unwrap()).collect(),
        foreign: Foreign::Refuse,
    }
}

pub(crate) fn plain(value: &str) -> Arc<Plaintext> {
    Arc::new(Plaintext::new(value.as_bytes().to_vec()))
}

pub(crate) fn key(name: &str, value: &str, binding: Binding) -> Key {
    let value = plain(value);
    let placeholder = Placeholder::for_value(&value);
    Key::new(SecretName::new(name).unwrap(), binding, value, placeholder).unwrap()
}

fn made(value: &str, binding: Binding) -> Result<Key, KeyError> {
    let value = plain(value);
    let placeholder = Placeholder::for_value(&value);
    Key::new(SecretName::new("K").unwrap(), binding, value, placeholder)
}

#[test]
fn what_could_not_be_told_from_other_text_is_no_key() {
    let to = || binding(&["a.example.com"], &[]);
    assert!(matches!(made("fifteen-bytes15", to()), Err(KeyError::Short { length: 15, .. })));
    assert!(made("sixteen-bytes-16", to()).is_ok());
    assert!(matches!(made(&"x".repeat(8193), to()), Err(KeyError::Long { .. })));
    for value in
        ["line\nbreak-0123456789", "caf\u{e9}-0123456789abcdef", " 0123456789abcdef", "0123456789abcdef "]
    {
        assert!(matches!(made(value, to()), Err(KeyError::Characters { .. })), "{value}");
    }
    assert!(matches!(made("----------------", to()), Err(KeyError::Guessable { .. })));
    assert!(made("1234567890123456", to()).is_ok(), "digits get letters in their stead");
    let value = plain(TOKEN);
    let shown = Placeholder::for_value(&value);
    let same = plain(shown.as_str());
    let error = Key::new(SecretName::new("K").unwrap(), to(), same, shown).unwrap_err();
    assert!(matches!(error, KeyError::Same { .. }));
    assert!(!error.hint().is_empty() && !error.to_string().contains("ghp_"));
}

#[test]
fn a_host_of_a_binding_is_a_name_and_perhaps_a_port_and_always_tls() {
    for host in ["a.example.com", "a.example.com:8443", "*.example.com", "https://a.example.com"] {
        assert!(made(TOKEN, binding(&[host], &[])).is_ok(), "{host}");
    }
    for host in [
        "http://a.example.com",
        "tcp://a.example.com:1",
        "a.example.com/x",
        "GET a.example.com",
        "1.2.3.4",
        "*.com",
        "",
    ] {
        assert!(made(TOKEN, binding(&[host], &[])).is_err(), "{host}");
    }
    assert!(matches!(made(TOKEN, binding(&[], &[])), Err(KeyError::NoHost { .. })));
    let key = key("K", TOKEN, binding(&["a.example.com", "b.example.com:80"], &[]));
    let at = |host: &str, port| key.covers(&HostName::parse(host).unwrap(), port);
    assert!(at("a.example.com", 443) && at("b.example.com", 80));
    assert!(!at("a.example.com", 80) && !at("b.example.com", 443) && !at("x.a.example.com", 443));
    assert!(key.rules().iter().flat_map(HostRule::ports).all(|(_, kind)| kind == Kind::Tls));
}

#[test]
fn methods_and_paths_bound_a_key() {
    let mut bound = binding(&["a.example.com"], &[]);
    let takes = |bound: &Binding, method: &str, path: &str| {
        key("K", TOKEN, bound.clone()).takes(method, &CanonicalPath::of(path)).is_ok()
    };
    assert!(takes(&bound, "GET", "/") && takes(&bound, "DELETE", "//x/%2e%2e"));
    for method in ["OPTIONS", "TRACE", "CONNECT"] {
        assert!(!takes(&bound, method, "/"), "{method}");
    }
    bound.methods = ["GET", "OPTIONS"].map(|method| Method::new(method).unwrap()).into();
    assert!(takes(&bound, "OPTIONS", "/") && !takes(&bound, "POST", "/") && !takes(&bound, "get", "/"));
    bound.paths = vec![model::request::PathPattern::new("/repos/acme/*").unwrap()];
    assert!(takes(&bound, "GET", "/repos/acme/x?q=1") && takes(&bound, "GET", "/repos/%61cme/x"));
    for path in [
        "/repos/evil/x",
        "/repos/acme/../evil",
        "/repos/acme/%2e%2e/evil",
        "/repos/acme/..%2fevil",
        "/repos/acme/x;y",
    ] {
        assert!(!takes(&bound, "GET", path), "{path}");
    }
}

#[test]
fn debug_says_the_name_only() {
    let key = key("K", TOKEN, binding(&["a.example.com"], &[]));
    let shown = format!("{key:?}");
    assert!(shown.contains('K') && !shown.contains(TOKEN));
}

#[test]
fn a_changed_value_keeps_the_placeholder_and_the_former_one_is_still_known() {
    let first = key("K", TOKEN, binding(&["a.example.com"], &[]));
    let placeholder = first.placeholder().clone();
    let ring = super::super::Keyring::new().with(first).unwrap();
    let new = "another-form-of-token-0123456789";
    let name = || SecretName::new("K").unwrap();
    let second = Key::new(name(), binding(&["a.example.com"], &[]), plain(new), placeholder.clone()).unwrap();
    assert!(!second.same_shape());
    let ring = ring.with(second).unwrap();
    let kept = ring.key(&name()).unwrap();
    assert_eq!(kept.placeholder(), &placeholder);
    assert_eq!(kept.values().collect::<Vec<_>>(), [new.as_bytes(), TOKEN.as_bytes()]);
    assert!(ring.without(&name()).is_empty());
    let shaped = Key::new(name(), binding(&["a.example.com"], &["websocket"]), plain(new), placeholder);
    assert!(matches!(shaped, Err(KeyError::Shape { .. })));
}

#[test]
fn one_placeholder_never_stands_for_two_keys() {
    let first = key("A", TOKEN, binding(&["a.example.com"], &[]));
    let shown = first.placeholder().clone();
    let ring = super::super::Keyring::new().with(first).unwrap();
    let twin = Key::new(
        SecretName::new("B").unwrap(),
        binding(&["b.example.com"], &[]),
        plain(&TOKEN.replace('c', "d")),
        shown,
    );
    assert!(matches!(ring.with(twin.unwrap()), Err(KeyError::Same { .. })));
}
