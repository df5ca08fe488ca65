//! What a model proposes is never taken as permission: the attacks that a tool handler has to withstand, at the level of judging.
//! Each is shown to work with its guard away in `controls.rs`.

#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use access::{Code, Verb};
use serde_json::{Value, json};

mod shop;

use shop::Shop;

#[test]
fn another_users_id_is_refused_and_recorded_without_a_value() {
    let shop = Shop::new();
    for arguments in [
        json!({"order_id": "ORD-999999", "user_id": "bob"}),
        json!({"order_id": "ORD-999999", "user_id": "bob", "tenant_id": "acme"}),
        json!({"order_id": "ORD-999999", "tenant_id": "globex"}),
        json!({"order_id": "ORD-999999", "user_id": ""}),
        json!({"order_id": "ORD-999999", "user_id": null}),
        json!({"order_id": "ORD-999999", "user_id": ["ann", "bob"]}),
    ] {
        let refusal = shop.call("ann", "get_order", arguments.clone()).unwrap_err();
        assert_eq!(refusal.code, Code::BINDING_CONFLICT, "{arguments}");
        assert!(!refusal.to_string().contains("bob") && !refusal.to_string().contains("globex"));
        assert_eq!(shop.done(), Vec::<Value>::new());
    }
    // Two spellings of one name: the text is refused before anybody has to choose.
    let double = br#"{"order_id":"ORD-999999","user_id":"ann","user\u005fid":"bob"}"#;
    assert!(model::json::parse(double).is_err());
}

#[test]
fn what_the_model_leaves_out_is_the_callers_own() {
    let shop = Shop::new();
    shop.call("ann", "get_order", json!({"order_id": "ORD-999999"})).unwrap();
    shop.call("sue", "get_order", json!({"order_id": "ORD-999999"})).unwrap();
    assert_eq!(
        shop.done(),
        [
            json!({"order_id": "ORD-999999", "user_id": "ann", "tenant_id": "acme"}),
            json!({"order_id": "ORD-999999", "user_id": "sue", "tenant_id": "acme"}),
        ]
    );
}

#[test]
fn without_a_tenant_nobody_acts_for_any() {
    let shop = Shop::new();
    for arguments in
        [json!({"order_id": "ORD-999999"}), json!({"order_id": "ORD-999999", "tenant_id": "acme"})]
    {
        assert_eq!(shop.call("bob", "get_order", arguments).unwrap_err().code, Code::BINDING_MISSING);
    }
    assert_eq!(shop.done(), Vec::<Value>::new());
}

#[test]
fn a_tool_of_administrators_does_not_exist_for_a_customer() {
    let shop = Shop::new();
    for tool in ["delete_order", "issue_refund"] {
        let refusal = shop.call("ann", tool, json!({"order_id": "ORD-999999"})).unwrap_err();
        assert_eq!(refusal, access::Refusal::unknown(Verb::CallTool));
        assert_eq!(refusal, shop.call("ann", "no_such_tool", json!({})).unwrap_err());
        assert!(!shop.lists("ann", tool) && shop.lists("root", tool));
    }
    shop.call("root", "delete_order", json!({"order_id": "ORD-999999"})).unwrap();
    assert_eq!(shop.done().len(), 1);
    let refusal = shop.call("root", "issue_refund", json!({"order_id": "ORD-999999"})).unwrap_err();
    assert_eq!(refusal.code, Code::TIER_3);
}

#[test]
fn an_order_is_an_order() {
    let shop = Shop::new();
    for id in [
        "ORD-12345",
        "ORD-12345678901",
        "ORD-123' OR '1'='1",
        "ORD-123456; DROP TABLE orders",
        "ord-123456",
        "ORD-123456\n",
        "",
    ] {
        let refusal = shop.call("ann", "get_order", json!({"order_id": id})).unwrap_err();
        assert_eq!(refusal.code, Code::ARGUMENTS_SCHEMA, "{id}");
        assert_eq!(refusal.reason, "`order_id` has to match `^ORD-[0-9]{6,10}$`");
    }
    for id in ["ORD-123456", "ORD-1234567890"] {
        shop.call("ann", "get_order", json!({"order_id": id})).unwrap();
    }
    assert_eq!(shop.done().len(), 2);
}

#[test]
fn a_secret_or_a_private_key_gets_into_no_argument() {
    let shop = Shop::new();
    for (note, what) in shop::secrets() {
        let refusal = shop.call("ann", "leave_note", json!({"note": {"text": [note]}})).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.reason.as_str()),
            (Code::SECRET_ARGUMENT, format!("`note.text[0]` holds {what}").as_str())
        );
        assert!(!refusal.to_string().contains(shop::SECRET));
    }
    assert_eq!(shop.done(), Vec::<Value>::new());
    shop.call("ann", "leave_note", json!({"note": "I lost my key"})).unwrap();
}
