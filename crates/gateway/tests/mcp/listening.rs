//! What is of no request.

use serde_json::{Value, json};

use crate::{CONFIG, Client, client::Stream, world};

async fn subscribe(client: &Client, filter: Value) -> Stream {
    let mut stream =
        client.stream(json!("sub"), "subscriptions/listen", json!({ "notifications": filter })).await;
    assert_eq!(stream.status, 200);
    let first = stream.message().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    stream
}

const SLOW_FOR_PART: (&str, &str) = ("'crm/echo', 'crm/ask'", "'crm/echo', 'crm/ask', 'crm/slow'");

#[tokio::test]
async fn a_caller_is_told_when_its_own_lists_change() {
    let (world, client) = world().await;
    let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
    let mut bob = subscribe(&client.who("bob", "part"), all.clone()).await;
    let mut alice = subscribe(&client.who("alice", "all"), all.clone()).await;
    let mut only_prompts = subscribe(&client.who("bob", "part"), json!({ "promptsListChanged": true })).await;
    let session = client.who("bob", "part").open("2025-11-25").await;
    let mut listening = session.listen().await;
    world.reload(&CONFIG.replace(SLOW_FOR_PART.0, SLOW_FOR_PART.1));
    let told = bob.message().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    assert_eq!(listening.message().await["method"], "notifications/tools/list_changed");
    assert!(bob.is_quiet().await && alice.is_quiet().await && only_prompts.is_quiet().await);
    // Nothing has changed for anybody.
    world.gateway.shelf().touch();
    assert!(bob.is_quiet().await && alice.is_quiet().await && listening.is_quiet().await);
}

#[tokio::test]
async fn the_filter_is_answered_with_what_is_granted() {
    let (_world, client) = world().await;
    let filter = json!({
        "toolsListChanged": true, "promptsListChanged": false, "unknown": true,
        "resourceSubscriptions": ["fumehood://crm/test://static-text", "fumehood://crm/test://watched-resource", "x://y"],
    });
    for (roles, granted) in [
        ("part", json!(["fumehood://crm/test://static-text"])),
        ("all", json!(["fumehood://crm/test://static-text", "fumehood://crm/test://watched-resource"])),
    ] {
        let client = client.who("bob", roles);
        let params = json!({ "notifications": filter });
        let first = client.stream(json!(7), "subscriptions/listen", params).await.message().await;
        assert_eq!(
            first["params"]["notifications"],
            json!({ "toolsListChanged": true, "resourceSubscriptions": granted })
        );
        assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    }
    for malformed in [
        json!({}),
        json!({ "notifications": [] }),
        json!({ "notifications": { "resourceSubscriptions": [7] } }),
    ] {
        assert_eq!(client.ask("subscriptions/listen", malformed).await.code(), -32602);
    }
}

#[tokio::test]
async fn changed_resources_are_told_to_those_who_follow_them() {
    let (world, client) = world().await;
    let uri = "fumehood://crm/test://watched-resource";
    let mut alice = subscribe(&client, json!({ "resourceSubscriptions": [uri] })).await;
    let mut bob = subscribe(&client.who("bob", "part"), json!({ "resourceSubscriptions": [uri] })).await;
    let mut other = subscribe(&client, json!({ "toolsListChanged": true })).await;
    let session = client.of("crm").open("2025-11-25").await;
    let mut listening = session.listen().await;
    let plain = json!({ "uri": "test://watched-resource" });
    session.old(&json!(1), "resources/subscribe", plain.clone()).await.result();
    world.servers.say("crm", "notifications/resources/updated", plain.clone()).await;
    let told = alice.message().await;
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(uri))
    );
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    let told = listening.message().await;
    assert_eq!(told["params"], plain);
    assert!(bob.is_quiet().await && other.is_quiet().await);
    session.old(&json!(1), "resources/unsubscribe", plain.clone()).await.result();
    world.servers.say("crm", "notifications/resources/updated", plain.clone()).await;
    alice.message().await;
    assert!(listening.is_quiet().await);
    // Whoever may not read it any more does not hear of it any more.
    world.reload(&CONFIG.replace("resources = ['*']", "resources = []"));
    assert!(alice.is_quiet().await);
    world.servers.say("crm", "notifications/resources/updated", plain).await;
    assert!(alice.is_quiet().await);
}

#[tokio::test]
async fn logs_are_for_whoever_has_the_cell_alone() {
    let config =
        CONFIG.replace("[servers.crm]\ncommand = ['x']", "[servers.crm]\ncommand = ['x']\ncell = 'user'");
    for (config, server, is_told) in
        [(CONFIG, "crm", false), (CONFIG, "free", true), (config.as_str(), "crm", true)]
    {
        let world = crate::World::new(config, &crate::servers()).await;
        let client = Client::new(world.address);
        let session = client.open("2025-11-25").await;
        let mut listening = session.listen().await;
        let tool = format!("{server}__test_tool_with_logging");
        session.old_call(&tool, json!({})).await.result();
        assert!(listening.is_quiet().await, "before anybody asked for logs");
        session.old(&json!(1), "logging/setLevel", json!({ "level": "info" })).await.result();
        session.old_call(&tool, json!({})).await.result();
        if !is_told {
            assert!(listening.is_quiet().await, "{server}");
            continue;
        }
        let told = listening.message().await;
        assert_eq!(
            (&told["method"], &told["params"]["logger"]),
            (&json!("notifications/message"), &json!(server))
        );
        assert_eq!(told["params"]["data"], "Tool started");
        while !listening.is_quiet().await {}
        session.old(&json!(1), "logging/setLevel", json!({ "level": "error" })).await.result();
        session.old_call(&tool, json!({})).await.result();
        assert!(listening.is_quiet().await, "below the level");
    }
}

#[tokio::test]
async fn streams_end_with_the_service() {
    let (world, client) = world().await;
    let mut listed = subscribe(&client, json!({ "toolsListChanged": true })).await;
    let mut listening = client.open("2025-11-25").await.listen().await;
    world.stop.send_replace(true);
    assert!(listed.next().await.is_none());
    assert!(listening.next().await.is_none());
}

#[tokio::test]
async fn one_stream_of_a_session_speaks() {
    let (world, client) = world().await;
    let session = client.who("bob", "part").open("2025-11-25").await;
    let (mut older, mut newer) = (session.listen().await, session.listen().await);
    world.reload(&CONFIG.replace(SLOW_FOR_PART.0, SLOW_FOR_PART.1));
    newer.message().await;
    assert!(older.is_quiet().await);
    drop(newer);
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    world.reload(CONFIG);
    assert_eq!(older.message().await["method"], "notifications/tools/list_changed");
}
