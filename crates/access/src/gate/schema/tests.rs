use proptest::prelude::*;
use serde_json::json;

use super::*;

fn check(schema: &Value, arguments: &Value) -> Result<(), Wrong> {
    let bounded = crate::arguments::bounded(arguments.clone(), u64::MAX).unwrap();
    let mut members = bounded.members;
    let result = Schema::new(schema).unwrap().check(&mut members, bounded.size);
    assert_eq!(Value::Object(members), *arguments, "arguments are as before");
    result
}

fn text(schema: &Value, arguments: &Value) -> String {
    match check(schema, arguments) {
        Ok(()) => "fits".to_owned(),
        Err(Wrong::Unfit { text, .. }) => text,
        Err(Wrong::TooMuch(text)) => text.to_owned(),
    }
}

fn refused(schema: &Value) -> String {
    Schema::new(schema).unwrap_err().to_string()
}

#[test]
fn faults_say_where_and_what_is_wanted_and_nothing_of_what_was_given() {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^ORD-[0-9]{6,10}$"},
            "kind": {"enum": ["a", "b", 3]},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "note": {"type": ["string", "null"], "maxLength": 3},
            "tags": {"type": "array", "items": {"type": "string", "minLength": 2}, "uniqueItems": true, "maxItems": 2},
            "where": {"type": "object", "required": ["city"], "properties": {"city": {"const": "Bern"}}, "additionalProperties": false},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    for (arguments, wanted) in [
        (json!({"id": "ORD-123456"}), "fits"),
        (json!({}), "`id` is missing"),
        (json!({"id": "ORD-12345"}), "`id` has to match `^ORD-[0-9]{6,10}$`"),
        (json!({"id": "ORD-123456' OR '1'='1"}), "`id` has to match `^ORD-[0-9]{6,10}$`"),
        (json!({"id": "ORD-123456\n"}), "`id` has to match `^ORD-[0-9]{6,10}$`"),
        (json!({"id": "ORD-１２３４５６"}), "`id` has to match `^ORD-[0-9]{6,10}$`"),
        (json!({"id": 7}), "`id` has to be of type string"),
        (json!({"id": "ORD-123456", "kind": "secret"}), "`kind` has to be one of \"a\", \"b\", 3"),
        (json!({"id": "ORD-123456", "count": 1.5}), "`count` has to be of type integer"),
        (json!({"id": "ORD-123456", "count": true}), "`count` has to be of type integer"),
        (json!({"id": "ORD-123456", "count": 10}), "`count` has to be at most 9"),
        (json!({"id": "ORD-123456", "note": "geheim"}), "`note` may have at most 3 characters"),
        (json!({"id": "ORD-123456", "tags": ["ab", "x"]}), "`tags[1]` needs at least 2 characters"),
        (json!({"id": "ORD-123456", "tags": ["ab", "ab"]}), "`tags` has an item twice"),
        (json!({"id": "ORD-123456", "where": {}}), "`where.city` is missing"),
        (json!({"id": "ORD-123456", "where": {"city": "Ulm"}}), "`where.city` has to be \"Bern\""),
        (json!({"id": "ORD-123456", "where": {"city": "Bern", "zip": 1}}), "`where.zip` is not known"),
        (
            json!({"id": "ORD-123456", "either": []}),
            "`either` fits none of the alternatives that the schema has",
        ),
        (
            json!({"id": "ORD-123456", "user_id": "bob"}),
            "`user_id` is not known; there are `count`, `either`, `id`, `kind`, `note`, `tags`, `where`",
        ),
        (json!({"id": 1, "count": 0}), "`count` has to be at least 1; `id` has to be of type string"),
    ] {
        assert_eq!(text(&schema, &arguments), wanted, "{arguments}");
    }
}

#[test]
fn formats_are_no_reason() {
    let schema =
        json!({"properties": {"at": {"type": "string", "format": "date-time"}, "mail": {"format": "email"}}});
    assert_eq!(text(&schema, &json!({"at": "tomorrow", "mail": "nobody"})), "fits");
}

