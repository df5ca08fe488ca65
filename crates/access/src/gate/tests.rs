use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

use model::config::Operator;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::principal::{Principal, Proven};

fn server() -> ServerName {
    ServerName::new("shop").unwrap()
}

/// The rule that the operator's file has for the tool `t`.
fn rule(text: &str) -> ToolRule {
    let file = format!("[servers.shop]\ncommand = [\"shop\"]\n[servers.shop.tools.t]\n{text}");
    let operator = Operator::resolve("config.toml", file.as_bytes(), None).unwrap();
    operator.servers()[&server()].tools()["t"].clone()
}

fn caller(claims: Value) -> Principal {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    Principal::of_token(Proven {
        issuer: "https://idp.example.com".to_owned(),
        subject: text("sub").unwrap_or_default(),
        tenant: text("tid"),
        roles: BTreeSet::new(),
        scopes: BTreeSet::new(),
        actors: Vec::new(),
        client: None,
        claims,
        expires: Some(UNIX_EPOCH),
    })
}

fn ann() -> Principal {
    caller(
        json!({"sub": "ann", "tid": "acme", "uid": 7, "digits": "42", "realm": {"staff": true, "no": null}, "many": ["a"]}),
    )
}

fn orders() -> Value {
    json!({
        "name": "t",
        "inputSchema": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "pattern": "^ORD-[0-9]{6,10}$"},
                "user_id": {"type": "string"},
                "limit": {"type": "integer", "maximum": 100},
            },
            "required": ["order_id", "user_id", "limit"],
            "additionalProperties": false,
        },
    })
}

fn gate(tool: &Value, text: &str) -> ToolGate {
    ToolGate::new(&server(), tool, &rule(text), false).unwrap()
}

fn fault(input: &Value, text: &str) -> String {
    let tool = json!({"name": "t", "inputSchema": input});
    ToolGate::new(&server(), &tool, &rule(text), false).unwrap_err().to_string()
}

fn bind(gate: &ToolGate, arguments: Value) -> Result<Bound, Refusal> {
    gate.bind(arguments, &ann(), &Screen::none())
}

fn code(gate: &ToolGate, arguments: Value) -> Code {
    bind(gate, arguments).unwrap_err().code
}

#[test]
fn a_bound_parameter_is_nowhere_to_be_seen() {
    let tool = json!({
        "name": "t",
        "title": "Orders",
        "description": "Finds orders.",
        "icons": [{"src": "https://example.com/i.png"}],
        "annotations": {"readOnlyHint": true},
        "outputSchema": {"type": "object", "properties": {"user_id": {"type": "string"}}},
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "user_id": {"type": "string", "x-mcp-header": "User"},
                "region": {"type": "string", "x-mcp-header": "Region"},
                "since": {"type": "string"},
                "until": {"type": "string"},
                "limit": {"type": "integer"},
            },
            "required": ["user_id", "region", "limit"],
            "dependentRequired": {"user_id": ["since"], "until": ["since", "user_id"]},
            "dependentSchemas": {"user_id": {"properties": {"since": {"minLength": 1}}}},
            "minProperties": 2,
            "maxProperties": 4,
            "x-vendor": {"user": "kept"},
        },
    });
    let shown = gate(&tool, "bind.user_id = \"subject\"\ndefaults.limit = 20").shown().clone();
    let wanted = json!({
        "name": "t",
        "title": "Orders",
        "description": "Finds orders.",
        "annotations": {"readOnlyHint": true},
        "outputSchema": {"type": "object", "properties": {"user_id": {"type": "string"}}},
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "since": {"type": "string"},
                "until": {"type": "string"},
                "limit": {"type": "integer", "default": 20},
            },
            "required": ["region", "since"],
            "dependentRequired": {"until": ["since"]},
            "allOf": [{"properties": {"since": {"minLength": 1}}}],
            "minProperties": 1,
            "maxProperties": 3,
            "x-vendor": {"user": "kept"},
        },
    });
    assert_eq!(shown, wanted);
    let passed = ToolGate::new(&server(), &tool, &ToolRule::default(), true).unwrap();
    assert_eq!(*passed.shown(), tool, "what passes through is as it was");
}

