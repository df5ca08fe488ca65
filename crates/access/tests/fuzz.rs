//! Fuzz targets of what strangers write: arguments of a call, and the schema they are held against. In an ordinary run they replay their
//! corpus (`__fuzz__/…/corpus`) and try some thousand inputs; `cargo bolero test arguments` goes on from there.

#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::panic::AssertUnwindSafe;
use std::path::Path;

use access::principal::Principal;
use access::{Code, Screen, ToolGate};
use model::config::{Operator, ToolRule};
use model::name::ServerName;
use serde_json::{Value, json};

fn gate() -> ToolGate {
    let file = b"[servers.shop]\ncommand = [\"shop\"]\n[servers.shop.tools.t]\nbind.user_id = \"subject\"\ndefaults.limit = 3";
    let operator = Operator::resolve("config.toml", file, None).unwrap();
    let server = ServerName::new("shop").unwrap();
    let rule = operator.servers().get(&server).unwrap().tools().get("t").unwrap();
    let tool = json!({"name": "t", "inputSchema": {
        "type": "object",
        "properties": {
            "user_id": {"type": "string"},
            "limit": {"type": "integer", "minimum": 0},
            "id": {"type": "string", "pattern": "^ORD-[0-9]{6,10}$"},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "required": ["user_id"],
        "additionalProperties": false,
        "$defs": {"tree": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/tree"}}]}},
    }});
    ToolGate::new(&server, &tool, rule, false).unwrap()
}

/// What is bound is the caller's, whatever the bytes are, and what is bound once is bound again to the same.
fn one_call(gate: &ToolGate, input: &[u8]) {
    let who = Principal::local("ann");
    let Ok(arguments) = model::json::parse(input) else { return };
    match gate.bind(arguments.clone(), &who, &Screen::none()) {
        Ok(bound) => {
            assert_eq!(bound.arguments().get("user_id"), Some(&json!("ann")));
            // `3.0` is a whole number as well (JSON Schema 2020-12, section 4.2.3).
            let limit = bound.arguments().get("limit").and_then(Value::as_f64).unwrap();
            assert!(limit >= 0.0 && limit.fract() == 0.0);
            let digest = *bound.digest();
            let again = gate.bind(Value::Object(bound.into_arguments()), &who, &Screen::none()).unwrap();
            assert_eq!(*again.digest(), digest);
        }
        Err(refusal) => {
            assert!(!refusal.reason.is_empty() && refusal.reason.len() < 4_000 && !refusal.hidden);
            if refusal.code == Code::BINDING_CONFLICT {
                assert!(arguments.get("user_id").is_some_and(|given| *given != json!("ann")));
            }
        }
    }
}

/// A schema that is taken can be held against anything.
fn one_schema(input: &[u8]) {
    let Ok(schema) = model::json::parse(input) else { return };
    let tool = json!({"name": "t", "inputSchema": schema});
    let server = ServerName::new("shop").unwrap();
    match ToolGate::new(&server, &tool, &ToolRule::default(), false) {
        Ok(gate) => {
            for arguments in [json!(null), json!({"a": {"a": [1, "x", {"b": null}]}, "b": [[]]}), schema] {
                drop(gate.bind(arguments, &Principal::local("ann"), &Screen::none()));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}

/// The whole of it, so that a closure takes no more than what unwinds safely.
fn within(gate: &AssertUnwindSafe<ToolGate>) -> &ToolGate {
    gate
}

#[test]
fn arguments() {
    let gate = AssertUnwindSafe(gate());
    bolero::check!()
        .with_iterations(4_000)
        .with_max_len(4_096)
        .for_each(|input: &[u8]| one_call(within(&gate), input));
}

#[test]
fn schemas() {
    bolero::check!().with_iterations(2_000).with_max_len(4_096).for_each(|input: &[u8]| one_schema(input));
}

/// Without this, an empty folder would pass for a replayed corpus.
#[test]
fn the_targets_have_a_corpus() {
    let gate = gate();
    for target in ["arguments", "schemas"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/__fuzz__/{target}/corpus"));
        let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 5);
        for file in files {
            let bytes = std::fs::read(file).unwrap();
            if target == "arguments" { one_call(&gate, &bytes) } else { one_schema(&bytes) }
        }
    }
}
