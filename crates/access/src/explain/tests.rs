use std::collections::BTreeSet;

use model::config::Operator;
use model::name::ServerName;
use serde_json::json;

use super::*;
use crate::principal::Known;

const FILE: &str = r#"
serve.url = "https://mcp.example.com"
[identity.corp]
issuer = "https://idp.example.com"
claims.tenant = "tid"
claims.roles = "groups"
roles.corp-support = ["support"]
[roles.support]
tools = ["shop/get_*", "shop/refund"]
[servers.shop]
command = ["shop"]
[servers.shop.tools.get_order]
tier = 1
bind.user_id = "claims.sub"
rate = "60/m"
time = "30s"
[servers.shop.tools.refund]
tier = 3
[servers.shop.tools.wipe]
tier = 2
"#;

fn told(tool: &str, claims: Value, arguments: Value) -> Explanation {
    let operator = Operator::resolve("config.toml", FILE.as_bytes(), None).unwrap();
    let tools = operator.servers().iter().map(|(name, server)| (name, server.tools()));
    let rules = Rules::new(&operator, tools);
    let server = ServerName::new("shop").unwrap();
    let input = json!({
        "type": "object",
        "properties": {"order_id": {"type": "string", "pattern": "^ORD-[0-9]{6,10}$"}, "user_id": {"type": "string"}},
    });
    let value = json!({"name": tool, "inputSchema": input});
    let gate = ToolGate::new(&server, &value, &operator.servers()[&server].tools()[tool], false).unwrap();
    let verifier = Verifier::new(operator.identities()["corp"].clone());
    let supposed = Supposed { rules: &rules, gate: &gate, arguments, screen: &Screen::none() };
    explain(Caller::Claims(&verifier, claims), supposed).unwrap()
}

fn ann() -> Value {
    json!({"iss": "https://idp.example.com", "sub": "ann", "tid": "acme", "groups": ["corp-support", "other"]})
}

fn row(explanation: &Explanation) -> Vec<(&'static str, Outcome)> {
    explanation.stages.iter().map(|stage| (stage.name, stage.outcome)).collect()
}

#[test]
fn every_stage_of_a_call_that_would_be_done_is_told() {
    let explanation = told("get_order", ann(), json!({"order_id": "ORD-123456"}));
    assert!(explanation.permitted);
    assert_eq!(explanation.rule.as_deref(), Some("roles.support.tools[0]"));
    assert_eq!(
        explanation.arguments,
        json!({"order_id": "ORD-123456", "user_id": "ann"}).as_object().cloned()
    );
    let names: Vec<_> = row(&explanation)
        .into_iter()
        .map(|(name, outcome)| {
            assert_eq!(outcome, Outcome::Passed);
            name
        })
        .collect();
    assert_eq!(names[0], "identity");
    assert_eq!(names[1..], AFTER_IDENTITY);
    let detail =
        |name: &str| explanation.stages.iter().find(|stage| stage.name == name).unwrap().detail.clone();
    assert_eq!(detail("identity"), "ann of https://idp.example.com, of acme; roles: support");
    assert_eq!(detail("binding"), "bound: user_id = claims.sub");
    assert_eq!(detail("limits"), "60/m for each caller, 30000 ms for each call");
    assert_eq!(detail("record"), "recorded when it has ended");
}

#[test]
fn the_stage_that_refuses_is_told_with_its_rule() {
    let key = format!("AGE-SECRET-KEY-1{}", "Q".repeat(58));
    for (tool, arguments, code, stage, rule) in [
        ("wipe", json!({}), Code::TOOL_UNKNOWN, "visible", Some("roles")),
        ("get_order", json!([]), Code::ARGUMENTS_MALFORMED, "size", None),
        (
            "get_order",
            json!({"order_id": "x".repeat(300_000)}),
            Code::ARGUMENTS_SIZE,
            "size",
            Some("arguments"),
        ),
        ("get_order", json!({"order_id": key}), Code::SECRET_ARGUMENT, "secrets", Some("screening")),
        (
            "get_order",
            json!({"user_id": "bob"}),
            Code::BINDING_CONFLICT,
            "binding",
            Some("servers.shop.tools.get_order.bind.user_id"),
        ),
        ("get_order", json!({"order_id": "ORD-1"}), Code::ARGUMENTS_SCHEMA, "schema", Some("inputSchema")),
        ("refund", json!({"order_id": "ORD-123456"}), Code::TIER_3, "approval", Some("tier")),
    ] {
        let explanation = told(tool, ann(), arguments);
        assert_eq!((explanation.permitted, explanation.code), (false, Some(code)));
        assert_eq!(explanation.rule.as_deref(), rule, "{code}");
        let rows = row(&explanation);
        assert_eq!(rows.len(), 1 + AFTER_IDENTITY.len());
        let at = rows.iter().position(|(name, _)| *name == stage).unwrap();
        assert!(rows[..at].iter().all(|(_, outcome)| *outcome == Outcome::Passed), "{rows:?}");
        assert_eq!(rows[at].1, Outcome::Refused, "{rows:?}");
        assert!(rows[at + 1..].iter().all(|(_, outcome)| *outcome == Outcome::NotReached), "{rows:?}");
        assert_eq!(explanation.arguments, None);
    }
}

#[test]
fn a_caller_that_nobody_can_be_is_not_explained() {
    let operator = Operator::resolve("config.toml", FILE.as_bytes(), None).unwrap();
    let verifier = Verifier::new(operator.identities()["corp"].clone());
    for (claims, error) in [
        (json!({"sub": "ann", "groups": []}), TokenError::Tenant),
        (json!({"sub": 7, "tid": "acme"}), TokenError::Claim("sub")),
        (json!({"sub": "ann", "tid": "acme", "nonce": "x"}), TokenError::Kind),
    ] {
        assert_eq!(verifier.suppose(claims).unwrap_err(), error);
    }
    let known = Known { subject: "x".to_owned(), tenant: None, roles: BTreeSet::new() };
    assert_eq!(about(&Principal::of_key("k", known, None)), "x of urn:fumehood:key; roles: none");
}
