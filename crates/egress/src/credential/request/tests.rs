use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use model::name::ServerName;
use model::request::{Method, PathPattern};
use model::secret::{Binding, Foreign};

use super::*;
use crate::credential::key::tests::{TOKEN, binding, key};
use crate::credential::stream::tests::spellings;
use crate::name::HostName;
use crate::policy::Policy;
use crate::rule::HostRule;

const OTHER: &str = "sk-0123456789abcdefABCDEFghijkl";

pub(crate) fn permit(host: &str, port: u16) -> Permit {
    let rules = ["a.example.com", "b.example.com", "c.example.com", "a.example.com:8443"]
        .map(|rule| HostRule::parse(rule).unwrap());
    Policy::new(ServerName::new("s").unwrap(), 1, rules).judge(&HostName::parse(host).unwrap(), port).unwrap()
}

struct Case {
    ring: Keyring,
    shown: String,
}

impl Case {
    fn new(places: &[&str]) -> Self {
        Self::of(binding(&["a.example.com"], places))
    }

    /// With a second key for another host.
    fn of(binding_of_first: Binding) -> Self {
        let key_a = key("A", TOKEN, binding_of_first);
        let shown = key_a.placeholder().to_string();
        let ring = Keyring::new().with(key_a).unwrap();
        let ring = ring.with(key("B", OTHER, binding(&["b.example.com"], &[]))).unwrap();
        Self { ring, shown }
    }

