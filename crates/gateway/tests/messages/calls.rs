//! What a model asked for is done, or it is told why not.

use std::time::Duration;

use serde_json::{Value, json};
use store::audit::Outcome;

use crate::{
    shop::{ADMIN, ALICE, Shop, text_of, used},
    world::ask,
};

#[tokio::test]
async fn one_block_is_answered_with_one_message() {
    let shop = Shop::open().await;
    let answer =
        shop.post(&ALICE, &used("toolu_1", "orders__get_order", json!({ "order": "ORD-123456" }))).await;
    assert_eq!(answer.status, 200);
    let done = json!({ "order": "ORD-123456", "user_id": "alice" });
    assert_eq!(
        answer.json(),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_1", "content": [{ "type": "text", "text": done.to_string() }] }] })
    );
    assert_eq!(shop.called(), [("get_order".to_owned(), done)]);
    assert_eq!(answer.headers["fumehood-calls"].to_str().unwrap().len(), 36);
}

#[tokio::test]
async fn every_use_has_its_result_in_the_order_of_the_turn() {
    let shop = Shop::open().await;
    let mut uses: Vec<Value> = (0..20)
        .map(|n| used(&format!("u{n}"), "orders__slow", json!({ "n": n, "ms": 200 - 10 * n })))
        .collect();
    uses.insert(3, used("bad", "orders__get_order", json!({ "order": "7" })));
    uses.insert(9, used("none", "orders__none", json!({})));
    let ids: Vec<Value> = uses.iter().map(|it| it["id"].clone()).collect();
    let results = shop.results(&ALICE, uses).await;
    assert_eq!(results.iter().map(|it| it["tool_use_id"].clone()).collect::<Vec<_>>(), ids);
    for block in &results {
        let id = block["tool_use_id"].as_str().unwrap();
        match id.strip_prefix('u') {
            Some(n) => assert_eq!(text_of(block), format!("slow {n}")),
            None => assert_eq!(block["is_error"], true),
        }
    }
    let slow = shop.called().into_iter().filter(|(name, _)| name == "slow").count();
    assert_eq!(slow, 20);
}

#[tokio::test]
async fn a_refusal_is_a_result_that_a_model_can_act_on() {
    let shop = Shop::open().await;
    let results = shop
        .results(
            &ADMIN,
            vec![
                used("schema", "orders__get_order", json!({ "order": "ORD-1' OR 1=1" })),
                used("bound", "orders__get_order", json!({ "order": "ORD-123456", "user_id": "bob" })),
                used("tier", "orders__refund", json!({})),
                used("server", "orders__fails", json!({})),
            ],
        )
        .await;
    for (block, words) in results.iter().zip([
        &["FH-ARGUMENTS-SCHEMA", "order"][..],
        &["FH-BINDING-CONFLICT", "user_id"],
        &["FH-TIER-3"],
        &["The server failed: the shelf is empty"],
    ]) {
        assert_eq!(block["is_error"], true, "{block}");
        for word in words {
            assert!(text_of(block).contains(word), "{block}");
        }
    }
    assert_eq!(shop.called().into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["fails"]);
}

#[tokio::test]
async fn a_tool_of_others_and_none_at_all_are_answered_with_the_same_bytes() {
    let shop = Shop::open().await;
    let answer = async |name: &str| {
        let body = shop.post(&ALICE, &used("u", name, json!({}))).await.body;
        String::from_utf8(body.to_vec()).unwrap().replace(name, "NAME")
    };
    let unknown = answer("orders__nothing").await;
    assert!(unknown.contains("Unknown tool: `NAME`"), "{unknown}");
    assert_eq!(answer("orders__refund").await, unknown);
    assert_eq!(answer("nobody__refund").await, unknown);
    assert_eq!(answer("refund").await, unknown);
    assert!(shop.called().is_empty());
    // The one who may use it is told another thing.
    let body = shop.post(&ADMIN, &used("u", "orders__refund", json!({}))).await.json();
    assert!(body.to_string().contains("FH-TIER-3"));
}

#[tokio::test]
async fn what_was_not_offered_in_this_conversation_is_not_used() {
    let shop = Shop::open().await;
    let turn = |tools: Value| json!({ "tools": tools, "messages": [{ "role": "assistant", "content": [used("u", "weather__now", json!({}))] }] });
    let refused = shop.post(&ALICE, &turn(json!([{ "name": "orders__get_order" }]))).await.json();
    assert_eq!(refused["content"][0]["is_error"], true);
    assert!(text_of(&refused["content"][0]).contains("Unknown tool: `weather__now`"));
    assert!(shop.called().is_empty());
    let tools = shop.get("/v1/tools", &ALICE).await.json()["tools"].clone();
    let done = shop.post(&ALICE, &turn(tools)).await.json();
    assert_eq!(text_of(&done["content"][0]), "rain");
}

