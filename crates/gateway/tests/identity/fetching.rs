//! Keys of an issuer, from a web server on loopback.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use gateway::jwks::{Clock, Keys, KeysError, KeysHealth, Settings, Source, Times, Trust};
use serde_json::{Value, json};

use crate::mint::KEYS;
use crate::origin::{Answer, CONFIGURATION, JWKS, Origin};

/// A clock that moves when it is told to.
#[derive(Clone, Default)]
pub(crate) struct Hands(Arc<AtomicU64>);

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Hands {
    pub(crate) fn forward(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn clock(&self) -> Clock {
        let seconds = Arc::clone(&self.0);
        Clock::of(move || *BEGINNING + Duration::from_secs(seconds.load(Ordering::SeqCst)))
    }
}

pub(crate) fn times() -> Times {
    Times { timeout: Duration::from_secs(20), ..Times::default() }
}

pub(crate) fn keys_of(origin: &Origin, source: Source, hands: &Hands) -> Keys {
    let trust = Trust::pem(origin.authority.as_deref().unwrap_or_default().as_bytes()).unwrap();
    Keys::new(Settings { issuer: origin.url(""), source, trust, times: times() }, hands.clock())
}

fn one(kid: &str) -> Value {
    let mut key = KEYS.ed.jwk();
    key["kid"] = json!(kid);
    json!({ "keys": [key] })
}

async fn has(keys: &Keys, kid: &str) -> bool {
    keys.current().await.unwrap().has(kid)
}

#[tokio::test]
async fn keys_are_found_by_the_issuers_own_document() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let keys = keys_of(&origin, Source::Discovery, &hands);
    assert!(has(&keys, "a").await);
    assert_eq!((origin.asked(CONFIGURATION), origin.asked(JWKS)), (1, 1));
    assert_eq!(keys.health(), KeysHealth::Fresh);
}

#[tokio::test]
async fn the_document_of_rfc_8414_will_do() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    let issuer = origin.url("/realms/x");
    let document = json!({ "issuer": issuer, "jwks_uri": origin.url(JWKS) });
    origin.answers("/.well-known/oauth-authorization-server/realms/x", Answer::ok(&document));
    origin.answers(JWKS, Answer::ok(&one("a")));
    let trust = Trust::pem(b"").unwrap();
    let settings = Settings { issuer, source: Source::Discovery, trust, times: times() };
    assert!(has(&Keys::new(settings, hands.clock()), "a").await);
    assert_eq!(origin.asked("/realms/x/.well-known/openid-configuration"), 1);
}

#[tokio::test]
async fn a_private_authority_is_believed_where_it_is_named_and_nowhere_else() {
    let (origin, hands) = (Origin::tls().await, Hands::default());
    origin.publishes(&one("a"));
    assert!(has(&keys_of(&origin, Source::Discovery, &hands), "a").await);
    let settings = Settings {
        issuer: origin.url(""),
        source: Source::Discovery,
        trust: Trust::pem(b"").unwrap(),
        times: times(),
    };
    let refused = Keys::new(settings, hands.clock()).current().await.unwrap_err();
    assert!(matches!(refused, KeysError::Unreachable { .. }), "{refused}");
    // The name in the certificate counts, not only who signed it.
    let trust = Trust::pem(origin.authority.as_deref().unwrap().as_bytes()).unwrap();
    let issuer = format!("https://127.0.0.1:{}", origin.address.port());
    let settings = Settings { issuer, source: Source::Discovery, trust, times: times() };
    assert!(Keys::new(settings, hands.clock()).current().await.is_err());
}

#[tokio::test]
async fn many_at_once_make_one_fetch() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let slow = Answer { after: Duration::from_millis(100), ..Answer::ok(&one("a")) };
    origin.answers(JWKS, slow);
    let keys = keys_of(&origin, Source::Discovery, &hands);
    let all = futures_util::future::join_all((0..64).map(|_| keys.current())).await;
    assert!(all.into_iter().all(|set| set.is_ok()));
    assert_eq!(origin.asked(JWKS), 1);
}

#[tokio::test]
async fn who_goes_away_leaves_the_fetch_to_the_others() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    origin.answers(JWKS, Answer { after: Duration::from_millis(100), ..Answer::ok(&one("a")) });
    let keys = keys_of(&origin, Source::Address(origin.url(JWKS)), &hands);
    let gone = tokio::time::timeout(Duration::from_millis(20), keys.current()).await;
    assert!(gone.is_err());
    assert!(has(&keys, "a").await);
    assert_eq!(origin.asked(JWKS), 1);
}

pub(crate) async fn flood_asks(requests: usize) -> usize {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let keys = keys_of(&origin, Source::Discovery, &hands);
    let first = keys.current().await.unwrap();
    hands.forward(31);
    for _ in 0..requests {
        let newer = keys.newer(&first).await;
        assert!(newer.is_none_or(|newer| !newer.has("b")));
    }
    origin.asked(JWKS) - 1
}

#[tokio::test]
async fn a_flood_of_unknown_keys_makes_one_fetch() {
    assert_eq!(flood_asks(500).await, 1);
}

