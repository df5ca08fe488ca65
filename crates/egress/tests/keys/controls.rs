//! Ways to get at a key, each shown to work when the guard against it is taken away.

use egress::guard::{Without, without};
use egress::refusal::Code;

use super::*;

/// All guards, while nobody else takes one away.
fn guarded() -> Without {
    without(&[])
}

fn parts(method: &str, target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

/// What the host gets to see of a request: the target and all headers.
fn seen(world: &World, to: &Permit, mut parts: Parts) -> Result<String, Code> {
    substitute(&mut parts, to, &world.ring).map_err(|refusal| refusal.code)?;
    Ok(format!("{} {} {:?}", parts.method, parts.uri, shown(&parts)))
}

fn shown(parts: &Parts) -> Vec<String> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    parts.headers.iter().map(|(name, value)| format!("{name}: {}", text(value))).collect()
}

fn attack(
    world: &World,
    to: &Permit,
    guard: &'static str,
    code: Code,
    make: impl Fn() -> Parts,
    prize: &str,
) {
    {
        let _guarded = guarded();
        assert_eq!(seen(world, to, make()).unwrap_err(), code, "{guard}");
    }
    let _without = without(&[guard]);
    let seen = seen(world, to, make()).unwrap();
    assert!(seen.contains(prize), "the attack itself does not work: {seen}");
}

#[test]
fn the_placeholder_sent_to_another_host() {
    let world = World::new(&[]);
    let bearer = format!("Bearer {}", world.shown);
    let make = || parts("GET", "/", &[("authorization", &bearer)]);
    attack(&world, &world.other, "secret-host", Code::SecretPlace, make, VALUE);
}

#[test]
fn the_placeholder_in_a_header_that_is_echoed_or_logged() {
    let world = World::new(&[]);
    let make = || parts("GET", "/", &[("x-request-id", &world.shown)]);
    attack(&world, &world.own, "secret-place", Code::SecretPlace, make, VALUE);
    let make = || parts("GET", &format!("/search?q={}", world.shown), &[]);
    attack(&world, &world.own, "secret-place", Code::SecretPlace, make, VALUE);
}

#[test]
fn the_placeholder_in_a_request_that_the_host_reflects_or_that_changes_something() {
    let mut world = World::new(&[]);
    let bearer = |world: &World| format!("Bearer {}", world.shown);
    for method in ["TRACE", "OPTIONS"] {
        let make = || parts(method, "/", &[("authorization", &bearer(&world))]);
        attack(&world, &world.own, "secret-method", Code::SecretPlace, make, VALUE);
    }
    world = World::bound(|binding| binding.methods = vec![model::request::Method::new("GET").unwrap()]);
    let make = || parts("POST", "/", &[("authorization", &bearer(&world))]);
    attack(&world, &world.own, "secret-method", Code::SecretPlace, make, VALUE);
    let make =
        || parts("GET", "/", &[("authorization", &bearer(&world)), ("x-http-method-override", "DELETE")]);
    attack(&world, &world.own, "secret-method", Code::SecretPlace, make, VALUE);
}

#[test]
fn the_placeholder_on_a_path_the_host_reads_as_another() {
    let world = World::bound(|binding| {
        binding.paths = vec![model::request::PathPattern::new("/repos/acme/*").unwrap()];
    });
    let bearer = format!("Bearer {}", world.shown);
    for path in
        ["/repos/evil/x", "/repos/acme/../evil/x", "/repos/acme/%2e%2e/evil/x", "/repos/acme/..;/evil"]
    {
        let make = || parts("GET", path, &[("authorization", &bearer)]);
        attack(&world, &world.own, "secret-path", Code::SecretPlace, make, VALUE);
    }
}

#[test]
fn a_key_of_the_attackers_own() {
    let world = World::new(&[]);
    for (name, value) in [
        ("authorization", "Bearer ghp_TheAttackersOwnToken0123456789"),
        ("x_api_key", "ghp_TheAttackersOwnToken0123456789"),
        ("cookie", "session=ghp_TheAttackersOwnToken0123456789"),
    ] {
        let make = || parts("POST", "/", &[(name, value)]);
        attack(&world, &world.own, "foreign", Code::CredentialForeign, make, "TheAttackersOwnToken");
    }
}

/// What the cell gets to see of an answer with this body.
fn answered(world: &World, coding: Option<&str>, body: &[u8]) -> (Vec<u8>, bool) {
    let done = world.plain();
    let mut response = http::Response::builder();
    if let Some(coding) = coding {
        response = response.header("content-encoding", coding);
    }
    let mut head = response.body(()).unwrap().into_parts().0;
    let plan = scrub_head(&mut head, &done.scrub).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let body = plan.wrap(Cut([Bytes::copy_from_slice(body)].into()));
    let body = runtime.block_on(body.collect()).unwrap().to_bytes().to_vec();
    (body, head.headers.contains_key("content-encoding"))
}

#[test]
fn an_answer_that_repeats_the_key() {
    let world = World::new(&[]);
    let echo = format!("you sent {VALUE}");
    {
        let _guarded = guarded();
        let (body, _) = answered(&world, None, echo.as_bytes());
        assert!(!holds(&body, VALUE) && holds(&body, &world.shown));
    }
    let _without = without(&["scrub"]);
    assert_eq!(answered(&world, None, echo.as_bytes()).0, echo.as_bytes());
}

#[test]
fn an_answer_that_repeats_the_key_in_a_coding() {
    let world = World::new(&[]);
    // gzip (RFC 1952) with one stored block (RFC 1951 §3.2.4) would show the value as it is; a compressed one does not.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, format!("x{VALUE}").repeat(3).as_bytes()).unwrap();
    let zipped = encoder.finish().unwrap();
    let unzipped = |bytes: &[u8]| {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes), &mut text).unwrap();
        text
    };
    {
        let _guarded = guarded();
        let (body, coded) = answered(&world, Some("gzip"), &zipped);
        assert!(!coded && !holds(&body, VALUE) && holds(&body, &world.shown));
        let mut asked = parts("GET", "/", &[("accept-encoding", "gzip")]);
        substitute(&mut asked, &world.own, &world.ring).unwrap();
        assert_eq!(asked.headers["accept-encoding"], "identity");
    }
    let _without = without(&["accept-encoding"]);
    let mut asked = parts("GET", "/", &[("accept-encoding", "gzip")]);
    substitute(&mut asked, &world.own, &world.ring).unwrap();
    assert_eq!(asked.headers["accept-encoding"], "gzip");
    let (body, coded) = answered(&world, Some("gzip"), &zipped);
    assert!(coded && unzipped(&body).contains(VALUE), "the attack itself does not work");
}
