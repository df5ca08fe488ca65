//! Fuzz targets of what strangers send of themselves: tokens, sets of keys, headers. In an ordinary run they replay their corpus
//! (`__fuzz__/…/corpus`) and try some thousand inputs; `cargo bolero test tokens` goes on from there.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the code of tests may panic"
)]

use std::path::{Path, PathBuf};

use access::token::{KeySet, MAX_KEYS, Verifier};
use gateway::identify::{Credential, IdentityError};
use http::{HeaderMap, HeaderValue, Uri, header};
use proptest::prelude::*;
use serde_json::Value;

#[path = "identity/mint.rs"]
#[expect(dead_code, reason = "the other tests use more of it")]
mod mint;

use mint::{AUDIENCE, ISSUER, KEYS, NOW, now, of_bytes, provider, set_of};

struct Judge {
    verifier: Verifier,
    keys: KeySet,
}

impl Judge {
    fn new() -> Self {
        Self { verifier: Verifier::new(provider("claims.tenant = \"tid\"")), keys: set_of(&KEYS.published()) }
    }

    /// Header and claims with a line end between them, with the issuer's signature over them: it may sign anything, and what is
    /// wrong with it is no access token of anybody. Whether it counts.
    fn one_token(&self, input: &[u8]) -> bool {
        let raw = String::from_utf8_lossy(input);
        assert!(self.verifier.verify(&raw, &self.keys, now()).is_err(), "nobody signed {raw}");
        let mut parts = input.splitn(2, |byte| *byte == b'\n');
        let (header, claims) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let Ok(who) = self.verifier.verify(&of_bytes(header, claims), &self.keys, now()) else {
            return false;
        };
        let header: Value = serde_json::from_slice(header).unwrap();
        let claims: Value = model::json::parse(claims).unwrap();
        assert_eq!((header["alg"].as_str(), header["kid"].as_str()), (Some("EdDSA"), Some("ed")));
        assert!(header.get("crit").is_none() && claims.get("cnf").is_none());
        assert_eq!(claims["iss"], ISSUER);
        assert!(claims["aud"] == AUDIENCE || claims["aud"].as_array().unwrap().contains(&AUDIENCE.into()));
        assert!(claims["exp"].as_f64().unwrap() > 1_800_000_000.0);
        assert_eq!((claims["sub"].as_str(), claims["tid"].as_str()), (Some(who.subject()), who.tenant()));
        assert!(!who.subject().is_empty() && who.tenant().is_some_and(|tenant| !tenant.is_empty()));
        assert!(who.actors().len() <= 8);
        true
    }
}

fn one_set(input: &[u8]) {
    if let Ok(set) = KeySet::parse(input) {
        let listed = model::json::parse(input).unwrap()["keys"].as_array().unwrap().len();
        assert!((1..=MAX_KEYS).contains(&set.len()) && set.len() + set.left_out() == listed);
    }
}

/// The target and the header of a request, with a line end between them.
fn one_header(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    let Ok(uri) = Uri::try_from(parts.next().unwrap_or_default()) else { return };
    let mut headers = HeaderMap::new();
    if let Some(Ok(value)) = parts.next().map(HeaderValue::from_bytes) {
        headers.append(header::AUTHORIZATION, value);
    }
    match Credential::of(&uri, &headers) {
        Ok(Credential::None) => assert!(headers.is_empty()),
        Ok(Credential::Bearer(token)) => {
            assert!(!token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
            assert!(headers[header::AUTHORIZATION].to_str().unwrap().contains(&token));
        }
        Err(IdentityError::Query) => assert!(uri.query().is_some()),
        Err(error) => assert!(!headers.is_empty(), "{error}"),
    }
    let shown =
        uri.query().is_some_and(|query| query.split('&').any(|pair| pair.starts_with("access_token=")));
    assert!(!shown || Credential::of(&uri, &headers) == Err(IdentityError::Query));
}

#[test]
fn tokens() {
    let judge = Judge::new();
    bolero::check!().with_iterations(3_000).with_max_len(2_048).for_each(|input: &[u8]| {
        judge.one_token(input);
    });
}

#[test]
fn key_sets() {
    bolero::check!().with_iterations(5_000).with_max_len(4_096).for_each(|input: &[u8]| one_set(input));
}

#[test]
fn headers() {
    bolero::check!().with_iterations(20_000).with_max_len(512).for_each(|input: &[u8]| one_header(input));
}

fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/__fuzz__").join(target).join("corpus");
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Without this, an empty folder would pass for a replayed corpus.
#[test]
fn each_target_has_a_corpus() {
    let judge = Judge::new();
    for (target, least) in [("tokens", 5), ("key_sets", 4), ("headers", 4)] {
        let files = corpus(target);
        assert!(files.len() >= least, "{target}");
        for file in files {
            let input = std::fs::read(&file).unwrap();
            match target {
                "tokens" => assert_eq!(judge.one_token(&input), file.ends_with("good"), "{}", file.display()),
                "key_sets" => one_set(&input),
                _ => one_header(&input),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// Random bytes are hardly ever tokens; these are ones with a few members replaced.
    #[test]
    fn tokens_with_members_replaced(
        header in proptest::collection::vec((proptest::sample::select(HEADERS), value()), 0..3),
        claims in proptest::collection::vec((proptest::sample::select(CLAIMS), value()), 0..4),
    ) {
        let mut token = mint::good().by("EdDSA").header("kid", "ed");
        for (name, value) in header {
            token = token.header(name, value);
        }
        for (name, value) in claims {
            token = token.claim(name, value);
        }
        Judge::new().one_token(format!("{}\n{}", token.header, token.claims).as_bytes());
    }
}

const WORDS: &[&str] =
    &["", "none", "EdDSA", "RS256", "ed", "rsa", "at+jwt", "JWT", "ann", "t1", ISSUER, AUDIENCE];
const HEADERS: &[&str] = &["alg", "kid", "typ", "crit", "jwk", "jku", "b64", "zip"];
const CLAIMS: &[&str] = &[
    "iss",
    "sub",
    "aud",
    "exp",
    "nbf",
    "iat",
    "tid",
    "roles",
    "scope",
    "act",
    "cnf",
    "nonce",
    "azp",
    "client_id",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (NOW - 5..NOW + 5).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let names = proptest::sample::select(["sub", "iss", "act", "x"].as_slice()).prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((names, inner), 0..3).prop_map(|members| members.into_iter().collect()),
        ]
    })
}