#[tokio::test]
async fn a_new_key_is_found_when_a_token_names_it() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let keys = keys_of(&origin, Source::Discovery, &hands);
    let first = keys.current().await.unwrap();
    origin.answers(JWKS, Answer::ok(&one("b")));
    assert!(keys.newer(&first).await.is_none(), "the last fetch was a moment ago");
    hands.forward(31);
    assert!(keys.newer(&first).await.unwrap().has("b"));
    assert!(has(&keys, "b").await && !has(&keys, "a").await);
}

pub(crate) async fn revoked_counts() -> bool {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let keys = keys_of(&origin, Source::Discovery, &hands);
    assert!(has(&keys, "a").await);
    origin.answers(JWKS, Answer::ok(&one("b")));
    hands.forward(5 * 60);
    has(&keys, "a").await
}

#[tokio::test]
async fn a_key_that_was_taken_back_counts_no_longer_than_five_minutes() {
    assert!(!revoked_counts().await);
}

#[tokio::test]
async fn keys_are_renewed_while_they_are_used() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let keys = keys_of(&origin, Source::Discovery, &hands);
    assert!(has(&keys, "a").await);
    origin.answers(JWKS, Answer { after: Duration::from_millis(50), ..Answer::ok(&one("b")) });
    hands.forward(4 * 60);
    assert!(has(&keys, "a").await, "nobody waits for the renewal");
    for _ in 0..200 {
        if has(&keys, "b").await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("they were not renewed");
}

