//! The tools that a caller may use, as a request to a model names them.

use std::sync::Arc;

use model::name::ServerName;
use serde_json::{Map, Value, json};

use super::openai;
use crate::shelf::Shown;

/// Words at the top of a schema that neither API takes there.
const NOT_AT_THE_TOP: [&str; 7] = ["oneOf", "anyOf", "allOf", "not", "if", "then", "else"];

/// In whose words tools are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `tools` of the Messages API.
    Messages,
    /// `tools` of chat completions.
    OpenAi,
    /// `tools` of MCP's `tools/list`.
    Mcp,
}

impl Format {
    pub(super) const ALL: [(&'static str, Self); 3] =
        [("messages", Self::Messages), ("openai", Self::OpenAi), ("mcp", Self::Mcp)];
}

/// The tools, in the order in which they come, of one server or all.
pub(super) fn tools(shown: &[Arc<Shown>], format: Format, server: Option<&ServerName>) -> Value {
    let chosen = shown.iter().filter(|tool| server.is_none_or(|server| tool.server == *server));
    let tools: Vec<Value> = chosen
        .map(|tool| match format {
            Format::Mcp => Value::clone(&tool.value),
            Format::Messages => messages(&tool.name, &description(&tool.value), schema(&tool.value)),
            Format::OpenAi => openai::tool(&tool.name, &description(&tool.value), schema(&tool.value)),
        })
        .collect();
    json!({"tools": tools})
}

fn messages(name: &str, description: &str, schema: Value) -> Value {
    let mut tool = Map::from_iter([("name".to_owned(), json!(name)), ("input_schema".to_owned(), schema)]);
    if !description.is_empty() {
        tool.insert("description".to_owned(), json!(description));
    }
    Value::Object(tool)
}

/// What the server says of the tool, and what of its schema has to be said in words.
fn description(tool: &Value) -> String {
    let said =
        tool.get("description").or_else(|| tool.get("title")).and_then(Value::as_str).unwrap_or_default();
    let schema = tool.get("inputSchema").and_then(Value::as_object);
    let unsaid: Map<String, Value> = schema
        .into_iter()
        .flatten()
        .filter(|(word, _)| NOT_AT_THE_TOP.contains(&word.as_str()))
        .map(|(word, rule)| (word.clone(), rule.clone()))
        .collect();
    if unsaid.is_empty() {
        return said.to_owned();
    }
    let rule =
        format!("The arguments as a whole have to fit this JSON Schema too: {}", Value::Object(unsaid));
    if said.is_empty() { rule } else { format!("{said}\n\n{rule}") }
}

/// The schema of the arguments, as an object without what the APIs do not take at its top. The road checks all of it.
fn schema(tool: &Value) -> Value {
    let mut schema = tool.get("inputSchema").and_then(Value::as_object).cloned().unwrap_or_default();
    schema.retain(|word, _| !NOT_AT_THE_TOP.contains(&word.as_str()));
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Value::Object(schema)
}

#[cfg(test)]
mod tests;