#[test]
fn a_parameter_that_cannot_be_taken_out_keeps_the_tool_away() {
    let of = |more: Value| {
        let mut input = json!({"properties": {"user_id": {}, "x": {}}});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fault(&input, "bind.user_id = \"subject\"")
    };
    for (more, place) in [
        (json!({"anyOf": [{"required": ["user_id"]}, {"required": ["x"]}]}), "/anyOf/0/required"),
        (
            json!({"if": {"properties": {"user_id": {"const": "root"}}}, "then": {"required": ["x"]}}),
            "/if/properties",
        ),
        (json!({"not": {"required": ["user_id"]}}), "/not/required"),
        (
            json!({"allOf": [{"$ref": "#/$defs/u"}], "$defs": {"u": {"properties": {"user_id": {"type": "integer"}}}}}),
            "/$defs/u/properties",
        ),
        (json!({"else": {"dependentRequired": {"x": ["user_id"]}}, "if": true}), "/else/dependentRequired"),
        (json!({"dependentSchemas": {"x": {"maxProperties": 1}}}), "/dependentSchemas/x/maxProperties"),
        (json!({"oneOf": [{"propertyNames": {"maxLength": 3}}]}), "/oneOf/0/propertyNames"),
    ] {
        assert_eq!(of(more), format!("`bind.user_id`: the schema speaks of it in `{place}` as well"));
    }
    // A parameter of the same name inside of another one is another one.
    let honest = json!({"name": "t", "inputSchema": {"properties": {"user_id": {}, "x": {"properties": {"user_id": {}}, "required": ["user_id"]}}}});
    let gate = gate(&honest, "bind.user_id = \"subject\"");
    assert_eq!(code(&gate, json!({"x": {}})), Code::ARGUMENTS_SCHEMA);
    assert!(bind(&gate, json!({"x": {"user_id": "any"}})).is_ok());
}

#[test]
fn a_name_that_the_tool_has_not_keeps_it_away() {
    let input = json!({"properties": {"user": {}, "x": {}}, "additionalProperties": true});
    assert_eq!(
        fault(&input, "bind.user_id = \"subject\""),
        "`bind.user_id`: the tool has no such parameter; it has `user`, `x`"
    );
    assert_eq!(
        fault(&input, "defaults.limit = 1"),
        "`defaults.limit`: the tool has no such parameter; it has `user`, `x`"
    );
    assert_eq!(
        fault(&json!({}), "bind.a = \"subject\""),
        "`bind.a`: the tool has no such parameter; it has none"
    );
    assert_eq!(fault(&json!("object"), ""), "`inputSchema` is not a JSON object");
    let nameless = ToolGate::new(&server(), &json!({"inputSchema": {}}), &ToolRule::default(), false);
    assert_eq!(nameless.unwrap_err(), GateError::Nameless);
}

#[test]
fn a_bound_parameter_is_the_callers_whatever_the_model_says() {
    let gate = gate(&orders(), "bind.user_id = \"claims.sub\"\ndefaults.limit = 20");
    let bound = bind(&gate, json!({"order_id": "ORD-123456"})).unwrap();
    assert_eq!(
        Value::Object(bound.arguments().clone()),
        json!({"order_id": "ORD-123456", "user_id": "ann", "limit": 20})
    );
    assert_eq!(bound.bound_names(), ["user_id"]);
    let same = bind(&gate, json!({"order_id": "ORD-123456", "user_id": "ann", "limit": 20})).unwrap();
    assert_eq!(same.digest(), bound.digest());
    for other in [
        json!("bob"),
        json!("Ann"),
        json!("ann "),
        json!(null),
        json!(""),
        json!(["ann"]),
        json!({"sub": "ann"}),
        json!(7),
    ] {
        let refusal = bind(&gate, json!({"order_id": "ORD-123456", "user_id": other})).unwrap_err();
        assert_eq!(refusal.code, Code::BINDING_CONFLICT, "{other}");
        assert_eq!(refusal.rule.as_deref(), Some("servers.shop.tools.t.bind.user_id"));
        let text = format!("{refusal} {refusal:?}");
        assert!(!text.contains("ann") && !text.contains("bob"), "{text}");
    }
}