#[tokio::test]
async fn keys_are_used_while_their_issuer_is_down_and_it_is_named() {
    let (mut origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let keys = keys_of(&origin, Source::Discovery, &hands);
    assert!(has(&keys, "a").await);
    origin.goes_down().await;
    hands.forward(3600);
    assert!(has(&keys, "a").await);
    let health = keys.health();
    assert!(
        matches!(&health, KeysHealth::Stale { age, .. } if *age == Duration::from_hours(1)),
        "{health:?}"
    );
    hands.forward(3 * 3600);
    let refused = keys.current().await.unwrap_err();
    assert_eq!(refused.code(), "FH-KEYS-UNAVAILABLE");
    assert!(matches!(keys.health(), KeysHealth::Absent { .. }));
    origin.comes_back().await;
    hands.forward(5);
    assert!(has(&keys, "a").await);
    assert_eq!(keys.health(), KeysHealth::Fresh);
}

pub(crate) async fn used_after_a_day_without_the_issuer() -> bool {
    let (mut origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let keys = keys_of(&origin, Source::Discovery, &hands);
    assert!(has(&keys, "a").await);
    origin.goes_down().await;
    hands.forward(24 * 3600);
    keys.current().await.is_ok()
}

#[tokio::test]
async fn keys_that_are_too_old_are_not_used() {
    assert!(!used_after_a_day_without_the_issuer().await);
}

#[tokio::test]
async fn an_issuer_that_was_down_at_the_start_is_asked_again() {
    let (mut origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    origin.goes_down().await;
    let keys = keys_of(&origin, Source::Discovery, &hands);
    assert!(keys.current().await.is_err());
    origin.comes_back().await;
    assert!(keys.current().await.is_err(), "not before a moment has passed");
    hands.forward(5);
    assert!(has(&keys, "a").await);
}

pub(crate) async fn a_foreign_document() -> Result<bool, KeysError> {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let other = json!({ "issuer": "https://other.example.com", "jwks_uri": origin.url(JWKS) });
    origin.answers(CONFIGURATION, Answer::ok(&other));
    keys_of(&origin, Source::Discovery, &hands).current().await.map(|set| set.has("a"))
}

pub(crate) async fn an_address_in_the_clear() -> Result<bool, KeysError> {
    let (secure, plain, hands) = (Origin::tls().await, Origin::plain().await, Hands::default());
    plain.answers(JWKS, Answer::ok(&one("a")));
    let document = json!({ "issuer": secure.url(""), "jwks_uri": plain.url(JWKS) });
    secure.answers(CONFIGURATION, Answer::ok(&document));
    keys_of(&secure, Source::Discovery, &hands).current().await.map(|set| set.has("a"))
}

pub(crate) async fn a_redirection() -> Result<bool, KeysError> {
    let (origin, elsewhere, hands) = (Origin::plain().await, Origin::plain().await, Hands::default());
    elsewhere.answers(JWKS, Answer::ok(&one("a")));
    let moved = Answer { headers: vec![("location", elsewhere.url(JWKS))], ..Answer::status(302) };
    origin.answers(JWKS, moved);
    let keys = keys_of(&origin, Source::Address(origin.url(JWKS)), &hands);
    keys.current().await.map(|set| set.has("a"))
}

pub(crate) async fn a_huge_answer() -> Result<bool, KeysError> {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    let mut document = one("a");
    document["padding"] = json!("x".repeat(600 * 1024));
    origin.answers(JWKS, Answer::ok(&document));
    let keys = keys_of(&origin, Source::Address(origin.url(JWKS)), &hands);
    keys.current().await.map(|set| set.has("a"))
}

#[tokio::test]
async fn answers_that_are_not_the_issuers_own_are_refused() {
    let refused = a_foreign_document().await.unwrap_err();
    assert!(refused.to_string().ends_with("is of another issuer"), "{refused}");
    assert!(matches!(an_address_in_the_clear().await, Err(KeysError::Plain(_))));
    assert!(matches!(a_redirection().await, Err(KeysError::Status { status: 302, .. })));
    assert!(matches!(a_huge_answer().await, Err(KeysError::Size { .. })));
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_given_up() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.answers(JWKS, Answer { after: Duration::from_mins(1), ..Answer::ok(&one("a")) });
    let settings = Settings {
        issuer: origin.url(""),
        source: Source::Address(origin.url(JWKS)),
        trust: Trust::pem(b"").unwrap(),
        times: Times { timeout: Duration::from_millis(50), ..times() },
    };
    let refused = Keys::new(settings, hands.clock()).current().await.unwrap_err();
    assert!(matches!(refused, KeysError::Time { .. }), "{refused}");
}

#[tokio::test]
async fn broken_documents_say_what_is_wrong() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    for (body, word) in [("{", "is no JSON"), ("{\"issuer\":\"a\",\"issuer\":\"b\"}", "is no JSON")] {
        origin.answers(CONFIGURATION, Answer { body: body.to_owned(), ..Answer::status(200) });
        let refused = keys_of(&origin, Source::Discovery, &hands).current().await.unwrap_err();
        assert!(refused.to_string().ends_with(word), "{refused}");
    }
    origin.answers(CONFIGURATION, Answer::ok(&json!({ "issuer": origin.url("") })));
    let refused = keys_of(&origin, Source::Discovery, &hands).current().await.unwrap_err();
    assert!(refused.to_string().ends_with("names no keys"), "{refused}");
    for address in ["ftp://127.0.0.1/jwks", "http://user@127.0.0.1/jwks", "jwks", "http://example.com/jwks"] {
        let refused = keys_of(&origin, Source::Address(address.to_owned()), &hands).current().await;
        assert!(
            matches!(refused, Err(KeysError::Address(_) | KeysError::Plain(_))),
            "{address}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn a_file_is_read_again_when_it_is_told_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write(&one("a").to_string());
    let hands = Hands::default();
    let settings = Settings {
        issuer: "https://idp.example.com".to_owned(),
        source: Source::File(path.clone()),
        trust: Trust::pem(b"").unwrap(),
        times: times(),
    };
    let keys = Keys::new(settings, hands.clock());
    keys.reload().await.unwrap();
    assert!(has(&keys, "a").await);
    write(&one("b").to_string());
    hands.forward(30 * 24 * 3600);
    let set = keys.current().await.unwrap();
    assert!(set.has("a"), "files do not grow old");
    assert!(keys.newer(&set).await.is_none(), "a token does not have the file read");
    keys.reload().await.unwrap();
    assert!(has(&keys, "b").await);
    write("{");
    assert!(matches!(keys.reload().await, Err(KeysError::Set { .. })));
    assert!(has(&keys, "b").await, "what was good stays");
}

#[tokio::test]
async fn nobody_waits_again_and_again_for_an_issuer_that_does_not_answer() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.publishes(&one("a"));
    let settings = Settings {
        issuer: origin.url(""),
        source: Source::Address(origin.url(JWKS)),
        trust: Trust::pem(b"").unwrap(),
        times: Times { timeout: Duration::from_millis(300), ..times() },
    };
    let keys = Keys::new(settings, hands.clock());
    assert!(has(&keys, "a").await);
    origin.answers(JWKS, Answer { after: Duration::from_mins(1), ..Answer::ok(&one("a")) });
    hands.forward(600);
    assert!(has(&keys, "a").await, "the first one waits");
    let fetches = origin.asked(JWKS);
    for _ in 0..5 {
        hands.forward(6);
        // Polled once: what is there is there at once.
        let mut current = std::pin::pin!(keys.current());
        let polled = futures_util::future::poll_immediate(current.as_mut()).await;
        assert!(polled.is_some_and(|set| set.is_ok_and(|set| set.has("a"))));
    }
    for _ in 0..500 {
        if origin.asked(JWKS) > fetches {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing was fetched in the background");
}

#[tokio::test]
async fn what_is_read_anew_is_not_what_was_being_read() {
    let (origin, hands) = (Origin::plain().await, Hands::default());
    origin.answers(JWKS, Answer { after: Duration::from_millis(200), ..Answer::ok(&one("a")) });
    let keys = keys_of(&origin, Source::Address(origin.url(JWKS)), &hands);
    let under_way = tokio::spawn({
        let keys = keys.clone();
        async move { keys.current().await.is_ok() }
    });
    while origin.asked(JWKS) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    origin.answers(JWKS, Answer::ok(&one("b")));
    assert!(keys.reload().await.unwrap().has("b"));
    assert!(under_way.await.unwrap());
}
