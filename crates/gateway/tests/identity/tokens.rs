//! Tokens that count, and what is read of them.

use std::time::{Duration, UNIX_EPOCH};

use access::principal::Actor;
use access::token::{KeySet, MAX_LENGTH, Unverified, Verifier};
use serde_json::{Value, json};

use crate::mint::{AUDIENCE, ISSUER, KEYS, Key, NOW, good, judged, now, provider, set_of};

#[test]
fn a_token_of_every_algorithm_counts() {
    let all = "algorithms = [\"RS256\",\"RS384\",\"RS512\",\"PS256\",\"PS384\",\"PS512\",\"ES256\",\"ES384\",\"EdDSA\"]";
    let keys = &*KEYS;
    for (algorithm, key) in [
        ("RS256", &keys.rsa),
        ("RS384", &keys.rsa),
        ("RS512", &keys.rsa),
        ("PS256", &keys.rsa),
        ("PS384", &keys.rsa),
        ("PS512", &keys.rsa),
        ("ES256", &keys.p256),
        ("ES384", &keys.p384),
        ("EdDSA", &keys.ed),
    ] {
        let who = judged(all, &keys.published(), &good().by(algorithm).of(key));
        assert_eq!(who.unwrap().subject(), "ann", "{algorithm}");
        let usual = judged("", &keys.published(), &good().by(algorithm).of(key)).is_ok();
        assert_eq!(usual, ["RS256", "PS256", "ES256", "EdDSA"].contains(&algorithm), "{algorithm}");
    }
}

#[test]
fn a_key_is_used_with_algorithms_of_its_own_kind() {
    let keys = &*KEYS;
    for (algorithm, kid) in
        [("ES256", "rsa"), ("RS256", "p256"), ("EdDSA", "p256"), ("ES256", "p384"), ("ES256", "ed")]
    {
        let token = good().by(algorithm).header("kid", kid).with(|_| vec![1; 64]);
        assert_eq!(
            judged("", &keys.published(), &token).unwrap_err().code(),
            "FH-TOKEN-KEY",
            "{algorithm} {kid}"
        );
    }
}

#[test]
fn a_token_of_a_key_that_nobody_publishes_counts_once_it_is_published() {
    let token = good().of(&KEYS.foreign);
    let refused = judged("", &KEYS.published(), &token).unwrap_err();
    assert_eq!((refused.code(), refused.needs_key()), ("FH-TOKEN-KEY", Some(Some("foreign"))));
    assert!(judged("", &json!({ "keys": [KEYS.foreign.jwk()] }), &token).is_ok());
}

#[test]
fn a_token_without_the_name_of_its_key_counts_where_one_key_fits() {
    let mut token = good();
    token.header.as_object_mut().unwrap().remove("kid");
    let token = token.signed(&KEYS.rsa);
    assert!(judged("", &KEYS.published(), &token).is_ok());
    let two = json!({ "keys": [KEYS.foreign.jwk(), KEYS.rsa.jwk()] });
    assert_eq!(judged("", &two, &token).unwrap_err().code(), "FH-TOKEN-KEY");
}

#[test]
fn two_keys_of_one_name_are_told_apart_by_their_kind() {
    let twin = Key::p256("rsa");
    let keys = json!({ "keys": [twin.jwk(), KEYS.rsa.jwk()] });
    assert!(judged("", &keys, &good().of(&KEYS.rsa)).is_ok());
    assert!(judged("", &keys, &good().by("ES256").of(&twin)).is_ok());
}

#[test]
fn keys_that_are_no_use_are_left_out() {
    let mut private = KEYS.rsa.jwk();
    private["d"] = json!("AQAB");
    let mut short = KEYS.rsa.jwk();
    short["n"] = json!(crate::mint::encoded(&[0xff; 128]));
    let mut off_curve = KEYS.p256.jwk();
    off_curve["x"] = json!("AQAB");
    let secret = json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "rsa" });
    let odd = json!({ "kty": "RSA", "kid": 7, "n": KEYS.rsa.jwk()["n"], "e": "AQAB" });
    let useless = [private, short, off_curve, secret, odd, json!(7), json!({})];
    let error = KeySet::parse(json!({ "keys": useless }).to_string().as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "none of its 7 keys can check a signature");
    let mut with_one = useless.to_vec();
    with_one.push(KEYS.rsa.jwk());
    let set = set_of(&json!({ "keys": with_one }));
    assert_eq!((set.len(), set.left_out(), set.has("rsa"), set.has("p256")), (1, 7, true, false));
    for text in ["", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[],\"keys\":[]}"] {
        assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
    }
    let many = json!({ "keys": vec![KEYS.ed.jwk(); 101] });
    assert_eq!(
        KeySet::parse(many.to_string().as_bytes()).unwrap_err().to_string(),
        "it has more than 100 keys"
    );
}

