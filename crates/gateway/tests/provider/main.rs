//! Tokens that others made: npm's `oidc-provider`, a certified OpenID provider, signs them; its keys are found as it says.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the code of tests may panic"
)]

mod process;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use access::principal::Principal;
use access::token::Verifier;
use axum::body::Body;
use axum::{Extension, Router, middleware, routing};
use gateway::identify::{Callers, Connection, Door, Identifier, Issuer, identified, metadata};
use gateway::jwks::{Clock, Keys, Settings, Source, Times, Trust};
use gateway::resource_metadata::{Metadata, WELL_KNOWN};
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use model::config::Operator;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use process::Provider;

const BASE: &str = "https://mcp.example.com";

/// A service that takes tokens of the provider, with a clock for its keys that moves when it is told to.
struct Service {
    router: Router,
    seconds: Arc<AtomicU64>,
}

impl Service {
    fn of(provider: &Provider) -> Self {
        let issuer = provider.issuer();
        let file = format!(
            "[serve]\nurl = \"{BASE}\"\n[roles.support]\ntools = []\n[identity.corp]\nissuer = \"{issuer}\"\n\
             claims.tenant = \"tid\"\nclaims.roles = \"groups\"\nroles.people = [\"support\"]\n"
        );
        let operator = Operator::resolve("config.toml", file.as_bytes(), None).unwrap();
        let seconds = Arc::<AtomicU64>::default();
        let (hands, beginning) = (Arc::clone(&seconds), Instant::now());
        let clock = Clock::of(move || beginning + Duration::from_secs(hands.load(Ordering::SeqCst)));
        let settings = Settings {
            issuer: issuer.to_owned(),
            source: Source::Discovery,
            trust: Trust::pem(b"").unwrap(),
            times: Times { timeout: Duration::from_secs(30), ..Times::default() },
        };
        let keys = Keys::new(settings, clock);
        let verifier = Verifier::new(operator.identities()["corp"].clone());
        let metadata_of = Metadata::new(BASE, [issuer.to_owned()], []);
        let identifier = Identifier::new(vec![Issuer { verifier, keys }], Callers::default(), metadata_of);
        let door = Door::new(identifier, Arc::new(|_| Box::pin(std::future::ready(()))));
        let who = |Extension(who): Extension<Arc<Principal>>| async move {
            let roles: Vec<&str> = who.roles().iter().map(String::as_str).collect();
            json!({ "sub": who.subject(), "tenant": who.tenant(), "roles": roles, "client": who.client() })
                .to_string()
        };
        let router = Router::new()
            .route("/{*rest}", routing::any(who))
            .layer(middleware::from_fn_with_state(door.clone(), identified))
            .route(&format!("{WELL_KNOWN}/{{*rest}}"), routing::get(metadata).with_state(door));
        Self { router, seconds }
    }

