//! Requests, as they come through the door.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use access::principal::{How, Known, Principal};
use access::token::Verifier;
use axum::body::Body;
use axum::{Extension, Router, middleware, routing};
use gateway::identify::{
    Asked, CELL_IDS, Callers, Connection, Door, Identifier, IdentityError, Issuer, identified, metadata,
};
use gateway::jwks::{Keys, KeysHealth, Settings, Source, Trust};
use gateway::resource_metadata::{Metadata, WELL_KNOWN};
use http::{HeaderMap, HeaderValue, Request, Response, Uri, header};
use http_body_util::BodyExt as _;
use model::digest::Digest;
use model::name::ServerName;
use serde_json::{Value, json};
use store::audit::{Event, Kind};
use tower::ServiceExt as _;

use crate::fetching::{Hands, times};
use crate::mint::{AUDIENCE, ISSUER, KEYS, good, now, provider};

const KEY: &str = "fh_ci_0123456789abcdef0123456789abcdef";
const SERVER_KEY: &str = "fh_weather_0123456789abcdef0123456789abcdef";
const UID: u32 = 4_000;

fn known(subject: &str) -> Known {
    Known { subject: subject.to_owned(), tenant: None, roles: ["support".to_owned()].into() }
}

fn callers() -> Callers {
    let mut callers = Callers::default();
    callers.add_key("ci", Digest::of(KEY.as_bytes()), known("ci"), None);
    let weather = ServerName::new("weather").unwrap();
    callers.add_key("weather", Digest::of(SERVER_KEY.as_bytes()), known("robot"), Some(weather));
    callers.add_peer(UID, known("alice"));
    callers
}

