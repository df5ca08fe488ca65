//! Which tools an application may offer to a model.

use serde_json::{Value, json};

use crate::shop::{ADMIN, ALICE, Shop, used};

#[tokio::test]
async fn everybody_sees_what_they_may_use_and_in_the_same_order() {
    let shop = Shop::open().await;
    let support = [
        "orders__content",
        "orders__dies",
        "orders__fails",
        "orders__get_order",
        "orders__slow",
        "weather__now",
    ];
    assert_eq!(shop.names(&ALICE).await, support);
    let all = shop.names(&ADMIN).await;
    assert_eq!(all.len(), 8);
    assert!(all.iter().any(|name| name.starts_with("orders__delete-all_")), "{all:?}");
    assert!(shop.names(&[("who", "nobody")]).await.is_empty());
    // Nothing is kept of what others were told.
    assert_eq!(shop.names(&ALICE).await, support);
    let answer = shop.get("/v1/tools", &ALICE).await;
    assert_eq!(answer.headers["cache-control"], "private, no-store");
    assert_eq!(answer.body, shop.get("/v1/tools?format=messages", &ALICE).await.body);
}

#[tokio::test]
async fn a_bound_parameter_is_in_no_format() {
    let shop = Shop::open().await;
    for (format, schema) in
        [("messages", "/input_schema"), ("openai", "/function/parameters"), ("mcp", "/inputSchema")]
    {
        let answer = shop.get(&format!("/v1/tools?format={format}"), &ALICE).await;
        let body = answer.json();
        let tool = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it.to_string().contains("orders__get_order"))
            .unwrap();
        assert_eq!(
            tool.pointer(schema).unwrap(),
            &json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": { "order": { "type": "string", "pattern": "^ORD-[0-9]{6,10}$" } },
                "required": ["order"],
                "additionalProperties": false,
                "x-vendor": { "kept": true },
            })
        );
        assert!(
            !body.to_string().contains("user_id") && !body.to_string().contains("orders.example"),
            "{body}"
        );
    }
}

#[tokio::test]
async fn what_is_listed_is_what_can_be_called() {
    let shop = Shop::open().await;
    let all = shop.names(&ADMIN).await;
    for who in [&ALICE[..], &ADMIN[..], &[("who", "nobody")]] {
        let listed = shop.names(who).await;
        let uses = all
            .iter()
            .enumerate()
            .filter(|(_, name)| !["orders__slow", "orders__dies"].contains(&name.as_str()));
        for (number, name) in uses {
            let results = shop.results(who, vec![used(&format!("u{number}"), name, json!({}))]).await;
            let is_unknown = results[0].to_string().contains("Unknown tool");
            assert_eq!(is_unknown, !listed.contains(name), "{name}: {}", results[0]);
        }
    }
}

#[tokio::test]
async fn the_tools_of_one_server_can_be_had_alone() {
    let shop = Shop::open().await;
    let tools = shop.get("/v1/tools?format=openai&server=weather", &ALICE).await.json();
    assert_eq!(
        tools,
        json!({ "tools": [{ "type": "function", "function": { "name": "weather__now", "parameters": { "type": "object", "properties": {} } } }] })
    );
    // A server of which nothing may be used and one that does not exist are the same.
    let nothing = shop.get("/v1/tools?server=orders", &[("who", "nobody")]).await;
    assert_eq!(nothing.body, shop.get("/v1/tools?server=none", &ALICE).await.body);
    assert_eq!(nothing.json(), json!({ "tools": [] }));
}

#[tokio::test]
async fn a_mistake_in_the_address_is_told() {
    let shop = Shop::open().await;
    for (query, message) in [
        ("format=anthropic", "the parameter `format`: `anthropic` is no format"),
        ("format=mcp&format=mcp", "the parameter `format`: it is there twice"),
        ("sever=orders", "the parameter `sever`: there is none of this name"),
        ("server=a%2Fb", "the parameter `server`: this is no name of a server"),
    ] {
        let answer = shop.get(&format!("/v1/tools?{query}"), &ALICE).await;
        let error: Value = answer.json()["error"].clone();
        assert_eq!((answer.status.as_u16(), &error["code"]), (400, &json!("FH-REQUEST-MALFORMED")));
        assert_eq!(error["message"], message);
        assert!(error["hint"].is_string());
    }
}

#[tokio::test]
async fn without_a_caller_there_is_nothing() {
    let shop = Shop::open().await;
    assert_eq!(shop.get("/v1/tools", &[]).await.status, 500);
    assert_eq!(shop.post(&[], &used("u", "weather__now", json!({}))).await.status, 500);
    assert!(shop.called().is_empty());
}
