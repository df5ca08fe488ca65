//! What is held back entry by entry, and what has no surface at all; each bound at its edge.

use super::*;

fn reason(tool: Value) -> Option<Reason> {
    let surface = Surface::from_parts(with_tools(vec![super::tool("other"), tool.clone()])).unwrap();
    let held_back = surface.quarantined();
    assert_eq!(surface.tools().len() + held_back.len(), 2);
    assert!(surface.tools().iter().any(|tool| tool["name"] == "other"));
    let short = crate::fingerprint::short_form(&[super::tool("other"), tool]).unwrap();
    assert_eq!(surface.short(), short);
    held_back.first().map(|held_back| held_back.reason)
}

#[expect(clippy::needless_pass_by_value, reason = "so that the value can be written where it is handed over")]
fn with(schema: Value) -> Value {
    json!({ "name": "x", "inputSchema": schema })
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({ "type": "object" }), |inner, _| json!({ "type": "object", "x": inner }))
}

#[test]
fn a_schema_that_cannot_be_used_holds_its_tool_back() {
    let draft = |uri: &str, more: Value| {
        let mut schema = json!({ "$schema": uri, "type": "object" });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        with(schema)
    };
    let (input, remote) = (Some(Reason::InputSchema), Some(Reason::RemoteReference));
    let output = |schema| json!({ "name": "x", "inputSchema": { "type": "object" }, "outputSchema": schema });
    for (tool, wanted) in [
        (with(json!({ "type": "object" })), None),
        (with(json!({ "type": "object", "properties": { "a": true, "b": false, "$ref": {} } })), None),
        (with(json!({ "type": "object", "properties": { "a": { "prefixItems": [{ "const": 1 }] } } })), None),
        (
            with(
                json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": {} } }),
            ),
            None,
        ),
        (
            with(
                json!({ "type": "object", "properties": { "a": { "$ref": "#a" } }, "$defs": { "x": { "$anchor": "a" } } }),
            ),
            None,
        ),
        (with(json!({ "type": "object", "properties": { "a": { "$ref": "#" } } })), None),
        (
            with(json!({ "type": "object", "properties": { "a": { "pattern": "^(?=x)[\\w-]{1,64}$" } } })),
            None,
        ),
        (
            draft(
                "http://json-schema.org/draft-07/schema#",
                json!({ "properties": { "a": { "items": [{}] } } }),
            ),
            None,
        ),
        (
            draft(
                "http://json-schema.org/draft-04/schema#",
                json!({ "properties": { "a": { "maximum": 1, "exclusiveMaximum": true } } }),
            ),
            None,
        ),
        (draft("https://json-schema.org/draft/2020-12/schema", json!({})), None),
        (draft("https://json-schema.org/draft/2019-09/schema", json!({})), None),
        (json!({ "name": "x" }), input),
        (with(Value::Null), input),
        (with(json!(true)), input),
        (with(json!({})), input),
        (with(json!({ "type": "array" })), input),
        (with(json!({ "type": ["object", "null"] })), input),
        (with(json!({ "type": "object", "properties": [] })), input),
        (with(json!({ "type": "object", "properties": { "a": { "type": "strin" } } })), input),
        (with(json!({ "type": "object", "required": "a" })), input),
        (with(json!({ "type": "object", "properties": { "a": { "exclusiveMaximum": true } } })), input),
        (with(json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } } })), input),
        (with(json!({ "type": "object", "properties": { "a": { "pattern": "(" } } })), input),
        (
            with(json!({ "type": "object", "properties": { "a": { "pattern": "(?:[^a]{1000}){1000}" } } })),
            input,
        ),
        (draft("https://example.com/schema", json!({})), input),
        (with(json!({ "type": "object", "$schema": 1 })), input),
        (with(json!({ "type": "object", "$ref": "https://evil.example/schema.json" })), remote),
        (
            with(
                json!({ "type": "object", "properties": { "a": { "anyOf": [{ "$ref": "file:///etc/passwd" }] } } }),
            ),
            remote,
        ),
        (with(json!({ "type": "object", "$defs": { "a": { "$dynamicRef": "other.json#a" } } })), remote),
        (with(json!({ "type": "object", "allOf": [[{ "$ref": "//evil.example" }]] })), remote),
        (output(json!({ "type": "object" })), None),
        (output(json!({ "type": "string" })), Some(Reason::OutputSchema)),
        (output(json!({ "type": "object", "properties": 1 })), Some(Reason::OutputSchema)),
        (output(json!({ "type": "object", "$ref": "a.json" })), remote),
    ] {
        assert_eq!(reason(tool.clone()), wanted, "{tool}");
    }
}