#[test]
fn a_schema_of_an_older_draft_means_what_its_draft_says() {
    let tuple = |draft: &str| json!({"$schema": draft, "properties": {"pair": {"items": [{"type": "string"}, {"type": "integer"}]}}});
    let wrong = json!({"pair": [1, "a"]});
    assert_ne!(text(&tuple("http://json-schema.org/draft-07/schema#"), &wrong), "fits");
    let schema = json!({"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"n": {"maximum": 3, "exclusiveMaximum": true}}});
    assert_eq!(text(&schema, &json!({"n": 3})), "`n` has to be less than 3");
    let schema = json!({"properties": {"pair": {"prefixItems": [{"type": "string"}], "items": false}}});
    assert_ne!(text(&schema, &json!({"pair": ["a", 1]})), "fits");
}

#[test]
fn what_is_in_the_schema_can_be_referred_to_in_every_way() {
    let id = "https://example.com/schema";
    for reference in
        ["#/$defs/id", "#/%24defs/id", "#id", "#/$defs/a~1b", "https://example.com/schema#/$defs/id"]
    {
        let named = json!({"type": "string", "$anchor": "id"});
        let schema = json!({
            "$id": id,
            "properties": {"x": {"$ref": reference}, "y": {"$dynamicRef": "#dynamic"}, "self": {"$ref": "#"}},
            "$defs": {"id": named, "a/b": {"type": "string"}, "d": {"$dynamicAnchor": "dynamic", "type": "integer"}},
        });
        assert_eq!(text(&schema, &json!({"x": "a", "y": 1, "self": {"x": "b"}})), "fits", "{reference}");
        assert_eq!(text(&schema, &json!({"x": 1})), "`x` has to be of type string", "{reference}");
        assert_eq!(
            text(&schema, &json!({"self": {"x": 1}})),
            "`self.x` has to be of type string",
            "{reference}"
        );
        assert_eq!(text(&schema, &json!({"y": "1"})), "`y` has to be of type integer", "{reference}");
    }
}

#[test]
fn what_is_not_in_the_schema_is_not_fetched() {
    for reference in [
        "https://example.com/other.json",
        "http://127.0.0.1:1/x",
        "file:///etc/passwd",
        "other.json",
        "#/$defs/none",
        "#none",
        "#/properties/x/$ref",
        "https://json-schema.org/draft/2020-12/schema",
        "",
    ] {
        let schema = json!({"properties": {"x": {"$ref": reference}}});
        assert_eq!(refused(&schema), format!("`inputSchema` refers to `{reference}`, which is not in it"));
    }
    let inner = json!({"$defs": {"x": {"$id": "https://example.com/x", "type": "string"}}});
    assert_eq!(refused(&inner), "`inputSchema` has a schema with an id of its own in it");
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    for (schema, place) in [
        (json!({"type": "objekt"}), "/type"),
        (json!({"properties": {"a": {"minLength": -1}}}), "/properties/a/minLength"),
        (json!({"properties": []}), "/properties"),
        (json!({"required": "a"}), "/required"),
        (json!({"properties": {"a": {"pattern": "("}}}), "/properties/a/pattern"),
    ] {
        let told = refused(&schema);
        assert!(told.starts_with("`inputSchema` is not a schema: ") && told.contains(place), "{told}");
    }
}

#[test]
fn a_circle_of_schemas_for_one_value_is_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
    ] {
        assert_eq!(
            refused(&schema),
            "`inputSchema` has too many schemas for one value, one reached from the other"
        );
    }
}

/// Each schema holds two of the next against the value: a thousand lines, and 2^500 ways through them.
fn doubling(levels: usize, inside: bool) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let next = if inside { json!({"properties": {"a": next}}) } else { next };
        defs.insert(format!("d{level}"), json!({"anyOf": [next.clone(), next]}));
    }
    defs.insert(format!("d{levels}"), json!({"required": ["none"]}));
    json!({"$ref": "#/$defs/d0", "$defs": defs})
}

