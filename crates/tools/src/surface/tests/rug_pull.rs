//! What a server may change behind a person's back, and what is no change.

use super::*;

/// The parts as one document, so that a change is a pointer (RFC 6901) and a value.
fn document(parts: &Parts) -> Value {
    json!({
        "protocolVersion": parts.protocol_version,
        "serverInfo": parts.server_info,
        "capabilities": parts.capabilities,
        "instructions": parts.instructions,
        "tools": parts.tools,
        "prompts": parts.prompts,
        "resources": parts.resources,
        "resourceTemplates": parts.resource_templates,
    })
}

fn surface(document: &Value) -> Surface {
    let list = |key: &str| document[key].as_array().unwrap().clone();
    let surface = Surface::from_parts(Parts {
        profile: Profile::plain(),
        protocol_version: document["protocolVersion"].as_str().unwrap().to_owned(),
        server_info: document["serverInfo"].clone(),
        capabilities: document["capabilities"].clone(),
        instructions: document["instructions"].as_str().map(str::to_owned),
        tools: list("tools"),
        prompts: list("prompts"),
        resources: list("resources"),
        resource_templates: list("resourceTemplates"),
    });
    surface.unwrap()
}

/// What is changed, where, and to what; `null` takes it out.
fn changes() -> Vec<(&'static str, &'static str, Value)> {
    let schema = "/tools/0/inputSchema";
    let at = |place: &str| -> &'static str { format!("{schema}{place}").leak() };
    vec![
        ("description", "/tools/0/description", json!("Forecast for a city for the next three days")),
        ("description taken out", "/tools/0/description", Value::Null),
        ("title", "/tools/0/title", json!("forecast")),
        ("icon", "/tools/0/icons/0/src", json!("https://weather.example/icon2.png")),
        ("annotation", "/tools/0/annotations/readOnlyHint", json!(false)),
        ("annotation taken out", "/tools/0/annotations/readOnlyHint", Value::Null),
        ("annotation added", "/tools/0/annotations/destructiveHint", json!(true)),
        ("metadata", "/tools/0/_meta/example.com~1cost", json!(0.25)),
        ("parameter added", at("/properties/notes"), json!({ "type": "string" })),
        ("parameter taken out", at("/properties/city"), Value::Null),
        ("parameter's description", at("/properties/city/description"), json!("Its name, and a key.")),
        ("parameter's type", at("/properties/city/type"), json!("integer")),
        ("required parameter", at("/required/0"), json!("days")),
        (
            "schema, nested three deep",
            at("/properties/place/properties/at/properties/latitude/maximum"),
            json!(91),
        ),
        ("schema's definition", at("/$defs/days/enum/2"), json!(30)),
        ("schema's default", at("/properties/city/default"), json!("~/.ssh/id_ed25519")),
        ("schema closed", at("/additionalProperties"), json!(false)),
        ("output schema", "/tools/0/outputSchema/properties/text/type", json!(["string", "null"])),
        ("tool taken out", "/tools/1", Value::Null),
        ("tool renamed", "/tools/1/name", json!("list_towns")),
        ("tool added", "/tools/2", json!({ "name": "z", "inputSchema": { "type": "object" } })),
        ("instructions", "/instructions", json!("Ask for a city first.")),
        ("instructions taken out", "/instructions", Value::Null),
        ("server's version", "/serverInfo/version", json!("1.4.3")),
        ("server's icon", "/serverInfo/icons/0/src", json!("data:,x")),
        ("capability", "/capabilities/completions", json!({})),
        ("revision", "/protocolVersion", json!("2025-06-18")),
        ("prompt's text", "/prompts/0/description", json!("A briefing.")),
        ("prompt's argument", "/prompts/0/arguments/0/required", json!(false)),
        ("prompt added", "/prompts/1", json!({ "name": "other" })),
        ("resource", "/resources/0/uri", json!("file:///etc/passwd")),
        ("resource's type", "/resources/0/mimeType", json!("text/html")),
        ("resource taken out", "/resources/0", Value::Null),
        ("resource template", "/resourceTemplates/0/uriTemplate", json!("weather://station/{+id}")),
        ("resource template's name", "/resourceTemplates/0/name", json!("Station")),
        ("list emptied", "/prompts", json!([])),
    ]
}

