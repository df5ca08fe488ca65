//! What the record has of arguments and results.

use model::{digest::Digest, json};
use serde_json::{Value, json};
use store::audit::{Event, Kind};

use crate::shop::{ALICE, Shop, used};

/// The rows of two calls: one of tier 1, and one of tier 2.
async fn rows(shop: &Shop) -> Vec<Event> {
    let uses = vec![
        used("a", "orders__get_order", json!({ "order": "ORD-123456" })),
        used("b", "orders__slow", json!({ "n": 1, "ms": 0 })),
    ];
    let results = shop.results(&ALICE, uses).await;
    assert!(results.iter().all(|block| block["is_error"] != true), "{results:?}");
    shop.world.rows().await.into_iter().filter(|event| event.kind != Kind::Service).collect()
}

fn digest(value: &Value) -> Digest {
    Digest::of(&json::canonical(value).unwrap())
}

#[tokio::test]
async fn bodies_are_handed_to_a_record_that_keeps_them() {
    let shop = Shop::with("[audit]\nbodies = true\n").await;
    let rows = rows(&shop).await;
    let row = |kind| rows.iter().find(|event| event.kind == kind).unwrap();
    // What was bound is there as it went to the server.
    let call = row(Kind::Call);
    let arguments = json!({ "order": "ORD-123456", "user_id": "alice" });
    assert_eq!(call.name.as_deref(), Some("get_order"));
    assert!(
        call.body_digest.is_some() && call.body_digest != Some(digest(&json!({ "arguments": arguments })))
    );
    let intent = json!({ "arguments": { "n": 1, "ms": 0 } });
    assert_eq!(row(Kind::Intent).body_digest, Some(digest(&intent)));
    assert!(row(Kind::Outcome).body_digest.is_some());
}

#[tokio::test]
async fn bodies_stay_out_of_a_record_that_does_not_keep_them() {
    let rows = rows(&Shop::open().await).await;
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|event| event.body_digest.is_none()));
    // Their digests are there.
    assert!(rows.iter().all(|event| event.arguments.is_some()));
    assert!(rows.iter().filter(|event| event.kind != Kind::Intent).all(|event| event.result.is_some()));
}