#[test]
fn each_bound_of_an_entry_holds_it_back() {
    let text = |len: usize| json!({ "name": "x", "description": "é".repeat(len / 2), "inputSchema": { "type": "object" } });
    let key = |len: usize| json!({ "name": "x", "_meta": { "k".repeat(len): 1 }, "inputSchema": { "type": "object" } });
    let empty = json!({ "name": "x", "_meta": ["", "", "", "", ""], "inputSchema": { "type": "object" } })
        .to_string()
        .len();
    let size = |len: usize| {
        let text = |len: usize| "x".repeat(len);
        let (most, rest) = (MAX_TEXT, len - empty - 3 * MAX_TEXT);
        json!({ "name": "x", "_meta": [text(most), text(most), text(most), text(rest / 2), text(rest - rest / 2)],
            "inputSchema": { "type": "object" } })
    };
    for (tool, wanted) in [
        (text(MAX_TEXT), None),
        (text(MAX_TEXT + 2), Some(Reason::Text)),
        (text(5 << 20), Some(Reason::Text)),
        (key(MAX_TEXT), None),
        (key(MAX_TEXT + 1), Some(Reason::Text)),
        (size(MAX_ENTRY), None),
        (size(MAX_ENTRY + 1), Some(Reason::Size)),
        (with(nested(MAX_DEPTH)), None),
        (with(nested(MAX_DEPTH + 1)), Some(Reason::Depth)),
    ] {
        assert_eq!(reason(tool.clone()), wanted, "{:.100}", tool.to_string());
    }
}

#[test]
fn a_name_that_cannot_be_used_holds_its_entry_back() {
    let long = |len: usize| json!("é".repeat(len));
    let held_back = Some(Reason::Name);
    for (name, wanted) in [
        (long(MAX_NAME), None),
        (json!("get forecast/世界"), None),
        (long(MAX_NAME + 1), held_back),
        (json!(""), held_back),
        (json!("a\nb"), held_back),
        (json!("a\u{9b}31m"), held_back),
        (json!(1), held_back),
        (Value::Null, held_back),
    ] {
        assert_eq!(
            reason(json!({ "name": name, "inputSchema": { "type": "object" } })),
            wanted,
            "{name:.40}"
        );
    }
    assert_eq!(reason(json!({ "inputSchema": { "type": "object" } })), held_back);
    let uri = |len: usize| json!({ "uri": "x".repeat(len) });
    let other = Parts {
        prompts: vec![json!({ "name": "a\u{7f}" }), json!({ "name": "a" })],
        resources: vec![uri(MAX_URI), uri(MAX_URI + 1)],
        resource_templates: vec![json!({ "name": "no template" })],
        ..parts()
    };
    let surface = Surface::from_parts(other).unwrap();
    let held_back: Vec<(Kind, usize)> =
        surface.quarantined().iter().map(|entry| (entry.kind, entry.name.chars().count())).collect();
    assert_eq!(held_back, [(Kind::Prompt, 2), (Kind::Resource, MAX_NAME), (Kind::ResourceTemplate, 0)]);
    assert_eq!((surface.prompts().len(), surface.resources().len()), (1, 1));
}

