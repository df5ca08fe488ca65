//! `policy explain`: what would happen to a call.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test fails by panicking, in its helpers too; what is printed is long"
)]

use insta::assert_snapshot;
use serde_json::Value;

use super::world::World;

const RULES: &str = "tools.get_order.tier = 1
tools.get_order.bind.user_id = 'claims.sub'
tools.get_order.rate = '60/m'
tools.cancel.tier = 3
[serve]
url = 'https://mcp.example.com'
[identity.corp]
issuer = 'https://idp.example.com'
claims.tenant = 'tid'
claims.roles = 'groups'
[keys.ci]
sha256 = '0000000000000000000000000000000000000000000000000000000000000000'
roles = ['admin']
[roles.customer]
tools = ['orders/get_*']
[roles.admin]
tools = ['*']
";

const ANN: &str = r#"{"sub": "ann", "tid": "acme", "groups": ["customer"]}"#;

/// A world whose operator has accepted a server with these rules.
fn world() -> World {
    let world = World::new();
    let program = world.write("project/orders.sh", include_str!("service/orders.sh")).display().to_string();
    let declared =
        format!("[servers.orders]\ncommand = ['sh', '{program}']\nmounts = ['{program}']\n{RULES}");
    world.write("config/fumehood/config.toml", &declared);
    let told = world.run_with("", &["review", "orders", "--json"]);
    let review: Value =
        serde_json::from_slice(&told.stdout).unwrap_or_else(|_| panic!("{}", world.shown(&told)));
    let fingerprint = review.get("fingerprint").and_then(Value::as_str).unwrap();
    assert!(world.run_with("", &["review", "orders", "--accept", fingerprint]).status.success());
    world
}

