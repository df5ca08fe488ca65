//! What the description says is what is answered.

use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;
use gateway::{
    health::{self, Cause, Standing},
    openapi,
};
use serde_json::{Value, json};

use crate::{
    shop::{ADMIN, ALICE, Shop, used},
    world::{Answer, ask},
};

/// Whether an answer is what the document says of it.
fn fits(document: &Value, path: &str, method: &str, answer: &Answer) -> Result<(), String> {
    let status = answer.status.as_str();
    let place = format!("/paths/{}/{method}/responses/{status}", path.replace('/', "~1"));
    let response = document.pointer(&place).ok_or(format!("{place} is not described"))?;
    let schema = response["content"]["application/json"]["schema"].clone();
    let whole = json!({ "components": document["components"], "allOf": [schema] });
    let validator = jsonschema::draft202012::new(&whole).unwrap();
    validator
        .validate(&answer.json())
        .map_err(|error| format!("{path} {status}: {error} in {}", answer.json()))
}

struct Locked;

impl Cause for Locked {
    fn name(&self) -> &'static str {
        "vault"
    }

    fn state(&self) -> BoxFuture<'_, Standing> {
        Box::pin(async { Standing::Failed("it is locked".to_owned()) })
    }
}

#[tokio::test]
async fn every_answer_is_described() {
    let shop = Shop::open().await;
    let audit: Arc<dyn Cause> = Arc::new(shop.world.audit.clone());
    let both = shop
        .world
        .listen(Router::new().merge(openapi::router()).merge(health::router(vec![audit.clone()])))
        .await;
    let locked = shop.world.listen(health::router(vec![audit, Arc::new(Locked)])).await;
    let document = ask(both, "GET", "/v1/openapi.json", &[], "").await.json();
    assert_eq!(document["openapi"], "3.1.0");

    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let odd = json!({ "content": [
        { "type": "image", "data": png, "mimeType": "image/png" },
        { "type": "audio", "data": "UklG", "mimeType": "audio/wav" },
        { "type": "text", "text": "" },
        { "type": "dev.example/new", "x": 1 },
    ] });
    let turn = json!({ "content": [
        used("a", "orders__content", odd.clone()),
        used("b", "orders__content", json!({ "content": [] })),
        used("c", "orders__refund", json!({})),
        used("d", "orders__fails", json!({})),
    ] });
    let call = json!({ "tool_calls": [{ "id": "a", "type": "function", "function": { "name": "orders__content", "arguments": odd.to_string() } }] });
    let long = json!({ "x": "y".repeat(5 << 20) });
    for (path, method, answer) in [
        ("/v1/tools", "get", shop.get("/v1/tools", &ADMIN).await),
        ("/v1/tools", "get", shop.get("/v1/tools?format=openai", &ADMIN).await),
        ("/v1/tools", "get", shop.get("/v1/tools?format=mcp&server=orders", &ADMIN).await),
        ("/v1/tools", "get", shop.get("/v1/tools?format=none", &ADMIN).await),
        ("/v1/tool-calls", "post", shop.post(&ADMIN, &turn).await),
        ("/v1/tool-calls", "post", shop.post(&ADMIN, &call).await),
        ("/v1/tool-calls", "post", shop.post(&ALICE, &json!({})).await),
        ("/v1/tool-calls", "post", shop.post(&ALICE, &long).await),
        ("/v1/tool-calls", "post", ask(shop.address, "POST", "/v1/tool-calls", &ALICE, "{}").await),
        ("/v1/openapi.json", "get", ask(both, "GET", "/v1/openapi.json", &[], "").await),
        ("/healthz", "get", ask(both, "GET", "/healthz", &[], "").await),
        ("/readyz", "get", ask(both, "GET", "/readyz", &[], "").await),
        ("/readyz", "get", ask(locked, "GET", "/readyz", &[], "").await),
    ] {
        fits(&document, path, method, &answer).unwrap();
    }
    // The check can fail.
    let other = ask(both, "GET", "/healthz", &[], "").await;
    assert!(fits(&document, "/readyz", "get", &other).is_err());
    let request = jsonschema::draft202012::new(
        &json!({ "components": document["components"], "$ref": "#/components/schemas/Turn" }),
    )
    .unwrap();
    for (body, is_one) in [
        (&turn, true),
        (&call, true),
        (&used("a", "b", json!({})), true),
        (&json!({}), false),
        (&json!({ "content": [] }), false),
    ] {
        assert_eq!(request.is_valid(body), is_one, "{body}");
    }
}
