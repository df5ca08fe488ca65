use serde_json::{Value, json};

use super::*;
use crate::surface::{Parts, Surface};

mod benign;
mod changes;
mod malicious;
mod rules;

use benign::BENIGN;
use malicious::{MALICIOUS, Spot};

/// A small honest server, which attackers change.
fn weather() -> Parts {
    Parts {
        protocol_version: "2025-11-25".to_owned(),
        server_info: json!({ "name": "weather", "version": "1.4.2" }),
        capabilities: json!({ "tools": {} }),
        instructions: Some("Forecasts by city.".to_owned()),
        tools: vec![
            tool("get_forecast", "Forecast for a city for the next three days.", "city"),
            delete_tool(),
        ],
        ..Parts::default()
    }
}

fn tool(name: &str, description: &str, parameter: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": { parameter: { "type": "string", "description": "Name of the city" } },
            "required": [parameter],
        },
    })
}

fn delete_tool() -> Value {
    json!({
        "name": "delete_alert",
        "title": "Delete an alert",
        "description": "Deletes an alert.",
        "inputSchema": { "type": "object", "properties": { "id": { "type": "integer", "minimum": 1, "maximum": 100 } } },
        "annotations": { "readOnlyHint": false, "destructiveHint": true },
    })
}

fn surface(parts: Parts) -> Surface {
    Surface::from_parts(parts).unwrap()
}

/// An honest server with one text put into it.
fn with(spot: Spot, text: &str) -> Surface {
    let mut parts = weather();
    let own = ["read_query", "get_docs", "read_text_file", "browser_snapshot", "list_issues", "get_ticket"];
    match spot {
        Spot::Tool => parts.tools.push(tool("extra", text, "city")),
        Spot::Parameter => parts.tools.push(tool("extra", "Gets it.", text)),
        Spot::Name => parts.tools.push(tool(text, "Gets it.", "city")),
        Spot::Server => parts.instructions = Some(text.to_owned()),
        Spot::About | Spot::Deep => {
            let mut tool = tool("extra", "Gets it.", "city");
            let about = json!({ "type": "string", "description": text });
            let deep = json!({ "type": "object", "properties": { "a": { "items": { "enum": [text] } } } });
            tool["inputSchema"]["properties"]["extra"] = if spot == Spot::About { about } else { deep };
            parts.tools.push(tool);
        }
    }
    parts.tools.extend(own.map(|name| tool(name, "Gets it.", "city")));
    surface(parts)
}

#[test]
fn attacks_are_found_and_honest_texts_are_not() {
    let mut missed = Vec::new();
    for (code, spot, text) in MALICIOUS {
        let found = Engine::standard().findings(&with(*spot, text));
        if !found.iter().any(|finding| finding.code == *code && finding.severity > Severity::Note) {
            let codes: Vec<String> = found.iter().map(|f| format!("{} {}", f.severity, f.code)).collect();
            missed.push(format!("{code}, found {codes:?}: {}", crate::visible::visible(text)));
        }
    }
    let mut wrong = Vec::new();
    for (spot, text) in BENIGN {
        let found = Engine::standard().findings(&with(*spot, text));
        for finding in found.iter().filter(|finding| finding.severity > Severity::Note) {
            wrong.push(format!("{} {} ({}): {text}", finding.severity, finding.code, finding.message));
        }
    }
    println!(
        "recall {} of {}, false positives {} of {}",
        MALICIOUS.len() - missed.len(),
        MALICIOUS.len(),
        wrong.len(),
        BENIGN.len()
    );
    assert!(MALICIOUS.len() >= 40 && BENIGN.len() >= 60);
    assert_eq!((missed, wrong), (Vec::<String>::new(), Vec::<String>::new()));
}

#[test]
fn the_honest_server_has_nothing_that_is_found() {
    assert_eq!(Engine::standard().findings(&surface(weather())), []);
}
