//! What somebody would try who has a key, and has had one.

use std::{sync::Arc, time::Duration};

use access::principal::{Known, Principal};
use gateway::{call::Scope, identify::Identifier, jwks::Trust};
use model::config::{Operator, Whose};
use serde_json::json;
use store::audit::Kind;

use crate::{
    client::Client,
    world::{World, rules},
};

/// Whether a caller whose key was taken out of the file hears of changes on the stream that it has open.
pub(crate) async fn is_told_without_a_key(world: &World) -> bool {
    let client = Client::new(world.address).with("authorization", "Bearer matrix-sue");
    let listens = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = client.stream(json!(1), "subscriptions/listen", listens).await;
    assert_eq!(stream.message().await["method"], "notifications/subscriptions/acknowledged");

    let config = include_str!("../matrix/config.toml").replace("[keys.sue]", "[keys.another]");
    let config =
        config.replace("7dc1b9011270d653647d2c23f6818784160b792d9fdfc475b694b2b8c1f2e23e", &"0".repeat(64));
    let operator = Operator::resolve("config.toml", config.as_bytes(), None).unwrap();
    let base = format!("http://{}", world.address);
    world.door.replace(Identifier::of(&operator, &base, |_| Trust::pem(b""), None).unwrap());
    world.gateway.shelf().touch();
    assert_eq!(client.ask("tools/list", json!({})).await.status, 401);
    let ended = tokio::time::timeout(Duration::from_secs(1), stream.next()).await;
    !matches!(ended, Ok(None))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_a_caller_who_is_one_still_goes_on() {
    let world = World::new("").await;
    let client = Client::new(world.address).with("authorization", "Bearer matrix-sue");
    let listens = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = client.stream(json!(1), "subscriptions/listen", listens).await;
    stream.message().await;
    world.gateway.shelf().touch();
    assert!(stream.is_quiet().await);
    drop(stream);
    assert!(!is_told_without_a_key(&world).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_use_of_what_was_not_offered_is_in_the_record() {
    let world = World::new("").await;
    let client = Client::new(world.address).with("authorization", "Bearer matrix-root");
    let client = Client { path: "/v1/tool-calls".to_owned(), ..client };
    let turn = json!({
        "tools": [{ "name": "orders__get_order" }],
        "messages": [{ "role": "assistant", "content": [
            { "type": "tool_use", "id": "a", "name": "crm__reset_credentials", "input": { "customer_id": "7" } },
        ] }],
    });
    let answer = client.raw("POST", &[("content-type", "application/json")], turn.to_string()).await;
    assert_eq!(answer.json()["content"][0]["is_error"], true);
    assert!(world.servers.heard("tools/call").is_empty());
    let rows = world.rows().await;
    let row = rows.iter().find(|row| row.kind == Kind::Denied).unwrap();
    assert_eq!(row.name.as_deref(), Some("crm__reset_credentials"));
    assert_eq!(row.code.as_deref(), Some("FH-TOOL-UNKNOWN"));
    assert_eq!(row.call.as_ref().unwrap().to_string(), answer.headers["fumehood-calls"].to_str().unwrap());
}

/// Rules and servers are taken over together: whoever looks meanwhile sees those of before, those of after, or what both have.
#[tokio::test(flavor = "multi_thread")]
async fn no_look_is_at_servers_of_one_file_by_rules_of_another() {
    let world = World::new("").await;
    let config = include_str!("../matrix/config.toml");
    // In the one file everybody may read a handbook; in the other one its name is that of a server for administrators.
    let files = [
        config.to_owned(),
        config
            .replace("handbook/", "other/")
            .replace("[servers.handbook]", "[servers.handbook]\ncell = 'user'"),
    ];
    let files = files.map(|file| Operator::resolve("config.toml", file.as_bytes(), None).unwrap());
    let known = Known { subject: "ann".to_owned(), tenant: None, roles: ["customer".to_owned()].into() };
    let who = Principal::of_key("ann", known, None);
    let gateway = world.gateway.clone();
    let looking = tokio::task::spawn_blocking(move || {
        let mut mixed = 0;
        for _ in 0..20_000 {
            let view = gateway.view(&who, &Scope::All);
            let handbook = view.offers().iter().find(|offer| offer.name().as_str() == "handbook");
            mixed += usize::from(handbook.is_some_and(|offer| offer.terms().cell == Whose::User));
        }
        mixed
    });
    while !looking.is_finished() {
        for file in &files {
            let rules = rules(file);
            let version = rules.version();
            world.gateway.take_over(world.servers.offers(file), Arc::new(rules), version);
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(looking.await.unwrap(), 0);
}