/// An issuer whose keys are in a file.
struct World {
    identifier: Identifier,
    folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jwks.json");
        std::fs::write(&path, KEYS.published().to_string()).unwrap();
        let settings = Settings {
            issuer: ISSUER.to_owned(),
            source: Source::File(path),
            trust: Trust::pem(b"").unwrap(),
            times: times(),
        };
        let keys = Keys::new(settings, Hands::default().clock());
        keys.reload().await.unwrap();
        let issuer = Issuer { verifier: Verifier::new(provider("")), keys };
        let metadata = Metadata::new(AUDIENCE, [ISSUER.to_owned()], []);
        Self { identifier: Identifier::new(vec![issuer], callers(), metadata), folder }
    }

    async fn asks(
        &self,
        target: &str,
        headers: &[(&'static str, String)],
        connection: Connection,
    ) -> Result<Arc<Principal>, IdentityError> {
        let uri: Uri = target.parse().unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        self.identifier.identify(Asked { uri: &uri, headers: &map, connection }, now()).await
    }
}

fn tcp() -> Connection {
    Connection::Tcp(([127, 0, 0, 1], 50_000).into())
}

fn bearer(token: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {token}"))
}

#[tokio::test]
async fn each_way_to_say_who_asks() {
    let world = World::new().await;
    let token = good().of(&KEYS.rsa);
    for header in [format!("Bearer {token}"), format!("bearer  {token} ")] {
        let who = world.asks("/mcp", &[("authorization", header)], tcp()).await.unwrap();
        assert_eq!((who.subject(), who.how()), ("ann", &How::Token));
    }
    let who = world.asks("/v1/tools", &[bearer(KEY)], tcp()).await.unwrap();
    assert_eq!((who.subject(), who.how()), ("ci", &How::Key("ci".to_owned())));
    let who = world.asks("/mcp", &[], Connection::Unix { uid: UID }).await.unwrap();
    assert_eq!((who.subject(), who.how()), ("alice", &How::Peer { uid: UID }));
    // What is shown counts before what it came over.
    let who = world.asks("/mcp", &[bearer(KEY)], Connection::Unix { uid: UID }).await.unwrap();
    assert_eq!(who.subject(), "ci");
}

#[tokio::test]
async fn whoever_says_nothing_or_nonsense_is_nobody() {
    let world = World::new().await;
    let unix = Connection::Unix { uid: UID };
    let of = |value: &str| vec![("authorization", value.to_owned())];
    for (headers, connection, code) in [
        (vec![], tcp(), "FH-IDENTITY-NONE"),
        (vec![], Connection::Unix { uid: UID + 1 }, "FH-PEER-UNKNOWN"),
        (vec![], Connection::Unix { uid: 0 }, "FH-PEER-UNKNOWN"),
        (of("Bearer"), unix, "FH-TOKEN-MALFORMED"),
        (of("Bearer "), unix, "FH-TOKEN-MALFORMED"),
        (of("Bearer a b"), unix, "FH-TOKEN-MALFORMED"),
        (of("Basic dXNlcjpwYXNz"), unix, "FH-IDENTITY-HEADER"),
        (of("DPoP a.b.c"), unix, "FH-IDENTITY-HEADER"),
        (of(""), unix, "FH-IDENTITY-HEADER"),
        (of("Bearer \u{e9}.b.c"), unix, "FH-IDENTITY-HEADER"),
        (vec![bearer("unknown-key")], unix, "FH-KEY-UNKNOWN"),
        (vec![bearer(KEY.get(1..).unwrap())], unix, "FH-KEY-UNKNOWN"),
        (vec![bearer(&format!("{KEY}="))], unix, "FH-KEY-UNKNOWN"),
        (vec![bearer("a.b.c")], unix, "FH-TOKEN-MALFORMED"),
        (vec![bearer(&good().claim("iss", "https://evil.example").of(&KEYS.rsa))], unix, "FH-TOKEN-ISSUER"),
        (vec![bearer(&format!("{}.{}.c", "a".repeat(1 << 20), "b"))], unix, "FH-TOKEN-SIZE"),
    ] {
        let refused = world.asks("/mcp", &headers, connection).await.unwrap_err();
        assert_eq!(
            refused.code(),
            code,
            "{:?}",
            headers.first().map(|(_, value)| value.get(..value.len().min(40)))
        );
    }
}

/// Attacks on the door itself; controls run them again.
pub(crate) async fn two_headers() -> Result<Arc<Principal>, IdentityError> {
    let token = good().claim("sub", "root").of(&KEYS.rsa);
    World::new().await.asks("/mcp", &[bearer(&token), bearer(KEY)], tcp()).await
}

pub(crate) async fn a_token_in_the_query(name: &str) -> Result<Arc<Principal>, IdentityError> {
    let token = good().of(&KEYS.rsa);
    World::new().await.asks(&format!("/mcp?x=1&{name}={token}"), &[], tcp()).await
}

pub(crate) async fn a_server_key_elsewhere(path: &str) -> Result<Arc<Principal>, IdentityError> {
    World::new().await.asks(path, &[bearer(SERVER_KEY)], tcp()).await
}

pub(crate) async fn a_cell_asks(uid: u32) -> Result<Arc<Principal>, IdentityError> {
    let mut world = World::new().await;
    let mut callers = callers();
    callers.add_peer(uid, known("cell"));
    world.identifier = Identifier::new(Vec::new(), callers, Metadata::new(AUDIENCE, [], []));
    let shown = world.asks("/mcp", &[bearer(KEY)], Connection::Unix { uid }).await;
    let peer = world.asks("/mcp", &[], Connection::Unix { uid }).await;
    assert_eq!(shown.is_ok(), peer.is_ok());
    peer
}

pub(crate) async fn a_forwarded_name() -> Result<Arc<Principal>, IdentityError> {
    let headers = [
        ("x-principal-id", "root".to_owned()),
        ("x-principal-roles", "admin".to_owned()),
        ("x-forwarded-user", "root".to_owned()),
        ("x-forwarded-for", "127.0.0.1".to_owned()),
        ("forwarded", "for=127.0.0.1".to_owned()),
        ("x-real-ip", "127.0.0.1".to_owned()),
        ("cookie", format!("access_token={KEY}")),
        ("proxy-authorization", format!("Bearer {KEY}")),
        ("x-api-key", KEY.to_owned()),
        ("mcp-session-id", "1".to_owned()),
    ];
    World::new().await.asks("/mcp", &headers, tcp()).await
}

#[tokio::test]
async fn what_could_be_read_in_two_ways_or_came_by_another_way_is_refused() {
    assert_eq!(two_headers().await, Err(IdentityError::Headers));
    for name in ["access_token", "access%5ftoken", "Access_Token", "%61ccess_token"] {
        assert_eq!(a_token_in_the_query(name).await, Err(IdentityError::Query), "{name}");
    }
    for path in ["/mcp", "/v1/tools", "/servers/orders/mcp", "/servers/weather/mcp/", "/servers/weather", "/"]
    {
        assert_eq!(a_server_key_elsewhere(path).await, Err(IdentityError::KeyElsewhere), "{path}");
    }
    assert_eq!(a_server_key_elsewhere("/servers/weather/mcp?x=1").await.unwrap().subject(), "robot");
    for uid in [CELL_IDS.start, CELL_IDS.end - 1] {
        assert_eq!(a_cell_asks(uid).await, Err(IdentityError::Cell));
    }
    for uid in [CELL_IDS.start - 1, CELL_IDS.end] {
        assert_eq!(a_cell_asks(uid).await.unwrap().subject(), "cell");
    }
    assert_eq!(a_forwarded_name().await, Err(IdentityError::None));
}

#[tokio::test]
async fn nobody_asks_where_a_token_says_that_its_keys_are() {
    let (world, evil) = (World::new().await, crate::origin::Origin::plain().await);
    evil.answers("/jwks", crate::origin::Answer::ok(&json!({ "keys": [KEYS.foreign.jwk()] })));
    for name in ["jku", "x5u"] {
        for kid in ["rsa", "foreign"] {
            let token = good().header(name, evil.url("/jwks")).header("kid", kid).signed(&KEYS.foreign);
            let refused = world.asks("/mcp", &[bearer(&token)], tcp()).await.unwrap_err();
            let code = if kid == "rsa" { "FH-TOKEN-SIGNATURE" } else { "FH-TOKEN-KEY" };
            assert_eq!(refused.code(), code, "{name} {kid}");
        }
        let token = good().header(name, evil.url("/jwks")).of(&KEYS.rsa);
        assert!(world.asks("/mcp", &[bearer(&token)], tcp()).await.is_ok(), "{name} is not looked at");
    }
    let token = good().header("x5c", json!(["AAAA"])).signed(&KEYS.foreign);
    assert!(world.asks("/mcp", &[bearer(&token)], tcp()).await.is_err());
    assert_eq!(evil.asked_for_anything(), 0);
    // The origin does count.
    let settings = Settings {
        issuer: evil.url(""),
        source: Source::Address(evil.url("/jwks")),
        trust: Trust::pem(b"").unwrap(),
        times: times(),
    };
    Keys::new(settings, Hands::default().clock()).current().await.unwrap();
    assert_eq!(evil.asked_for_anything(), 1);
}

/// An issuer on loopback, and requests with its tokens.
struct Served {
    origin: crate::origin::Origin,
    hands: Hands,
    identifier: Identifier,
}

impl Served {
    async fn new(keys: &Value) -> Self {
        let (origin, hands) = (crate::origin::Origin::plain().await, Hands::default());
        origin.publishes(keys);
        let keys = crate::fetching::keys_of(&origin, Source::Discovery, &hands);
        let verifier = Verifier::new(provider(&format!("issuer = \"{}\"", origin.url(""))));
        let metadata = Metadata::new(AUDIENCE, [origin.url("")], []);
        let identifier = Identifier::new(vec![Issuer { verifier, keys }], Callers::default(), metadata);
        Self { origin, hands, identifier }
    }

    async fn asks(&self, kid: &str) -> Result<Arc<Principal>, IdentityError> {
        let token = good().claim("iss", self.origin.url("")).by("EdDSA").header("kid", kid).signed(&KEYS.ed);
        let headers = HeaderMap::from_iter([(
            header::AUTHORIZATION,
            HeaderValue::from_str(&format!("Bearer {token}")).unwrap(),
        )]);
        let uri = Uri::from_static("/mcp");
        self.identifier.identify(Asked { uri: &uri, headers: &headers, connection: tcp() }, now()).await
    }
}

fn published_as(kid: &str) -> Value {
    let mut key = KEYS.ed.jwk();
    key["kid"] = json!(kid);
    json!({ "keys": [key] })
}

#[tokio::test]
async fn a_new_key_counts_at_once_and_a_flood_of_unknown_ones_makes_one_fetch() {
    let served = Served::new(&published_as("a")).await;
    assert!(served.asks("a").await.is_ok());
    served.origin.publishes(&published_as("b"));
    served.hands.forward(31);
    assert!(served.asks("b").await.is_ok());
    assert_eq!(served.asks("a").await.unwrap_err().code(), "FH-TOKEN-KEY", "the key was taken back");
    let before = served.origin.asked(crate::origin::JWKS);
    served.hands.forward(31);
    for number in 0..300 {
        let refused = served.asks(&format!("unknown-{number}")).await.unwrap_err();
        assert_eq!(refused.code(), "FH-TOKEN-KEY");
    }
    assert_eq!(served.origin.asked(crate::origin::JWKS), before + 1);
    assert!(served.asks("b").await.is_ok());
}

#[tokio::test]
async fn an_issuer_that_is_down_is_not_the_senders_fault_and_is_named() {
    let mut served = Served::new(&published_as("a")).await;
    served.origin.goes_down().await;
    let refused = served.asks("a").await.unwrap_err();
    assert_eq!((refused.code(), refused.status().as_u16()), ("FH-KEYS-UNAVAILABLE", 503));
    let issuer = served.origin.url("");
    let ailing: Vec<_> =
        served.identifier.ailing().map(|(issuer, health)| (issuer.to_owned(), health)).collect();
    assert!(matches!(&ailing[..], [(named, KeysHealth::Absent { .. })] if *named == issuer), "{ailing:?}");
    served.origin.comes_back().await;
    served.hands.forward(5);
    assert!(served.asks("a").await.is_ok());
    assert_eq!(served.identifier.ailing().count(), 0);
}

/// A service behind the door that tells what it was given.
struct Service {
    router: Router,
    seen: Arc<Mutex<Vec<Event>>>,
    door: Door,
    #[expect(dead_code, reason = "it is removed with the value")]
    folder: tempfile::TempDir,
}

impl Service {
    async fn new() -> Self {
        let world = World::new().await;
        let seen = Arc::<Mutex<Vec<Event>>>::default();
        let witness = Arc::clone(&seen);
        let door = Door::new(
            world.identifier,
            Arc::new(move |event| {
                let witness = Arc::clone(&witness);
                Box::pin(async move { witness.lock().unwrap().push(event) })
            }),
        );
        let inside = |Extension(who): Extension<Arc<Principal>>, headers: HeaderMap| async move {
            format!("{} {}", who.subject(), headers.contains_key(header::AUTHORIZATION))
        };
        let router = Router::new()
            .route("/{*rest}", routing::any(inside))
            .layer(middleware::from_fn_with_state(door.clone(), identified))
            .route(WELL_KNOWN, routing::get(metadata).with_state(door.clone()))
            .route(&format!("{WELL_KNOWN}/{{*rest}}"), routing::get(metadata).with_state(door.clone()));
        Self { router, seen, door, folder: world.folder }
    }

    async fn asks(&self, path: &str, token: Option<&str>) -> (Response<()>, String) {
        let mut request = Request::builder().uri(path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let mut request = request.body(Body::empty()).unwrap();
        request.extensions_mut().insert(tcp());
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (Response::from_parts(parts, ()), String::from_utf8(body.to_vec()).unwrap())
    }
}

fn valid() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let later = (now + Duration::from_mins(5)).as_secs();
    good().claim("iat", 1).claim("nbf", 1).claim("exp", later).of(&KEYS.rsa)
}

#[tokio::test]
async fn what_is_behind_the_door_has_the_caller_and_not_its_token() {
    let service = Service::new().await;
    let (response, body) = service.asks("/mcp", Some(&valid())).await;
    assert_eq!((response.status().as_u16(), body.as_str()), (200, "ann false"));
    let (response, body) = service.asks("/servers/weather/mcp", Some(SERVER_KEY)).await;
    assert_eq!((response.status().as_u16(), body.as_str()), (200, "robot false"));
    assert!(service.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_refused_request_is_told_where_tokens_come_from_and_is_recorded() {
    let service = Service::new().await;
    let (response, body) = service.asks("/mcp", None).await;
    assert_eq!(response.status(), 401);
    assert_eq!(
        response.headers()[header::WWW_AUTHENTICATE],
        "Bearer resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\""
    );
    assert!(body.contains("FH-IDENTITY-NONE"), "{body}");
    assert!(service.seen.lock().unwrap().is_empty(), "every client begins like this");

    let expired = good().claim("exp", 1_000_000).of(&KEYS.rsa);
    let (response, body) = service.asks("/servers/weather/mcp", Some(&expired)).await;
    assert_eq!(response.status(), 401);
    assert_eq!(
        response.headers()[header::WWW_AUTHENTICATE],
        "Bearer resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/servers/weather/mcp\", \
         error=\"invalid_token\", error_description=\"the token has expired\""
    );
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        body,
        json!({ "code": "FH-TOKEN-EXPIRED", "message": "the token has expired", "hint": "get a new token" })
    );
    let seen = service.seen.lock().unwrap().clone();
    assert_eq!(
        (seen.len(), seen[0].kind, seen[0].code.as_deref()),
        (1, Kind::Identity, Some("FH-TOKEN-EXPIRED"))
    );
    assert_eq!(seen[0].details["from"], "127.0.0.1");
    let recorded = format!("{seen:?}");
    assert!(!recorded.contains(expired.get(..40).unwrap()), "{recorded}");

    let (response, _) = service.asks(&format!("/mcp?access_token={KEY}"), None).await;
    assert_eq!(response.status(), 400);
    let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap().to_owned();
    assert!(challenge.contains("error=\"invalid_request\"") && !challenge.contains(KEY), "{challenge}");
}

#[tokio::test]
async fn a_request_that_says_nothing_of_its_connection_comes_in_nowhere() {
    let service = Service::new().await;
    let request = Request::builder().uri("/mcp").header("authorization", format!("Bearer {KEY}"));
    let answer = service.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 500);
}

#[tokio::test]
async fn documents_need_no_caller() {
    let service = Service::new().await;
    for (path, resource) in [
        ("", AUDIENCE.to_owned()),
        ("/mcp", format!("{AUDIENCE}/mcp")),
        ("/servers/any/mcp", format!("{AUDIENCE}/servers/any/mcp")),
    ] {
        let (response, body) = service.asks(&format!("{WELL_KNOWN}{path}"), None).await;
        assert_eq!(response.status(), 200, "{path}");
        let document: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            (document["resource"].as_str(), &document["authorization_servers"]),
            (Some(resource.as_str()), &json!([ISSUER]))
        );
        assert!(!body.contains("offline_access"));
    }
    assert_eq!(service.asks(&format!("{WELL_KNOWN}/other"), None).await.0.status(), 404);
}

#[tokio::test]
async fn another_identifier_holds_from_the_next_request_on() {
    let service = Service::new().await;
    assert_eq!(service.asks("/mcp", Some(KEY)).await.0.status(), 200);
    service.door.replace(Identifier::new(Vec::new(), Callers::default(), Metadata::new(AUDIENCE, [], [])));
    assert_eq!(service.asks("/mcp", Some(KEY)).await.0.status(), 401);
    assert_eq!(service.asks(WELL_KNOWN, None).await.0.status(), 404);
}
