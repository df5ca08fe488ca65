//! What a server is asked, in its own words.

use access::Verb;
use serde_json::{Map, Value};

use crate::guard;

/// The method of a verb.
pub(super) fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::CallTool => "tools/call",
        Verb::GetPrompt => "prompts/get",
        Verb::ReadResource => "resources/read",
        Verb::Complete => "completion/complete",
        Verb::Subscribe => "resources/subscribe",
    }
}

/// The parameters of a tool's call: those that were bound, and `beside` them what else the caller gave.
pub(super) fn of_tool(
    mut beside: Map<String, Value>,
    arguments: Map<String, Value>,
    name: &str,
) -> Map<String, Value> {
    // Nobody is told that there are tasks: what went on after its answer would be under way, and be a call to nobody.
    if !guard::off("road-task") {
        beside.remove("task");
    }
    beside.insert("name".into(), name.into());
    beside.insert("arguments".into(), Value::Object(arguments));
    beside
}

/// The parameters of a request that is no tool's, under the server's own name.
pub(super) fn of_other(verb: Verb, mut params: Map<String, Value>, name: &str) -> Map<String, Value> {
    match verb {
        Verb::GetPrompt => drop(params.insert("name".into(), name.into())),
        Verb::ReadResource | Verb::Subscribe => drop(params.insert("uri".into(), name.into())),
        Verb::Complete => {
            if let Some(Value::Object(of)) = params.get_mut("ref") {
                let is_prompt = of.get("type").and_then(Value::as_str) == Some("ref/prompt");
                let (own, other) = if is_prompt { ("name", "uri") } else { ("uri", "name") };
                // One thing was judged, and no other one is named.
                if !guard::off("road-reference") || !of.contains_key("uri") {
                    of.insert(own.into(), name.into());
                    of.remove(other);
                }
            }
        }
        Verb::CallTool => {}
    }
    params
}
