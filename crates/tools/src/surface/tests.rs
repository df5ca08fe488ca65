use serde_json::json;

use super::*;

mod bounds;
mod properties;
mod rug_pull;
mod stored;

/// A server with something of everything.
fn parts() -> Parts {
    Parts {
        profile: Profile::plain(),
        protocol_version: "2025-11-25".to_owned(),
        server_info: json!({ "name": "weather", "title": "Weather", "version": "1.4.2", "icons": [{ "src": "data:," }] }),
        capabilities: json!({ "tools": { "listChanged": true }, "prompts": {}, "resources": {} }),
        instructions: Some("Ask for a city.".to_owned()),
        tools: vec![
            json!({
                "name": "get_forecast",
                "title": "Forecast",
                "description": "Forecast for a city for the next three days.",
                "icons": [{ "src": "https://weather.example/icon.png", "sizes": ["48x48"] }],
                "annotations": { "readOnlyHint": true },
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "city": { "type": "string", "description": "Its name." },
                        "days": { "$ref": "#/$defs/days" },
                        "place": { "type": "object", "properties": {
                            "at": { "type": "object", "properties": { "latitude": { "type": "number", "maximum": 90 } } }
                        } }
                    },
                    "required": ["city"],
                    "$defs": { "days": { "type": "integer", "enum": [1, 2, 3] } }
                },
                "outputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
                "_meta": { "example.com/cost": 0.5 }
            }),
            json!({ "name": "list_cities", "inputSchema": { "type": "object" } }),
        ],
        prompts: vec![json!({
            "name": "briefing",
            "description": "A briefing for the day.",
            "arguments": [{ "name": "city", "description": "Where", "required": true }]
        })],
        resources: vec![json!({ "uri": "weather://stations", "name": "stations", "mimeType": "text/csv" })],
        resource_templates: vec![json!({ "uriTemplate": "weather://station/{id}", "name": "station" })],
    }
}

fn with_tools(tools: Vec<Value>) -> Parts {
    Parts { tools, ..parts() }
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

#[test]
fn everything_is_there_in_order() {
    let surface = Surface::from_parts(Parts {
        tools: vec![tool("\u{fb33}"), tool("b"), tool("a"), tool("😀")],
        ..parts()
    })
    .unwrap();
    let names: Vec<&str> = surface.tools().into_iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "😀", "\u{fb33}"]);
    assert_eq!((surface.protocol_version(), surface.instructions()), ("2025-11-25", Some("Ask for a city.")));
    assert_eq!(surface.server_info()["version"], "1.4.2");
    assert_eq!(surface.capabilities()["tools"]["listChanged"], true);
    assert_eq!(surface.prompts()[0]["arguments"][0]["name"], "city");
    assert_eq!(surface.resources()[0]["uri"], "weather://stations");
    assert_eq!(surface.resource_templates()[0]["name"], "station");
    assert_eq!((surface.client(), surface.quarantined()), (&Profile::plain(), &[][..]));
}

/// Whoever writes this program anew gets the same digest from the same text.
#[expect(clippy::string_slice, reason = "all of it is ASCII")]
#[test]
fn the_fingerprint_is_over_the_stored_form() {
    let surface = Surface::from_parts(Parts {
        instructions: None,
        server_info: json!({ "name": "x" }),
        capabilities: json!({ "tools": {} }),
        tools: vec![tool("b"), tool("a")],
        prompts: Vec::new(),
        resources: Vec::new(),
        resource_templates: Vec::new(),
        ..parts()
    })
    .unwrap();
    let tools =
        r#"[{"inputSchema":{"type":"object"},"name":"a"},{"inputSchema":{"type":"object"},"name":"b"}]"#;
    let short = &model::digest::Digest::of(tools.as_bytes()).hex()[..16];
    let preimage = format!(
        r#"{{"capabilities":{{"tools":{{}}}},"client":"plain","projection":"fumehood-surface/1","prompts":[],"protocolVersion":"2025-11-25","quarantined":[],"resourceTemplates":[],"resources":[],"serverInfo":{{"name":"x"}},"short":"{short}","tools":{tools}}}"#
    );
    let wanted = format!("v1:{}", model::digest::Digest::of(preimage.as_bytes()));
    assert_eq!((surface.fingerprint().to_string(), surface.short()), (wanted, short));
}

#[test]
fn an_absent_instruction_is_not_an_empty_one() {
    let of = |instructions: Option<&str>| {
        let parts = Parts { instructions: instructions.map(str::to_owned), ..parts() };
        *Surface::from_parts(parts).unwrap().fingerprint()
    };
    assert_ne!(of(None), of(Some("")));
}