#[test]
fn every_stage_is_told_and_which_rule_decides() {
    let world = world();
    let explain = |who: &str, tool: &str, arguments: &str| {
        world.said(&["policy", "explain", "--as", who, "--tool", tool, "--args", arguments])
    };
    assert_snapshot!(explain(ANN, "orders/get_order", r#"{"id": "7"}"#), @r##"
    exit code 0
    --- stdout
    orders/get_order would be called (tier 1)
    decided by roles.customer.tools[0]

    identity  passed   ann of https://idp.example.com, of acme; roles: customer
    visible   passed   the caller finds it in its list
    size      passed   within the bounds of size and depth
    secrets   passed   no secret and no private key in it
    binding   passed   bound: user_id = claims.sub
    schema    passed   the arguments fit the tool's schema
    roles     passed   a role of the caller has it [roles.customer.tools[0]]
    approval  passed   tier 1 needs nobody's approval [tier]
    limits    passed   60/m for each caller
    record    passed   recorded when it has ended [tier]

    the tool would be given {"id":"7","user_id":"ann"}
    "##);
    assert_snapshot!(explain(ANN, "orders__get_order", r#"{"id": "7", "user_id": "bob"}"#), @r##"
    exit code 12
    --- stdout
    orders/get_order would not be called (tier 1): FH-BINDING-CONFLICT
    decided by servers.orders.tools.get_order.bind.user_id

    identity  passed   ann of https://idp.example.com, of acme; roles: customer
    visible   passed   the caller finds it in its list
    size      passed   within the bounds of size and depth
    secrets   passed   no secret and no private key in it
    binding   REFUSED  `user_id` comes from your identity, and the value given is another one (leave `user_id` out) [servers.orders.tools.get_order.bind.user_id]
    schema    -
    roles     -
    approval  -
    limits    -
    record    -
    "##);
    assert_snapshot!(explain(ANN, "orders/cancel", "{}"), @r##"
    exit code 12
    --- stdout
    orders/cancel would not be called (tier 3): FH-TOOL-UNKNOWN
    decided by roles

    identity  passed   ann of https://idp.example.com, of acme; roles: customer
    visible   REFUSED  no role of the caller has it, so that it is answered as if it did not exist [roles]
    size      -
    secrets   -
    binding   -
    schema    -
    roles     -
    approval  -
    limits    -
    record    -
    "##);
    assert_snapshot!(explain("key:ci", "orders/cancel", "{}"), @r##"
    exit code 12
    --- stdout
    orders/cancel would not be called (tier 3): FH-TIER-3
    decided by tier

    identity  passed   ci of urn:fumehood:key; roles: admin
    visible   passed   the caller finds it in its list
    size      passed   within the bounds of size and depth
    secrets   passed   no secret and no private key in it
    binding   passed   nothing is bound
    schema    passed   the arguments fit the tool's schema
    roles     passed   a role of the caller has it [roles.admin.tools[0]]
    approval  REFUSED  a person has to approve this call, and nobody can be asked yet (do without it, or ask the person you work for to do it) [tier]
    limits    -
    record    -
    "##);
    assert_snapshot!(explain("customer", "orders/get_order", "{}"), @r##"
    exit code 12
    --- stdout
    orders/get_order would not be called (tier 1): FH-ARGUMENTS-SCHEMA
    decided by inputSchema

    identity  passed   somebody of urn:fumehood:key; roles: customer
    visible   passed   the caller finds it in its list
    size      passed   within the bounds of size and depth
    secrets   passed   no secret and no private key in it
    binding   passed   bound: user_id = claims.sub
    schema    REFUSED  `id` is missing (correct the arguments and call again) [inputSchema]
    roles     -
    approval  -
    limits    -
    record    -
    "##);

    let file = world.write("project/claims.json", ANN).display().to_string();
    let told = world.run_with(
        "",
        &["policy", "explain", "--as", &format!("@{file}"), "--tool", "orders/get_order", "--json"],
    );
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told.get("code").and_then(Value::as_str), Some("FH-ARGUMENTS-SCHEMA"));
    assert_eq!(told.get("rule").and_then(Value::as_str), Some("inputSchema"));
    assert_eq!(told.get("stages").and_then(Value::as_array).map(Vec::len), Some(10));
}

#[test]
fn what_cannot_be_explained_is_told_with_what_can() {
    let world = world();
    let explain = |who: &str, tool: &str, arguments: &str| {
        world.said(&["policy", "explain", "--as", who, "--tool", tool, "--args", arguments])
    };
    let all = [
        explain("suport", "orders/cancel", "{}"),
        explain("key:nobody", "orders/cancel", "{}"),
        explain("peer:nobody", "orders/cancel", "{}"),
        explain(r#"{"iss": "https://elsewhere.example.com"}"#, "orders/cancel", "{}"),
        explain(r#"{"sub": "ann"}"#, "orders/cancel", "{}"),
        explain(r#"{"sub": "ann", "sub": "bob"}"#, "orders/cancel", "{}"),
        explain("admin", "orders/refund", "{}"),
        explain("admin", "orders/cancel", r#"{"id": 1, "id": 2}"#),
    ];
    assert_snapshot!(all.join("\n"), @r##"
    exit code 2
    --- stderr
    fumehood: --as: no role is called `suport`
    fumehood: help: there are admin, customer, owner; claims begin with `{`, a file of them with `@`
    exit code 2
    --- stderr
    fumehood: --as: no key is called `nobody`
    fumehood: help: there are ci
    exit code 2
    --- stderr
    fumehood: --as: no peer is called `nobody`
    fumehood: help: none is declared
    exit code 2
    --- stderr
    fumehood: --as: tokens of this issuer are not taken
    fumehood: help: write `iss`; there are https://idp.example.com
    exit code 2
    --- stderr
    fumehood: --as: the token names no tenant
    fumehood: help: ask for a token of one tenant
    exit code 2
    --- stderr
    fumehood: --as: line 1: the key `sub` stands twice
    fumehood: help: write the key once
    exit code 2
    --- stderr
    fumehood: no tool is called `orders/refund`
    fumehood: help: there are orders/cancel, orders/get_order
    exit code 2
    --- stderr
    fumehood: --args: line 1: the key `id` stands twice
    fumehood: help: write the key once
    "##);
}

#[test]
fn whoever_runs_the_service_is_asked_about_like_any_role() {
    let world = world();
    let told = world.said(&[
        "policy",
        "explain",
        "--as",
        "owner",
        "--tool",
        "orders/get_order",
        "--args",
        r#"{"id":"7"}"#,
    ]);
    assert!(told.contains("orders/get_order would be called") && told.contains("decided by owner"), "{told}");
}