#[test]
fn a_schema_that_takes_years_takes_no_time() {
    let told = "holding so many arguments against the tool's schema would take too long";
    assert_eq!(text(&doubling(29, false), &json!({"a": 1})), told);
    assert_eq!(
        refused(&doubling(40, false)),
        "`inputSchema` has too many schemas for one value, one reached from the other"
    );
    let mut nested = json!({});
    for _ in 0..60 {
        nested = json!({"a": nested});
    }
    let itself = json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": ["x"]}, {"properties": {"a": {"$ref": "#"}}, "required": ["y"]}]});
    let deep = "the arguments have too many levels for what the tool's schema is";
    assert_eq!(text(&doubling(35, true), &nested), told);
    assert_eq!(text(&doubling(60, true), &nested), deep);
    assert_eq!(text(&itself, &nested), deep);
    assert_eq!(text(&itself, &json!({"a": {"a": {"x": 1}, "x": 1}, "y": 1})), "fits");
    // The two halves of a tree are held against the schema once each.
    let tree =
        json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "value": {"type": "integer"}}});
    let mut nested = json!({"value": 1});
    for _ in 0..60 {
        nested = json!({"left": nested, "right": {"value": 2}});
    }
    assert_eq!(text(&tree, &nested), "fits");
}

#[test]
fn a_pattern_never_takes_long() {
    let long = "a".repeat(200_000) + "!";
    let schema = json!({"properties": {"x": {"pattern": "^(a+)+$"}}});
    assert_eq!(text(&schema, &json!({"x": long})), "`x` has to match `^(a+)+$`");
    // Look-around needs the other engine, which stops instead.
    let schema = json!({"properties": {"x": {"pattern": "^(?=a)(a+)+\\1$"}}});
    assert_ne!(text(&schema, &json!({"x": "a".repeat(60) + "!"})), "fits");
    let schema = json!({"properties": {"x": {"pattern": "^(?!-)[a-z-]+$"}}});
    assert_eq!(
        (text(&schema, &json!({"x": "a-b"})), text(&schema, &json!({"x": "-b"}))),
        ("fits".to_owned(), "`x` has to match `^(?!-)[a-z-]+$`".to_owned())
    );
    // Ten thousand patterns against a long text are counted as what they are.
    let patterns: Map<String, Value> =
        (0..3_000).map(|number| (format!("^{number}x*$"), json!({"pattern": "b$"}))).collect();
    let many: Map<String, Value> =
        (0..3_000).map(|number| (format!("{number}x"), json!("a".repeat(60)))).collect();
    let schema = json!({"patternProperties": patterns});
    assert_eq!(
        text(&schema, &Value::Object(many)),
        "holding so many arguments against the tool's schema would take too long"
    );
}

#[test]
fn the_deepest_arguments_that_are_judged_fit_on_a_small_stack() {
    // Half of what a thread has that nobody gave more: whoever calls needs some of it.
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let run = small.spawn(|| {
        // As many schemas in a row as one level may have, for as many levels.
        for chain in [1, 8, 30, 60] {
            let mut schema = json!({"properties": {"a": {"$ref": "#"}}});
            for _ in 0..chain {
                schema = json!({"anyOf": [schema]});
            }
            let schema = Schema::new(&schema).unwrap();
            for depth in 1..=MAX_DEPTH {
                let mut members = json!({});
                for _ in 1..depth {
                    members = json!({"a": members});
                }
                let mut members = members.as_object().unwrap().clone();
                let checked = schema.check(&mut members, Size { values: depth, depth, bytes: 500 });
                assert_eq!(checked.is_ok(), depth * schema.chain <= MAX_NESTED, "{chain} {depth}");
            }
        }
    });
    run.unwrap().join().unwrap();
}

