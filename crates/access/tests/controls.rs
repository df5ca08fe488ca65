//! Attacks that judging stops, each shown to work when its guard is taken away. Built with the feature `guard-off` only.

#![cfg(feature = "guard-off")]
#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use access::guard::without;
use access::judge::Authorizer;
use access::principal::{Known, Principal};
use access::{Object, Rules, Verb};
use model::config::Operator;
use model::name::ServerName;
use serde_json::{Value, json};

#[path = "zero_trust/shop.rs"]
mod shop;

use shop::Shop;

/// Runs an attack with its guards, where it has to fail, and without one of them, where it has to work.
fn control(guard: &'static str, attack: impl Fn(&Shop) -> bool) {
    {
        let _all = without(&[]);
        assert!(!attack(&Shop::new()), "`{guard}` does not stop this");
    }
    let _off = without(&[guard]);
    assert!(attack(&Shop::new()), "this fails without `{guard}` too");
}

fn given(shop: &Shop, who: &str, tool: &str, arguments: Value) -> Option<Value> {
    shop.call(who, tool, arguments).ok()?;
    shop.done().pop()
}

#[test]
fn a_model_names_another_user() {
    let arguments = || json!({"order_id": "ORD-999999", "user_id": "bob"});
    control("binding", |shop| {
        given(shop, "ann", "get_order", arguments()).is_some_and(|given| given["user_id"] == "bob")
    });
}

#[test]
fn a_model_names_another_tenant() {
    let arguments = || json!({"order_id": "ORD-999999", "tenant_id": "globex"});
    control("binding", |shop| {
        given(shop, "ann", "get_order", arguments()).is_some_and(|given| given["tenant_id"] == "globex")
    });
}

/// To a tool that is written in Go, the last of two spellings counts, and U+017F is an `s`.
#[test]
fn a_model_names_another_user_in_another_spelling() {
    control("binding-look-alikes", |shop| {
        let given = given(shop, "ann", "remember", json!({"note": "x", "u\u{17f}er_id": "bob"}));
        given.is_some_and(|given| {
            let mut read = given.as_object().unwrap().iter();
            read.rfind(|(name, _)| name.to_uppercase() == "USER_ID").unwrap().1 == "bob"
        })
    });
    for other in ["USER_ID", "userId", "User-Id"] {
        control("binding-look-alikes", |shop| {
            given(shop, "ann", "remember", json!({"note": "x", other: "bob"})).is_some()
        });
    }
}

#[test]
fn a_caller_without_a_tenant_names_one() {
    let arguments = || json!({"order_id": "ORD-999999", "tenant_id": "acme"});
    control("binding", |shop| {
        given(shop, "bob", "get_order", arguments()).is_some_and(|given| given["tenant_id"] == "acme")
    });
}

#[test]
fn a_customer_calls_a_tool_of_administrators_by_name() {
    control("roles", |shop| given(shop, "ann", "delete_order", json!({"order_id": "ORD-999999"})).is_some());
}

#[test]
fn a_refund_is_issued_without_a_person() {
    control("tier-3", |shop| {
        given(shop, "root", "issue_refund", json!({"order_id": "ORD-999999"})).is_some()
    });
}

#[test]
fn an_order_is_something_else() {
    control("schema", |shop| {
        given(shop, "ann", "get_order", json!({"order_id": "ORD-123456' OR '1'='1"})).is_some()
    });
    control("schema", |shop| {
        given(shop, "root", "delete_order", json!({"order_id": "ORD-123456", "all": true})).is_some()
    });
}

#[test]
fn a_secret_is_said() {
    for (note, what) in shop::secrets() {
        control("screening", |shop| given(shop, "ann", "leave_note", json!({"note": note})).is_some());
        assert!(!what.is_empty());
    }
}

#[test]
fn arguments_are_larger_than_anybody_needs() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let many = vec![0; 20_000];
    for note in [deep, json!(many), json!("x".repeat(300_000))] {
        control("bounds", |shop| given(shop, "ann", "leave_note", json!({"note": note})).is_some());
    }
}

#[test]
fn a_caller_floods_a_tool() {
    control("rate", |shop| (0..4).all(|_| given(shop, "ann", "leave_note", json!({})).is_some()));
    control("concurrency", |shop| {
        let begun: Vec<_> =
            (0..3).map(|_| shop.begin("ann", "get_order", json!({"order_id": "ORD-999999"}))).collect();
        begun.iter().all(Result::is_ok) && shop.lists("ann", "get_order")
    });
}

#[test]
fn a_resource_is_reached_by_a_detour() {
    let file = b"[roles.reader]\nresources = [\"docs/file:///handbook/\"]";
    let rules = Rules::new(&Operator::resolve("config.toml", file, None).unwrap(), []);
    let known =
        Known { subject: "ann".into(), tenant: None, roles: std::iter::once("reader".to_owned()).collect() };
    let ann = Principal::of_key("ann", known, None);
    control("resource-steps", |_| {
        let server = ServerName::new("docs").unwrap();
        rules.sees(
            &ann,
            &Object { verb: Verb::ReadResource, server, name: "file:///handbook/../payroll".to_owned() },
        )
    });
}