fn apply(document: &mut Value, pointer: &str, value: Value) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(items) => {
            let index: usize = last.parse().unwrap();
            match (value, index < items.len()) {
                (Value::Null, _) => drop(items.remove(index)),
                (value, true) => items[index] = value,
                (value, false) => items.push(value),
            }
        }
        Value::Object(members) => {
            let key = last.replace("~1", "/");
            let before =
                if value.is_null() { members.remove(&key) } else { members.insert(key, value.clone()) };
            assert!(before != Some(value), "{pointer} changes nothing");
        }
        _ => panic!("{pointer} leads nowhere"),
    }
}

#[test]
fn every_change_changes_the_fingerprint() {
    let before = document(&parts());
    let mut seen = vec![("nothing", *surface(&before).fingerprint())];
    for (what, pointer, value) in changes() {
        let mut after = before.clone();
        apply(&mut after, pointer, value);
        let after = surface(&after);
        assert_eq!(after.quarantined(), [], "{what}");
        for (other, fingerprint) in &seen {
            assert_ne!(after.fingerprint(), fingerprint, "{what} looks like {other}");
        }
        seen.push((what, *after.fingerprint()));
    }
}

#[test]
fn the_client_profile_is_part_of_it() {
    let as_client = |profile: &str| {
        let parts = Parts { profile: profile.parse().unwrap(), ..parts() };
        *Surface::from_parts(parts).unwrap().fingerprint()
    };
    assert_ne!(as_client("plain"), as_client("roots"));
    assert_ne!(as_client("roots"), as_client("elicitation+roots"));
}

/// What is held back is noticed all the same when it changes, when it is mended, and when another takes its place.
#[test]
fn a_change_of_what_is_held_back_changes_the_fingerprint() {
    let held_back = |description: &str| {
        let broken = json!({ "name": "x", "description": description, "inputSchema": { "type": "array" } });
        let surface = Surface::from_parts(with_tools(vec![tool("a"), broken])).unwrap();
        assert_eq!(surface.quarantined()[0].reason, Reason::InputSchema);
        (*surface.fingerprint(), surface.short().to_owned())
    };
    let (one, other) = (held_back("one"), held_back("other"));
    assert!(one.0 != other.0 && one.1 != other.1);
    let without = Surface::from_parts(with_tools(vec![tool("a")])).unwrap();
    assert!(*without.fingerprint() != one.0 && without.short() != one.1);
}

/// Each is the second tool's text, spelled in another way.
#[test]
fn spelling_is_no_change() {
    let given = r#"{"name":"a\u0062","inputSchema":{"type":"object","maxProperties":10,"x":[0.5,100,"é/"]}}"#;
    for spelled in [
        r#"{"inputSchema":{"x":[0.5,100,"é/"],"maxProperties":10,"type":"object"},"name":"ab"}"#,
        "{ \"name\" : \"ab\",\r\n\t\"inputSchema\": { \"type\": \"object\", \"maxProperties\": 10, \"x\": [ 0.5, 100, \"é/\" ] } }",
        r#"{"name":"ab","inputSchema":{"type":"object","maxProperties":1e1,"x":[5E-1,100.00,"é/"]}}"#,
        r#"{"name":"ab","inputSchema":{"type":"object","maxProperties":10.0,"x":[0.50,1.0e+2,"\u00e9\/"]}}"#,
    ] {
        let of = |text: &str| {
            let tool = crate::json::parse(text.as_bytes()).unwrap();
            Surface::from_parts(with_tools(vec![tool, super::tool("z")])).unwrap()
        };
        let (given, spelled) = (of(given), of(spelled));
        assert_eq!(given.quarantined(), []);
        assert_eq!((given.fingerprint(), given.to_text()), (spelled.fingerprint(), spelled.to_text()));
    }
}

#[test]
fn the_order_of_lists_is_no_change() {
    let mut document = document(&parts());
    for (list, more) in [
        ("tools", tool("another")),
        ("prompts", json!({ "name": "another" })),
        ("resources", json!({ "uri": "a:b" })),
        ("resourceTemplates", json!({ "uriTemplate": "a:{b}" })),
    ] {
        document[list].as_array_mut().unwrap().push(more);
    }
    let before = surface(&document);
    for list in ["tools", "prompts", "resources", "resourceTemplates"] {
        document[list].as_array_mut().unwrap().reverse();
        assert_eq!(surface(&document), before);
    }
}