#[test]
fn what_a_token_says_is_read_where_the_operator_says() {
    let token = good()
        .claim("realm_access", json!({ "roles": ["corp-admins", "else"] }))
        .claim("https://acme.example/tenant", "acme")
        .claim("act", json!({ "sub": "agent", "iss": "https://agents.example", "act": { "sub": "app" } }))
        .of(&KEYS.rsa);
    let lines = "claims.tenant = '\"https://acme.example/tenant\"'\nclaims.roles = \"realm_access.roles\"\nroles.corp-admins = [\"admin\", \"support\"]";
    let who = judged(lines, &KEYS.published(), &token).unwrap();
    assert_eq!((who.issuer(), who.subject(), who.tenant()), (ISSUER, "ann", Some("acme")));
    assert_eq!(who.roles().iter().collect::<Vec<_>>(), ["admin", "support"]);
    assert_eq!(who.scopes().iter().collect::<Vec<_>>(), ["other", "tools"]);
    assert_eq!(who.client(), Some("app"));
    assert_eq!(who.expires(), Some(UNIX_EPOCH + Duration::from_secs(NOW + 600)));
    let actor = |issuer: Option<&str>, subject: &str| Actor {
        issuer: issuer.map(str::to_owned),
        subject: subject.to_owned(),
    };
    assert_eq!(who.actors(), [actor(Some("https://agents.example"), "agent"), actor(None, "app")]);
    assert_eq!(who.how().word(), "token");
}

#[test]
fn without_a_table_the_claimed_roles_are_roles_and_scopes_can_be() {
    let keys = KEYS.published();
    let who = judged("", &keys, &good().of(&KEYS.rsa)).unwrap();
    assert_eq!(who.roles().iter().collect::<Vec<_>>(), ["support"]);
    let who = judged("claims.roles = \"scope\"\nroles.tools = [\"support\"]", &keys, &good().of(&KEYS.rsa))
        .unwrap();
    assert_eq!(who.roles().iter().collect::<Vec<_>>(), ["support"]);
    let who = judged("", &keys, &good().without("roles").of(&KEYS.rsa)).unwrap();
    assert!(who.roles().is_empty());
}

#[test]
fn times_and_audiences_are_met_at_their_edges() {
    let keys = KEYS.published();
    let counts = |lines: &str, name: &str, value: Value| {
        judged(lines, &keys, &good().claim(name, value).of(&KEYS.rsa)).is_ok()
    };
    assert!(counts("", "exp", json!(NOW + 1)));
    assert!(counts("", "exp", json!(1_800_000_000.5)));
    assert!(counts("leeway = \"30s\"", "exp", json!(NOW - 29)));
    assert!(counts("", "nbf", json!(NOW)));
    assert!(counts("leeway = \"30s\"", "nbf", json!(NOW + 30)));
    assert!(!counts("leeway = \"30s\"", "nbf", json!(NOW + 31)));
    assert!(counts("", "aud", json!(["https://other.example.com", AUDIENCE])));
    assert!(counts("", "aud", json!("https://mcp.example.com/")), "what clients make of a host");
    assert!(counts("audience = [\"https://a/\"]", "aud", json!("https://a")));
    for other in [
        "https://mcp.example.com//",
        "https://mcp.example.com/mcp/",
        "https://mcp.example.com/?",
        "mcp.example.com",
    ] {
        assert!(!counts("", "aud", json!(other)), "{other}");
    }
    assert!(!counts("audience = [\"https://a/b\"]", "aud", json!("https://a/b/")));
    assert!(counts("audience = [\"a\", \"b\"]", "aud", json!("b")));
    assert!(!counts("audience = [\"a\", \"b\"]", "aud", json!(AUDIENCE)));
}

#[test]
fn a_token_for_the_very_resource_needs_no_other_audience() {
    let resource = "https://mcp.example.com/servers/weather/mcp";
    let text = good().claim("aud", resource).of(&KEYS.rsa);
    let token = Unverified::read(&text).unwrap();
    let verifier = Verifier::new(provider(""));
    let set = set_of(&KEYS.published());
    let judged = |resource| verifier.judge(&token, &set, now(), resource).is_ok();
    assert!(judged(Some(resource)));
    assert!(!judged(Some("https://mcp.example.com/servers/orders/mcp")));
    assert!(!judged(None));
}

#[test]
fn what_is_no_token_is_said_to_be_none() {
    let keys = KEYS.published();
    let part = crate::mint::encoded(b"{}");
    let deep = crate::mint::encoded(format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000)).as_bytes());
    for text in [
        String::new(),
        "a".to_owned(),
        "a.b".to_owned(),
        "..".to_owned(),
        format!("{part}.{part}"),
        format!("{part}.{part}.a.b"),
        format!("{part}=.{part}.a"),
        format!("{}.{part}.a", crate::mint::encoded(b"[]")),
        format!("{part}.{deep}.a"),
        format!("{part}.{}.a", crate::mint::encoded(b"\xff")),
    ] {
        let code = judged("", &keys, &text).unwrap_err().code();
        assert_eq!(code, "FH-TOKEN-MALFORMED", "{text}");
    }
    for header in ["alg", "kid", "typ"] {
        let token = good().header(header, 7).signed(&KEYS.rsa);
        assert_eq!(judged("", &keys, &token).unwrap_err().code(), "FH-TOKEN-MALFORMED", "{header}");
    }
    assert_eq!(judged("", &keys, &"a".repeat(MAX_LENGTH)).unwrap_err().code(), "FH-TOKEN-MALFORMED");
    assert_eq!(judged("", &keys, &"a".repeat(MAX_LENGTH + 1)).unwrap_err().code(), "FH-TOKEN-SIZE");
}

#[test]
fn a_refusal_repeats_nothing_of_the_token() {
    let token =
        good().claim("iss", "https://evil.example/<script>").claim("sub", "secret-subject").of(&KEYS.rsa);
    let refused = judged("", &KEYS.published(), &token).unwrap_err();
    let said = format!("{refused} {} {}", refused.code(), refused.hint());
    assert!(!said.contains("evil") && !said.contains("secret-subject"), "{said}");
}