    fn forward(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Status, challenge and body.
    async fn asks(&self, path: &str, token: Option<&str>) -> (StatusCode, String, Value) {
        let mut request = Request::builder().uri(path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let mut request = request.body(Body::empty()).unwrap();
        request.extensions_mut().insert(Connection::Tcp(([127, 0, 0, 1], 1).into()));
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let challenge = parts.headers.get(header::WWW_AUTHENTICATE);
        let challenge = challenge.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, challenge, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// The code of the refusal; nothing where the token counts.
    async fn refuses(&self, token: &str) -> Option<String> {
        let (status, _, body) = self.asks("/mcp", Some(token)).await;
        match status {
            StatusCode::OK => None,
            _ => Some(body["code"].as_str().unwrap().to_owned()),
        }
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {value}")).to_owned()
}

#[tokio::test]
async fn a_client_finds_its_way_from_the_refusal_to_a_token_that_counts() {
    let Some(mut provider) = Provider::begin("ES256") else { return };
    let service = Service::of(&provider);
    let (status, challenge, _) = service.asks("/servers/weather/mcp", None).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let named = challenge.strip_prefix("Bearer resource_metadata=\"").unwrap().strip_suffix('"').unwrap();
    let (_, _, document) = service.asks(named.strip_prefix(BASE).unwrap(), None).await;
    assert_eq!(document["authorization_servers"], json!([provider.issuer()]));
    let resource = text(&document, "resource");
    assert_eq!(resource, format!("{BASE}/servers/weather/mcp"));

    let program = text(&provider.told(&json!({ "order": "program", "resource": resource })), "access_token");
    let (status, _, who) = service.asks("/servers/weather/mcp", Some(&program)).await;
    assert_eq!(status, StatusCode::OK, "{who}");
    assert_eq!(who, json!({ "sub": "app", "tenant": "t1", "roles": [], "client": "app" }));
    // It is for that server, and for no other.
    for other in ["/mcp", "/servers/orders/mcp", "/v1/tools"] {
        let (status, _, body) = service.asks(other, Some(&program)).await;
        assert_eq!(
            (status, body["code"].as_str()),
            (StatusCode::UNAUTHORIZED, Some("FH-TOKEN-AUDIENCE")),
            "{other}"
        );
    }
}

#[tokio::test]
async fn what_a_person_signs_in_for_counts_and_the_id_token_does_not() {
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let Some(mut provider) = Provider::begin(algorithm) else { return };
        let service = Service::of(&provider);
        let tokens =
            provider.told(&json!({ "order": "person", "subject": "ann", "resource": format!("{BASE}/mcp") }));
        let (status, _, who) = service.asks("/mcp", Some(&text(&tokens, "access_token"))).await;
        assert_eq!(status, StatusCode::OK, "{algorithm}: {who}");
        assert_eq!(who, json!({ "sub": "ann", "tenant": "t1", "roles": ["support"], "client": "app" }));
        let code = service.refuses(&text(&tokens, "id_token")).await;
        assert_eq!(code.as_deref(), Some("FH-TOKEN-KIND"), "{algorithm}");
        let elsewhere =
            provider.told(&json!({ "order": "program", "resource": "https://other.example.com/" }));
        let code = service.refuses(&text(&elsewhere, "access_token")).await;
        assert_eq!(code.as_deref(), Some("FH-TOKEN-AUDIENCE"));
        let opaque = provider.told(&json!({ "order": "opaque" }));
        let code = service.refuses(&text(&opaque, "access_token")).await;
        assert_eq!(code.as_deref(), Some("FH-KEY-UNKNOWN"), "only the provider can read it");
    }
}

#[tokio::test]
async fn keys_are_rotated_taken_back_and_used_while_the_provider_is_down() {
    let Some(mut provider) = Provider::begin("ES256") else { return };
    let service = Service::of(&provider);
    let wanted = json!({ "order": "program", "resource": format!("{BASE}/mcp") });
    let first = text(&provider.told(&wanted), "access_token");
    assert_eq!(service.refuses(&first).await, None);

    provider.told(&json!({ "order": "rotate", "kid": "two", "alg": "EdDSA", "keep": true }));
    let second = text(&provider.told(&wanted), "access_token");
    service.forward(31);
    assert_eq!(service.refuses(&second).await, None, "a new key is looked for at once");
    assert_eq!(service.refuses(&first).await, None, "the old one is published still");

    provider.told(&json!({ "order": "down" }));
    service.forward(30 * 60);
    assert_eq!(service.refuses(&second).await, None, "what is known is used");
    provider.told(&json!({ "order": "up" }));

    provider.told(&json!({ "order": "rotate", "kid": "three", "alg": "RS256", "keep": false }));
    let third = text(&provider.told(&wanted), "access_token");
    service.forward(5 * 60);
    assert_eq!(service.refuses(&third).await, None);
    for old in [&first, &second] {
        assert_eq!(service.refuses(old).await.as_deref(), Some("FH-TOKEN-KEY"), "the key was taken back");
    }

    provider.told(&json!({ "order": "down" }));
    service.forward(5 * 3600);
    let (status, _, body) = service.asks("/mcp", Some(&third)).await;
    assert_eq!(
        (status, body["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("FH-KEYS-UNAVAILABLE"))
    );
}