#[test]
fn two_entries_of_one_name_have_no_surface() {
    let broken = json!({ "name": "a", "inputSchema": 1 });
    for tools in
        [vec![tool("a"), tool("b"), tool("a")], vec![tool("a"), broken.clone()], vec![broken.clone(), broken]]
    {
        let error = Surface::from_parts(with_tools(tools)).unwrap_err();
        assert_eq!(error, SurfaceError::Duplicate { kind: Kind::Tool, name: "a".to_owned() });
    }
    let resource = json!({ "uri": "a:b", "name": "one" });
    let twice = Parts { resources: vec![resource, json!({ "uri": "a:b" })], ..parts() };
    assert!(matches!(Surface::from_parts(twice), Err(SurfaceError::Duplicate { kind: Kind::Resource, .. })));
    // Names that only look alike, and one name in two lists, are several names.
    let tools = vec![tool("a"), tool("A"), tool("a "), tool("briefing")];
    assert_eq!(Surface::from_parts(with_tools(tools)).unwrap().tools().len(), 4);
}

#[test]
fn too_many_entries_have_no_surface() {
    let prompts = |count: usize| {
        let prompts = (0..count).map(|number| json!({ "name": format!("p{number}") })).collect();
        Surface::from_parts(Parts { prompts, ..parts() })
    };
    assert_eq!(prompts(MAX_ENTRIES).unwrap().prompts().len(), MAX_ENTRIES);
    assert_eq!(prompts(MAX_ENTRIES + 1), Err(SurfaceError::TooManyEntries(Kind::Prompt)));
    assert_eq!(prompts(10_000), Err(SurfaceError::TooManyEntries(Kind::Prompt)));
}

#[test]
fn too_much_text_has_no_surface() {
    let prompts = |count: usize| {
        let text = "x".repeat(MAX_TEXT - 100);
        let prompts =
            (0..count).map(|number| json!({ "name": number.to_string(), "description": text })).collect();
        Surface::from_parts(Parts { prompts, ..parts() })
    };
    assert!(prompts(MAX_SURFACE / MAX_TEXT - 1).is_ok());
    assert_eq!(prompts(MAX_SURFACE / MAX_TEXT + 1), Err(SurfaceError::TooLarge));
}

/// Two bytes in canonical JSON, and a line of its own with a long indent in the stored text.
#[test]
fn what_would_be_too_long_a_file_has_no_surface() {
    let prompts = |count: usize| {
        let ones = Value::Array(vec![json!(1); 60_000]);
        let deep = (0..MAX_DEPTH - 4).fold(ones, |inner, _| json!([inner]));
        let prompts = (0..count).map(|number| json!({ "name": number.to_string(), "_meta": deep })).collect();
        Surface::from_parts(Parts { prompts, ..parts() })
    };
    let surface = prompts(3).unwrap();
    assert_eq!(surface.prompts().len(), 3);
    assert!(surface.to_text().len() < MAX_STORED && surface.to_text().len() * 2 > MAX_STORED);
    assert_eq!(prompts(6), Err(SurfaceError::TooLarge));
    let long = Surface::from_text(&vec![b' '; MAX_STORED + 1]).unwrap_err();
    assert!(matches!(long, SurfaceError::Stored(_)));
}

#[test]
fn what_stands_before_the_lists_is_bounded_too() {
    let long = "x".repeat(MAX_TEXT + 1);
    let head = |change: fn(&mut Parts, String)| {
        let mut parts = parts();
        change(&mut parts, long.clone());
        Surface::from_parts(parts).unwrap_err()
    };
    for (error, said) in [
        (head(|parts, long| parts.instructions = Some(long)), "instructions are longer than 64 KiB"),
        (head(|parts, long| parts.server_info["name"] = json!(long)), "`serverInfo` has a text longer"),
        (
            head(|parts, long| parts.capabilities["experimental"] = json!({ long: {} })),
            "`capabilities` has a text",
        ),
        (head(|parts, _| parts.capabilities["experimental"] = nested(MAX_DEPTH)), "nested deeper"),
        (head(|parts, _| parts.server_info = json!("x")), "`serverInfo` is no object"),
        (head(|parts, long| parts.protocol_version = long), "`protocolVersion` is no revision"),
        (head(|parts, _| parts.tools.push(json!([]))), "an entry of `tools` is no object"),
    ] {
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.hint().is_empty());
    }
}