#[test]
fn a_value_is_fitted_as_the_schema_says_and_no_further() {
    for (schema, source, wanted) in [
        (json!({"type": "string"}), "claims.uid", Ok(json!("7"))),
        (json!({"type": "integer"}), "claims.uid", Ok(json!(7))),
        (json!({"type": "number"}), "claims.uid", Ok(json!(7))),
        (json!({"type": ["string", "integer"]}), "claims.uid", Ok(json!(7))),
        (json!({}), "claims.uid", Ok(json!(7))),
        (json!({"type": "integer"}), "claims.digits", Ok(json!(42))),
        (json!({"type": "string"}), "claims.digits", Ok(json!("42"))),
        (json!({"$ref": "#/$defs/id"}), "claims.digits", Ok(json!(42))),
        (json!({"type": "boolean"}), "claims.realm.staff", Ok(json!(true))),
        (json!({"type": "array"}), "claims.many", Ok(json!(["a"]))),
        (json!({"type": "string"}), "tenant", Ok(json!("acme"))),
        (json!({"type": "string"}), "issuer", Ok(json!("https://idp.example.com"))),
        (json!({"type": "integer"}), "subject", Err(Code::BINDING_MISSING)),
        (json!({"type": "string"}), "claims.realm.staff", Err(Code::BINDING_MISSING)),
        (json!({"type": "string"}), "claims.many", Err(Code::BINDING_MISSING)),
        (json!({"type": "string", "pattern": "^[0-9]+$"}), "subject", Err(Code::BINDING_MISSING)),
        (json!({}), "claims.realm.no", Err(Code::BINDING_MISSING)),
        (json!({}), "claims.nothing", Err(Code::BINDING_MISSING)),
        (json!({}), "claims.sub.more", Err(Code::BINDING_MISSING)),
    ] {
        let tool = json!({"name": "t", "inputSchema": {"properties": {"u": schema}, "$defs": {"id": {"type": "integer"}}}});
        let gate = gate(&tool, &format!("bind.u = \"{source}\""));
        let got = bind(&gate, json!(null)).map(|bound| bound.arguments()["u"].clone()).map_err(|refusal| {
            assert!(!refusal.to_string().contains("ann"), "{refusal}");
            refusal.code
        });
        assert_eq!(got, wanted, "{schema} {source}");
    }
}

#[test]
fn without_a_tenant_there_is_none() {
    let tool = json!({"name": "t", "inputSchema": {"properties": {"tenant_id": {"type": "string"}}}});
    let gate = gate(&tool, "bind.tenant_id = \"tenant\"");
    let nobody = caller(json!({"sub": "eve"}));
    for arguments in
        [json!({}), json!({"tenant_id": "acme"}), json!({"tenant_id": ""}), json!({"tenant_id": null})]
    {
        let refusal = gate.bind(arguments, &nobody, &Screen::none()).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.reason.as_str()),
            (Code::BINDING_MISSING, "`tenant_id` comes from your identity, which has no tenant")
        );
    }
}

#[test]
fn the_shape_is_judged_first_and_secrets_before_anything_is_said() {
    let gate = gate(&orders(), "bind.user_id = \"subject\"\ndefaults.limit = 20\nmax_bytes = \"1 KiB\"");
    let deep = (0..64).fold(json!(1), |inner, _| json!([inner]));
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n", "MC4CAQAw".repeat(8));
    for (arguments, wanted) in [
        (json!([]), Code::ARGUMENTS_MALFORMED),
        (json!("{}"), Code::ARGUMENTS_MALFORMED),
        (json!({"order_id": "x".repeat(1024), "user_id": "bob"}), Code::ARGUMENTS_SIZE),
        (json!({"order_id": deep, "user_id": "bob"}), Code::ARGUMENTS_SIZE),
        (json!({"order_id": vec![0; 10_000], "user_id": "bob"}), Code::ARGUMENTS_SIZE),
        (json!({"order_id": key, "user_id": "bob"}), Code::SECRET_ARGUMENT),
        (json!({"order_id": 1, "user_id": key}), Code::SECRET_ARGUMENT),
        (json!({"order_id": 1, "user_id": "bob"}), Code::BINDING_CONFLICT),
        (json!({"order_id": 1}), Code::ARGUMENTS_SCHEMA),
        (json!({"order_id": "ORD-123456", "limit": 101}), Code::ARGUMENTS_SCHEMA),
        (json!({"order_id": "ORD-123456", "User_id": "bob"}), Code::BINDING_CONFLICT),
    ] {
        assert_eq!(code(&gate, arguments.clone()), wanted, "{arguments}");
    }
    // Exactly as large, as deep and as many as they may be.
    let open = json!({"name": "t", "inputSchema": {}});
    let gate = self::gate(&open, "");
    let deepest = (0..63).fold(json!(1), |inner, _| json!([inner]));
    assert!(bind(&gate, json!({"a": deepest})).is_ok());
    assert!(bind(&gate, json!({"a": vec![0; 9_998]})).is_ok());
    assert_eq!(code(&gate, json!({"a": vec![0; 9_999]})), Code::ARGUMENTS_SIZE);
    assert!(bind(&gate, json!({"a": "x".repeat((256 << 10) - 8)})).is_ok());
    assert_eq!(code(&gate, json!({"a": "x".repeat((256 << 10) - 7)})), Code::ARGUMENTS_SIZE);
}

