//! The same in the words of chat completions: `tool_calls` in, `tool` messages out.

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::uses::{self, TurnError, Use, join};

/// Uses of tools in an assistant's message.
pub(super) fn uses(message: &Map<String, Value>, place: &str) -> Result<Vec<Use>, TurnError> {
    let place = join(place, "tool_calls");
    let calls = match message.get("tool_calls") {
        Some(Value::Array(calls)) if !calls.is_empty() => calls,
        _ => {
            return Err(TurnError::new(
                place,
                "there is no call in it",
                "only send messages with `tool_calls` in them",
            ));
        }
    };
    calls.iter().enumerate().map(|(index, call)| one(call, &format!("{place}[{index}]"))).collect()
}

fn one(call: &Value, place: &str) -> Result<Use, TurnError> {
    let Some(function) = call.get("function").and_then(Value::as_object) else {
        return Err(TurnError::new(
            join(place, "function"),
            "this is no object",
            "send the model's call as it is",
        ));
    };
    let id = uses::id(call.get("id"), &join(place, "id"))?;
    let place = join(place, "function");
    let name = uses::name(function.get("name"), &join(&place, "name"))?;
    let place = join(&place, "arguments");
    let Some(text) = function.get("arguments").and_then(Value::as_str) else {
        return Err(TurnError::new(
            place,
            "this is no text",
            "arguments are a text with a JSON object in it",
        ));
    };
    let text = if text.trim().is_empty() { "{}" } else { text };
    match model::json::parse(text.as_bytes()) {
        Ok(Value::Object(input)) => Ok(Use { id, name, input }),
        Ok(_) => {
            Err(TurnError::new(place, "this is no object", "arguments are a text with a JSON object in it"))
        }
        Err(error) => Err(TurnError::new(place, error.to_string(), error.hint())),
    }
}

/// One message for each use.
pub(super) fn messages(answers: &[(String, Answer)]) -> Value {
    let messages = answers.iter().map(|(id, answer)| {
        let text = answer.text();
        let content = if answer.is_error() { format!("Error: {text}") } else { text };
        json!({"role": "tool", "tool_call_id": id, "content": content})
    });
    json!({"messages": messages.collect::<Vec<_>>()})
}

/// A tool, as a request names it.
pub(super) fn tool(name: &str, description: &str, schema: Value) -> Value {
    let mut function = Map::from_iter([("name".to_owned(), json!(name)), ("parameters".to_owned(), schema)]);
    if !description.is_empty() {
        function.insert("description".to_owned(), json!(description));
    }
    json!({"type": "function", "function": function})
}