    fn sent(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Result<(Parts, Substituted), Code> {
        self.sent_to(("a.example.com", 443), method, target, headers)
    }

    /// `~P` in the target and in headers stands for the placeholder.
    fn sent_to(
        &self,
        (host, port): (&str, u16),
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Result<(Parts, Substituted), Code> {
        let with = |text: &str| text.replace("~P", &self.shown);
        let mut request = http::Request::builder().method(method).uri(with(target));
        for (name, value) in headers {
            request = request.header(*name, with(value));
        }
        let mut parts = request.body(()).unwrap().into_parts().0;
        let before = parts.clone();
        match substitute(&mut parts, &permit(host, port), &self.ring) {
            Ok(done) => Ok((parts, done)),
            Err(refusal) => {
                assert!(!refusal.to_string().contains(TOKEN));
                assert_eq!(
                    (parts.headers, parts.uri),
                    (before.headers, before.uri),
                    "a refused request stays"
                );
                Err(refusal.code)
            }
        }
    }
}

fn text(parts: &Parts, name: &str) -> String {
    parts.headers[name].to_str().unwrap().to_owned()
}

#[test]
fn the_value_is_written_in_the_header_of_the_binding() {
    let case = Case::new(&[]);
    let (parts, done) = case.sent("GET", "/", &[("authorization", "Bearer ~P"), ("x-other", "1")]).unwrap();
    assert_eq!(text(&parts, "authorization"), format!("Bearer {TOKEN}"));
    assert!(parts.headers["authorization"].is_sensitive());
    assert_eq!(done.used, [SecretName::new("A").unwrap()]);
    assert!(!done.scrub.is_empty() && done.body.passes() && done.messages.is_none());
    let case = Case::new(&["header:x-api-key"]);
    let (parts, _) = case.sent("POST", "/", &[("x-api-key", "~P")]).unwrap();
    assert_eq!(text(&parts, "x-api-key"), TOKEN);
}

#[test]
fn another_host_port_method_or_path_gets_no_value() {
    let case = Case::new(&[]);
    let bearer = [("authorization", "Bearer ~P")];
    for (host, port) in [("b.example.com", 443), ("a.example.com", 8443), ("a.example.com", 80)] {
        assert_eq!(
            case.sent_to((host, port), "GET", "/", &bearer).unwrap_err(),
            Code::SecretPlace,
            "{host}:{port}"
        );
    }
    for method in ["OPTIONS", "TRACE"] {
        assert_eq!(case.sent(method, "/", &bearer).unwrap_err(), Code::SecretPlace, "{method}");
        assert!(case.sent(method, "/", &[]).is_ok());
    }
    let mut bound = binding(&["a.example.com"], &[]);
    bound.methods = vec![Method::new("GET").unwrap()];
    bound.paths = vec![PathPattern::new("/repos/acme/*").unwrap()];
    let case = Case::of(bound);
    assert!(case.sent("GET", "/repos/acme/x?y=/evil", &bearer).is_ok());
    for (method, target) in [
        ("POST", "/repos/acme/x"),
        ("GET", "/repos/evil/x"),
        ("GET", "/repos/acme/../evil"),
        ("GET", "/repos/acme/%2e%2e/evil"),
        ("GET", "/repos/acme/..%2fevil"),
        ("GET", "/repos/acme;/x"),
    ] {
        assert_eq!(case.sent(method, target, &bearer).unwrap_err(), Code::SecretPlace, "{method} {target}");
    }
    for header in ["x-http-method-override", "x_http_method_override", "x-original-url"] {
        let disguised = [("authorization", "Bearer ~P"), (header, "/evil")];
        assert_eq!(case.sent("GET", "/repos/acme/x", &disguised).unwrap_err(), Code::SecretPlace, "{header}");
    }
}

#[test]
fn a_placeholder_in_another_place_is_refused_in_every_spelling() {
    let case = Case::new(&[]);
    for (name, spelled) in spellings(case.shown.as_bytes()) {
        let spelled = String::from_utf8(spelled).unwrap();
        for at in [("a.example.com", 443), ("b.example.com", 443), ("b.example.com", 80)] {
            let header = [("x-debug", spelled.as_str())];
            assert_eq!(case.sent_to(at, "GET", "/", &header).unwrap_err(), Code::SecretPlace, "{name}");
            if !spelled.contains(['\\', '#', '"']) {
                for target in [
                    format!("/x/{spelled}"),
                    format!("/?q={spelled}"),
                    format!("/?{spelled}=1"),
                    format!("/?{spelled}"),
                ] {
                    assert_eq!(
                        case.sent_to(at, "GET", &target, &[]).unwrap_err(),
                        Code::SecretPlace,
                        "{name} {target}"
                    );
                }
            }
        }
    }
    for header in [("cookie", "s=~P"), ("authorization", "Bearer ~P ~P2; x=%67hp"), ("user-agent", "x ~P")] {
        let sent = case.sent("GET", "/", &[header]);
        assert!(sent.is_err(), "{header:?}");
    }
    assert_eq!(case.sent("GET", "https://~P@a.example.com/", &[]).unwrap_err(), Code::SecretPlace);
    assert_eq!(
        case.sent("GET", "/", &[("authorization", "Bearer ~P"), ("authorization", "Bearer ~P")]).unwrap_err(),
        Code::SecretPlace
    );
}

#[test]
fn basic_is_taken_apart_and_put_together_again() {
    let case = Case::new(&["basic"]);
    let basic =
        |user: &str, password: &str| format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    for (user, password) in [("x-access-token", "P"), ("P", "x-oauth-basic"), ("P", "")] {
        let with = |text: &str, new: &str| text.replace('P', new);
        let header = basic(&with(user, &case.shown), &with(password, &case.shown));
        let (parts, done) = case.sent("GET", "/", &[("authorization", &header)]).unwrap();
        assert_eq!(text(&parts, "authorization"), basic(&with(user, TOKEN), &with(password, TOKEN)));
        assert_eq!(done.used.len(), 1);
    }
    let inside = basic("user", &format!("x{}", case.shown));
    assert_eq!(case.sent("GET", "/", &[("authorization", &inside)]).unwrap_err(), Code::SecretPlace);
    assert_eq!(case.sent("GET", "/", &[("authorization", "Bearer ~P")]).unwrap_err(), Code::SecretPlace);
    let header = basic("user", &case.shown);
    assert_eq!(case.sent("GET", "/", &[("x-basic", &header)]).unwrap_err(), Code::SecretPlace);
    let only_header = Case::new(&[]);
    let header = basic("user", &only_header.shown);
    assert_eq!(only_header.sent("GET", "/", &[("authorization", &header)]).unwrap_err(), Code::SecretPlace);
}

#[test]
fn query_and_path_by_name() {
    let case = Case::new(&["query:key", "path"]);
    for (target, wanted) in [
        ("/x?key=~P", "/x?key=V"),
        ("/x?a=1&k%65y=~P&b=2", "/x?a=1&k%65y=V&b=2"),
        ("/bot~P/send", "/botV/send"),
        ("/~P", "/V"),
        ("https://a.example.com/~P?key=~P", "https://a.example.com/V?key=V"),
    ] {
        let (parts, done) = case.sent("GET", target, &[]).unwrap();
        assert_eq!(parts.uri.to_string(), wanted.replace('V', TOKEN));
        assert_eq!(done.used.len(), 1, "{target}");
    }
    let coded: String = case.shown.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
    let (parts, _) = case.sent("GET", &format!("/x?key={coded}"), &[]).unwrap();
    assert_eq!(parts.uri.query().unwrap(), format!("key={TOKEN}"));
    for target in ["/x?other=~P", "/x?key=~P&key=~P", "/x?key=~P&k%65y=1", "/x?~P", "/x?~P=1"] {
        assert_eq!(case.sent("GET", target, &[]).unwrap_err(), Code::SecretPlace, "{target}");
    }
    let only_query = Case::new(&["query:key"]);
    assert_eq!(only_query.sent("GET", "/bot~P/x", &[]).unwrap_err(), Code::SecretPlace);
}

#[test]
fn a_value_that_must_be_encoded_in_a_url_is() {
    let value = "0123456789:AAE+x/y=z&w%20 end";
    let key = key("A", value, binding(&["a.example.com"], &["query:key"]));
    let shown = url::escaped(key.placeholder().as_str().as_bytes());
    let ring = Keyring::new().with(key).unwrap();
    let target = format!("/?key={}", String::from_utf8(shown).unwrap());
    let mut parts = http::Request::builder().uri(&target).body(()).unwrap().into_parts().0;
    substitute(&mut parts, &permit("a.example.com", 443), &ring).unwrap();
    let (name, sent) = foreign::parameters(parts.uri.query().unwrap()).next().unwrap();
    assert_eq!((name.as_str(), sent.as_str()), ("key", value));
}

#[test]
fn credentials_of_others_are_refused_at_a_host_with_a_key_only() {
    let case = Case::new(&[]);
    let evil = [("authorization", "Bearer ghp_ofSomebodyElse00000000")];
    assert_eq!(case.sent("GET", "/", &evil).unwrap_err(), Code::CredentialForeign);
    assert_eq!(case.sent_to(("a.example.com", 8443), "GET", "/", &evil).map(|_| ()), Ok(()));
    assert_eq!(case.sent("GET", "/", &[("cookie", "a=b")]).unwrap_err(), Code::CredentialForeign);
    assert!(case.sent("GET", "/", &[]).is_ok());
    let mut open = binding(&["a.example.com"], &[]);
    open.foreign = Foreign::Allow;
    assert!(Case::of(open).sent("GET", "/", &evil).is_ok());
}

#[test]
fn an_answer_of_a_host_with_a_key_must_be_readable() {
    let asked = [
        ("accept-encoding", "gzip, br, zstd"),
        ("range", "bytes=0-5"),
        ("if-range", "x"),
        ("sec-websocket-extensions", "permessage-deflate"),
        ("grpc-accept-encoding", "gzip"),
    ];
    let (parts, _) = Case::new(&[]).sent("GET", "/", &asked).unwrap();
    assert_eq!(text(&parts, "accept-encoding"), "identity");
    assert_eq!(text(&parts, "grpc-accept-encoding"), "identity");
    for name in ["range", "if-range", "sec-websocket-extensions"] {
        assert!(!parts.headers.contains_key(name), "{name}");
    }
    let (parts, done) = Case::new(&[]).sent_to(("c.example.com", 443), "GET", "/", &asked).unwrap();
    assert_eq!(text(&parts, "accept-encoding"), "gzip, br, zstd");
    assert!(done.scrub.is_empty() && parts.headers.contains_key("range"));
    for port in [80, 8443] {
        let (parts, done) = Case::new(&[]).sent_to(("a.example.com", port), "GET", "/", &asked).unwrap();
        assert!(!done.scrub.is_empty(), "what it learnt on one port it may tell on another");
        assert_eq!(text(&parts, "accept-encoding"), "identity");
    }
}

async fn body(case: &Case, headers: &[(&str, &str)], body: Vec<u8>) -> (Parts, Vec<u8>, Vec<SecretName>) {
    let (parts, done) = case.sent("POST", "/", headers).unwrap();
    let written = done.body.written();
    let sent = done.body.wrap(Full::new(Bytes::from(body))).collect().await.unwrap().to_bytes();
    (parts, sent.to_vec(), written.names())
}

#[tokio::test]
async fn a_body_is_written_into_where_the_binding_says_and_inert_elsewhere() {
    let case = Case::new(&["json", "form"]);
    let json = format!("{{\"{0}\": \"{0}\"}}", case.shown);
    let wanted = format!("{{\"{}\": \"{TOKEN}\"}}", case.shown);
    for kind in ["application/json", "application/vnd.api+json; charset=utf-8", "Application/JSON"] {
        let length = json.len().to_string();
        let headers = [("content-type", kind), ("content-length", &*length)];
        let (parts, sent, names) = body(&case, &headers, json.clone().into()).await;
        assert_eq!(String::from_utf8(sent).unwrap(), wanted);
        assert_eq!(text(&parts, "content-length"), wanted.len().to_string());
        assert_eq!(names, [SecretName::new("A").unwrap()]);
    }
    let form = format!("grant=x&secret={}", case.shown);
    let (_, sent, _) =
        body(&case, &[("content-type", "application/x-www-form-urlencoded")], form.into()).await;
    assert_eq!(String::from_utf8(sent).unwrap(), format!("grant=x&secret={TOKEN}"));
    let (_, sent, names) = body(&case, &[("content-type", "text/plain")], json.clone().into()).await;
    assert_eq!((sent, names), (json.clone().into_bytes(), vec![]));
    let (_, sent, _) =
        body(&Case::new(&[]), &[("content-type", "application/json")], json.clone().into()).await;
    assert_eq!(sent, json.into_bytes());
}

#[tokio::test]
async fn an_encoded_body_is_decoded_first_or_refused() {
    let case = Case::new(&["json"]);
    let json = format!("[\"{}\"]", case.shown);
    let zipped = crate::credential::coding::tests::gzip(json.as_bytes());
    let length = zipped.len().to_string();
    let headers =
        [("content-type", "application/json"), ("content-encoding", "gzip"), ("content-length", &*length)];
    let (parts, sent, _) = body(&case, &headers, zipped).await;
    assert_eq!(String::from_utf8(sent).unwrap(), format!("[\"{TOKEN}\"]"));
    assert!(!parts.headers.contains_key("content-encoding") && !parts.headers.contains_key("content-length"));
    let unknown = [("content-type", "application/json"), ("content-encoding", "zstd")];
    assert_eq!(case.sent("POST", "/", &unknown).unwrap_err(), Code::SecretPlace);
}

#[tokio::test]
async fn a_changed_value_of_another_form_is_written_too() {
    let bound = || binding(&["a.example.com"], &["json", "header:authorization", "query:key"]);
    let mut case = Case::of(bound());
    let new = "a \"new\" value \\ of another form";
    let shown = case.ring.key(&SecretName::new("A").unwrap()).unwrap().placeholder().clone();
    let rotated =
        Key::new(SecretName::new("A").unwrap(), bound(), crate::credential::key::tests::plain(new), shown);
    case.ring = case.ring.with(rotated.unwrap()).unwrap();
    let headers =
        [("content-type", "application/json"), ("content-length", "60"), ("authorization", "Bearer ~P")];
    let json = format!("[\"{}\"]", case.shown);
    let (parts, sent, _) = body(&case, &headers, json.into()).await;
    assert_eq!(serde_json::from_slice::<Vec<String>>(&sent).unwrap(), [new]);
    assert_eq!(text(&parts, "authorization"), format!("Bearer {new}"));
    assert!(!parts.headers.contains_key("content-length"));
    let (parts, _) = case.sent("GET", "/?key=~P", &[]).unwrap();
    assert_eq!(foreign::parameters(parts.uri.query().unwrap()).next().unwrap().1, new);
}

#[test]
fn without_keys_everything_passes() {
    let mut parts = http::Request::builder()
        .uri("/?access_token=x")
        .header("range", "x")
        .body(())
        .unwrap()
        .into_parts()
        .0;
    let done = substitute(&mut parts, &permit("a.example.com", 443), &Keyring::new()).unwrap();
    assert!(done.used.is_empty() && done.scrub.is_empty() && parts.headers.contains_key("range"));
}