#[test]
fn a_pattern_that_would_take_much_memory_is_refused() {
    let told = "`inputSchema` has patterns that take much memory";
    for pattern in ["(([a-z]{100}){100}){101}", "^x?.{0,4046000}$"] {
        assert_eq!(refused(&json!({"properties": {"x": {"pattern": pattern}}})), told);
        assert_eq!(refused(&json!({"patternProperties": {pattern: true}})), told);
    }
    let many: Map<String, Value> = (0..300)
        .map(|number| (number.to_string(), json!({"pattern": format!("{number}.{{4000}}")})))
        .collect();
    assert_eq!(refused(&json!({"properties": many})), told);
    let compiled = refused(&json!({"properties": {"x": {"pattern": "^x?.{0,404600}$"}}}));
    assert!(compiled.contains("/properties/x/pattern"), "{compiled}");
    for pattern in ["^.{1,5000}$", "^[\\w \\-]{1,2000}$", "^\\p{L}{1,50}$"] {
        assert_eq!(
            text(&json!({"properties": {"x": {"pattern": pattern}}}), &json!({"x": "ab"})),
            "fits",
            "{pattern}"
        );
    }
}

fn any_schema() -> impl Strategy<Value = Value> {
    let reference = prop_oneof![
        Just("#"),
        Just("#/$defs/a"),
        Just("#/$defs/b"),
        Just("#anchor"),
        Just("#/properties/a"),
        Just("#/nowhere")
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec!["string", "object", "array", "integer", "null"])
            .prop_map(|kind| json!({"type": kind})),
        reference.prop_map(|reference| json!({"$ref": reference})),
        prop::sample::select(vec!["^a+$", "(?!a)b", "(a|aa)+$", "[", "\\p{L}", "^.{0,9}$"])
            .prop_map(|pattern| json!({"pattern": pattern})),
        prop_oneof![
            Just(json!({"const": {"a": 1}})),
            Just(json!({"enum": ["a", 1, null]})),
            Just(json!({"required": ["a"]}))
        ],
        Just(json!({"$anchor": "anchor", "minLength": 1})),
        Just(json!({"uniqueItems": true, "contains": {"type": "integer"}})),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let one = prop::sample::select(vec![
            "not",
            "if",
            "then",
            "else",
            "items",
            "additionalProperties",
            "unevaluatedProperties",
            "unevaluatedItems",
            "propertyNames",
            "contains",
        ]);
        let several = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let named =
            prop::sample::select(vec!["properties", "$defs", "dependentSchemas", "patternProperties"]);
        let keyword = prop_oneof![
            (one, inner.clone()).prop_map(|(keyword, schema)| (keyword, schema)),
            (several, prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(keyword, all)| (keyword, Value::from(all))),
            (named, prop::collection::btree_map("[ab]", inner, 1..3))
                .prop_map(|(keyword, all)| (keyword, Value::Object(all.into_iter().collect()))),
        ];
        prop::collection::vec(keyword, 1..4).prop_map(|all| {
            Value::Object(all.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect())
        })
    })
}

fn any_arguments() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<u8>().prop_map(Value::from), "[ab]{0,3}".prop_map(Value::from)];
    let inner = leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|all| Value::Object(all.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    /// Whatever somebody writes for a schema: it is refused, or it judges as a validator does that has no bounds.
    #[test]
    fn a_schema_is_refused_or_means_what_it_says(schema in any_schema(), all in prop::collection::vec(any_arguments(), 4)) {
        prop_assume!(schema.is_object());
        let Ok(ours) = Schema::new(&schema) else { return Ok(()) };
        let plain = jsonschema::options().should_validate_formats(false).build(&schema).unwrap();
        for arguments in all {
            let bounded = crate::arguments::bounded(arguments.clone(), u64::MAX).unwrap();
            let mut members = bounded.members;
            match ours.check(&mut members, bounded.size) {
                Ok(()) => prop_assert!(plain.is_valid(&arguments)),
                Err(Wrong::Unfit { text, .. }) => {
                    prop_assert!(!plain.is_valid(&arguments));
                    prop_assert!(!text.is_empty() && text.len() < 4_000);
                }
                Err(Wrong::TooMuch(_)) => {}
            }
            prop_assert_eq!(Value::Object(members), arguments);
        }
    }
}