#[test]
fn what_passes_through_is_judged_all_the_same() {
    let rule = rule("bind.user_id = \"subject\"\ndefaults.limit = 20");
    let gate = ToolGate::new(&server(), &orders(), &rule, true).unwrap();
    assert_eq!(code(&gate, json!({"order_id": "ORD-123456", "user_id": "bob"})), Code::BINDING_CONFLICT);
    assert_eq!(code(&gate, json!({"order_id": "1"})), Code::ARGUMENTS_SCHEMA);
    assert_eq!(gate.shown()["inputSchema"]["properties"].get("user_id"), None);
}

#[test]
fn a_default_that_does_not_fit_is_refused_as_any_other_value() {
    let gate = gate(&orders(), "bind.user_id = \"subject\"\ndefaults.limit = 1000");
    assert_eq!(
        bind(&gate, json!({"order_id": "ORD-123456"})).unwrap_err().text(),
        "`limit` has to be at most 100 (correct the arguments and call again)"
    );
    assert!(bind(&gate, json!({"order_id": "ORD-123456", "limit": 5})).is_ok());
}

#[test]
fn a_digest_is_of_everything_that_makes_the_call_another_one() {
    let open = |name: &str| json!({"name": name, "inputSchema": {}});
    let digest = |server: &str, tool: &str, arguments: Value| {
        let gate = ToolGate::new(&ServerName::new(server).unwrap(), &open(tool), &ToolRule::default(), false)
            .unwrap();
        *bind(&gate, arguments).unwrap().digest()
    };
    let one = digest("shop", "t", json!({"a": true, "b": 1}));
    assert_eq!(
        one,
        digest("shop", "t", json::parse(br#"{"b":1.0,"a":true}"#).unwrap()),
        "spelling does not count"
    );
    let others = [
        digest("shop", "t", json!({"a": 1, "b": 1})),
        digest("shop", "t", json!({"a": true, "b": "1"})),
        digest("shop", "t", json!({"a": true})),
        digest("shop", "t", json!({"a": true, "b": 1, "c": null})),
        digest("shop2", "t", json!({"a": true, "b": 1})),
        digest("shop", "t2", json!({"a": true, "b": 1})),
    ];
    assert!(!others.contains(&one));
    assert_eq!(digest("shop", "t", json!({})), Digest::of(br#"{"arguments":{},"server":"shop","tool":"t"}"#));
    let object = Object { verb: Verb::GetPrompt, server: server(), name: "t".to_owned() };
    assert_eq!(
        *screened(object, json!({}), &Screen::none()).unwrap().digest(),
        Digest::of(br#"{"arguments":{},"name":"t","server":"shop","verb":"get_prompt"}"#)
    );
}

#[test]
fn what_has_no_schema_is_bounded_and_looked_through() {
    let object = || Object { verb: Verb::ReadResource, server: server(), name: "file:///a".to_owned() };
    let key = format!("AGE-SECRET-KEY-1{}", "Q".repeat(58));
    let refused = |arguments: Value| screened(object(), arguments, &Screen::none()).unwrap_err().code;
    assert_eq!(refused(json!({"uri": key})), Code::SECRET_ARGUMENT);
    assert_eq!(refused(json!({"uri": "x".repeat(300_000)})), Code::ARGUMENTS_SIZE);
    assert_eq!(refused(json!(["file:///a"])), Code::ARGUMENTS_MALFORMED);
    let bound = screened(object(), json!({"uri": "file:///a"}), &Screen::none()).unwrap();
    assert_eq!((bound.object(), bound.arguments().len()), (&object(), 1));
}

#[test]
fn nothing_of_the_arguments_is_in_a_log() {
    let gate = gate(&orders(), "bind.user_id = \"subject\"");
    let bound = bind(&gate, json!({"order_id": "ORD-123456", "limit": 77})).unwrap();
    let text = format!("{bound:?}");
    assert!(text.contains("shop") && !text.contains("123456") && !text.contains("77,"), "{text}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop_oneof![
            "[a-z]{0,4}",
            "ORD-[0-9]{5,11}",
            "\\PC{0,8}",
            Just("ann".to_owned()),
            Just("bob".to_owned())
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any_name(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("user_id".to_owned()),
        Just("order_id".to_owned()),
        Just("limit".to_owned()),
        Just("USER_ID".to_owned()),
        "[a-z]{1,3}",
    ]
}

proptest! {
    /// Whatever a model writes: no other caller's value reaches the tool, and nothing that the schema has not.
    #[test]
    fn never_does_another_value_reach_the_tool(
        arguments in prop::collection::btree_map(any_name(), any_json(), 0..5),
        honest: bool,
        subject in prop_oneof![Just("ann".to_owned()), "[a-z]{1,5}"],
    ) {
        let mut arguments: Map<String, Value> = arguments.into_iter().collect();
        if honest {
            arguments.insert("order_id".to_owned(), "ORD-1234567".into());
            arguments.retain(|name, value| matches!(name.as_str(), "order_id" | "user_id") || (name == "limit" && value.is_i64()));
        }
        let gate = gate(&orders(), "bind.user_id = \"claims.sub\"\ndefaults.limit = 20");
        let who = caller(json!({"sub": subject}));
        let given = arguments.clone();
        match gate.bind(Value::Object(arguments), &who, &Screen::none()) {
            Ok(bound) => {
                let arguments = bound.arguments();
                prop_assert_eq!(&arguments["user_id"], &json!(subject));
                prop_assert!(given.get("user_id").is_none_or(|given| *given == json!(subject)));
                let id = arguments["order_id"].as_str().unwrap();
                let digits = id.strip_prefix("ORD-").unwrap();
                prop_assert!((6..=10).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()));
                prop_assert!(arguments["limit"].as_i64().unwrap() <= 100);
                prop_assert!(arguments.keys().all(|name| matches!(name.as_str(), "limit" | "order_id" | "user_id")));
            }
            Err(refusal) => {
                if given.get("user_id").is_some_and(|given| *given != json!(subject)) {
                    prop_assert_eq!(refusal.code, Code::BINDING_CONFLICT);
                }
            }
        }
    }

    /// However the members stand in the text, they come to the same, and to what a reader of the first or of the last one of two
    /// equal keys would see, because there are none.
    #[test]
    fn never_does_the_order_of_members_matter(seed in 0_usize..24, double in any::<bool>()) {
        let members = [r#""order_id":"ORD-123456""#, r#""limit":3"#, r#""user_id":"ann""#, r#""user\u005fid":"bob""#];
        let mut rest: Vec<&str> = if double { members.to_vec() } else { members[..3].to_vec() };
        let (mut seed, mut text) = (seed, Vec::new());
        while !rest.is_empty() {
            text.push(rest.remove(seed % rest.len()));
            seed /= 2;
        }
        let parsed = json::parse(format!("{{{}}}", text.join(",")).as_bytes());
        prop_assert_eq!(parsed.is_err(), double);
        if let Ok(arguments) = parsed {
            let gate = gate(&orders(), "bind.user_id = \"claims.sub\"");
            let bound = bind(&gate, arguments).unwrap();
            prop_assert_eq!(Value::Object(bound.into_arguments()), json!({"limit": 3, "order_id": "ORD-123456", "user_id": "ann"}));
        }
    }
}