#[tokio::test]
async fn a_turn_with_a_mistake_in_it_is_not_begun() {
    let shop = Shop::open().await;
    let good = used("a", "weather__now", json!({}));
    for (uses, place) in [
        (json!([good, { "type": "tool_use", "id": "b", "name": "weather__now" }]), "content[1].input"),
        (json!([good, good]), ""),
    ] {
        let answer = shop.post(&ALICE, &json!({ "content": uses })).await;
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status.as_u16(), &error["code"]),
            (400, &json!("FH-REQUEST-MALFORMED")),
            "{error}"
        );
        assert_eq!(error["place"].as_str().unwrap_or_default(), place);
    }
    let twice = r#"{"type":"tool_use","id":"a","name":"weather__now","input":{"x":1,"x":2}}"#;
    let json_headers = [&ALICE[..], &[("content-type", "application/json")]].concat();
    assert_eq!(ask(shop.address, "POST", "/v1/tool-calls", &json_headers, twice).await.status, 400);
    assert_eq!(ask(shop.address, "POST", "/v1/tool-calls", &ALICE, good.to_string()).await.status, 415);
    let long = json!({ "content": [used("a", "weather__now", json!({ "x": "y".repeat(5 << 20) }))] });
    assert_eq!(shop.post(&ALICE, &long).await.status, 413);
    assert!(shop.called().is_empty());
}

#[tokio::test]
async fn an_answered_turn_can_be_followed_by_the_next() {
    let shop = Shop::open().await;
    let asked = json!({ "role": "assistant", "content": [used("a", "orders__refund", json!({})), used("b", "weather__now", json!({}))] });
    let answered =
        shop.post(&ALICE, &json!({ "messages": [{ "role": "user", "content": "?" }, asked] })).await.json();
    // Refused or not, every use has a result: the next request to the model is complete.
    assert_eq!(answered["content"].as_array().unwrap().len(), 2);
    let again = json!({ "messages": [asked, answered, asked] });
    assert_eq!(shop.post(&ALICE, &again).await.status, 400);
    let next = json!({ "role": "assistant", "content": [used("c", "weather__now", json!({}))] });
    assert_eq!(shop.post(&ALICE, &json!({ "messages": [asked, answered, next] })).await.status, 200);
    assert_eq!(shop.called().len(), 2);
}

#[tokio::test]
async fn calls_of_chat_completions_are_answered_in_their_words() {
    let shop = Shop::open().await;
    let calls = json!([
        { "id": "call_1", "type": "function", "function": { "name": "weather__now", "arguments": "{}" } },
        { "id": "call_2", "type": "function", "function": { "name": "orders__refund", "arguments": "{}" } },
    ]);
    let body =
        shop.post(&ALICE, &json!({ "role": "assistant", "content": null, "tool_calls": calls })).await.json();
    assert_eq!(
        body,
        json!({ "messages": [
            { "role": "tool", "tool_call_id": "call_1", "content": "rain" },
            { "role": "tool", "tool_call_id": "call_2", "content": "Error: Unknown tool: `orders__refund`. Only the tools that were offered can be used." },
        ] })
    );
}

#[tokio::test]
async fn results_are_made_safe_to_read() {
    let shop = Shop::open().await;
    let content = json!({ "content": [{ "type": "text", "text": "\u{1b}[2Jall \u{202e}good" }] });
    let results = shop.results(&ALICE, vec![used("u", "orders__content", content)]).await;
    assert_eq!(text_of(&results[0]), "<U+001B>[2Jall <U+202E>good");
}

#[tokio::test]
async fn a_server_that_ends_is_no_empty_success() {
    let shop = Shop::open().await;
    let results = shop
        .results(&ALICE, vec![used("a", "orders__dies", json!({})), used("b", "weather__now", json!({}))])
        .await;
    assert_eq!(results[0]["is_error"], true);
    assert!(text_of(&results[0]).contains("FH-SERVER-ENDED"), "{}", results[0]);
    assert_eq!(text_of(&results[1]), "rain");
}

#[tokio::test]
async fn an_application_that_leaves_takes_its_calls_back() {
    let shop = Shop::open().await;
    let uses =
        json!({ "content": [used("a", "orders__slow", json!({})), used("b", "orders__slow", json!({}))] });
    let asking = shop.post(&ALICE, &uses);
    let seen = async {
        for _ in 0..500 {
            if shop.called().len() == 2 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = asking => unreachable!("nobody answers it"),
        () = seen => {}
    }
    assert_eq!(shop.called().len(), 2);
    for _ in 0..500 {
        if shop.world.servers.heard("notifications/cancelled").len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(shop.world.servers.heard("notifications/cancelled").len(), 2);
    let rows = shop.world.rows().await;
    let cancelled = rows.iter().filter(|row| row.outcome == Some(Outcome::Cancelled)).count();
    assert_eq!(cancelled, 2, "{rows:?}");
}

#[tokio::test]
async fn the_record_has_every_call_under_the_name_that_the_answer_gives() {
    let shop = Shop::open().await;
    let body =
        json!({ "content": [used("a", "weather__now", json!({})), used("b", "orders__refund", json!({}))] });
    let answer = shop.post(&[&ALICE[..], &[("user-agent", "app/1")]].concat(), &body).await;
    let named: Vec<&str> = answer.headers["fumehood-calls"].to_str().unwrap().split(',').collect();
    let rows = shop.world.rows().await;
    for (call, code) in named.iter().zip([None, Some("FH-TOOL-UNKNOWN")]) {
        let row = rows.iter().rfind(|row| row.call.as_ref().is_some_and(|it| it.as_str() == *call)).unwrap();
        assert_eq!(row.code.as_deref(), code);
        assert_eq!(row.face.as_deref(), Some("messages"));
        let who = row.principal.as_ref().unwrap();
        assert_eq!((who.subject.as_str(), who.client.as_deref()), ("alice", Some("app/1")));
    }
}
