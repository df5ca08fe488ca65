//! What a model asked for, as it comes in: everything is looked at before anything is done.

use std::collections::HashSet;

use model::guard;
use model::visible::excerpt;
use serde_json::{Map, Value};

use super::openai;
use super::uses::{TurnError, Use, id, join, name};

/// Most uses of tools in one turn.
pub(super) const MOST_USES: usize = 64;

/// Every use of a tool in one turn of a model, in its order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    /// How the turn was written, and so how it is answered.
    pub(super) dialect: Dialect,
    /// What is to be done: at least one, each with a name of its own.
    pub(super) uses: Vec<Use>,
    /// The tools that the model was offered, where the request says so.
    pub(super) offered: Option<HashSet<String>>,
}

/// Whose words a turn is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `tool_use` blocks.
    Messages,
    /// `tool_calls` of chat completions.
    OpenAi,
}

/// Reads the body of a request: one `tool_use` block, a message of the assistant, or a conversation that ends with one.
pub(super) fn read(body: &[u8]) -> Result<Turn, TurnError> {
    let value = model::json::parse(body)?;
    let Value::Object(mut body) = value else {
        return Err(TurnError::new("", "the body is no object", WANTED));
    };
    let offered = body.get("tools").and_then(offered);
    let mut turn = if body.contains_key("messages") {
        conversation(body.remove("messages").unwrap_or_default())?
    } else if body.contains_key("tool_calls") {
        openai::uses(&body, "").map(|uses| Turn { dialect: Dialect::OpenAi, uses, offered: None })?
    } else if body.contains_key("content") {
        message(&body, "")?
    } else if body.get("type") == Some(&Value::String("tool_use".to_owned())) || body.contains_key("input") {
        let uses = vec![one(&body, "")?];
        Turn { dialect: Dialect::Messages, uses, offered: None }
    } else {
        return Err(TurnError::new("", "there is neither a `tool_use` block nor `messages` in it", WANTED));
    };
    check_count(&turn.uses)?;
    turn.offered = offered;
    Ok(turn)
}

const WANTED: &str = "send one `tool_use` block, an assistant's message, or `{\"messages\": […]}` whose last message is the assistant's";

fn conversation(messages: Value) -> Result<Turn, TurnError> {
    let Value::Array(messages) = messages else {
        return Err(TurnError::new("messages", "this is no array", WANTED));
    };
    let Some((last, earlier)) = messages.split_last() else {
        return Err(TurnError::new("messages", "there is no message", WANTED));
    };
    let place = format!("messages[{}]", earlier.len());
    let Value::Object(last) = last else {
        return Err(TurnError::new(place, "this is no object", WANTED));
    };
    match last.get("role").and_then(Value::as_str) {
        Some("assistant") => {}
        Some("user" | "tool") => {
            let reason = "the last message is not the assistant's: what it asked for was answered";
            return Err(TurnError::new(
                format!("{place}.role"),
                reason,
                "end with the message to be answered",
            ));
        }
        _ => return Err(TurnError::new(format!("{place}.role"), "this is no `assistant`", WANTED)),
    }
    let turn = if last.contains_key("tool_calls") {
        let uses = openai::uses(last, &place)?;
        Turn { dialect: Dialect::OpenAi, uses, offered: None }
    } else {
        message(last, &place)?
    };
    let known = earlier.iter().flat_map(ids_of).collect::<HashSet<&str>>();
    if let Some(again) = turn.uses.iter().find(|it| known.contains(it.id.as_str()))
        && !guard::off("messages-answered")
    {
        let reason = format!("`{}` stands earlier in the conversation", excerpt(&again.id, 60));
        return Err(TurnError::new(place, reason, "each use has an id of its own, and is answered once"));
    }
    Ok(turn)
}

fn message(message: &Map<String, Value>, place: &str) -> Result<Turn, TurnError> {
    let place = join(place, "content");
    if message.get("role").is_some_and(|role| role != "assistant") {
        return Err(TurnError::new(place, "this is not the assistant's", WANTED));
    }
    let Some(Value::Array(blocks)) = message.get("content") else {
        return Err(TurnError::new(
            place,
            "there are no blocks, so nothing to do",
            "only send turns with `tool_use` in them",
        ));
    };
    let mut uses = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        // What the model's provider carries out itself (`server_tool_use`, `mcp_tool_use`) has its result already.
        if block.get("type").and_then(Value::as_str) == Some("tool_use")
            && let Value::Object(block) = block
        {
            uses.push(one(block, &format!("{place}[{index}]"))?);
        }
    }
    if uses.is_empty() {
        return Err(TurnError::new(
            place,
            "there is no `tool_use` in it",
            "only send turns with `tool_use` in them",
        ));
    }
    Ok(Turn { dialect: Dialect::Messages, uses, offered: None })
}

fn one(block: &Map<String, Value>, place: &str) -> Result<Use, TurnError> {
    if block.get("type").is_some_and(|kind| kind != "tool_use") {
        return Err(TurnError::new(join(place, "type"), "this is no `tool_use`", WANTED));
    }
    let id = id(block.get("id"), &join(place, "id"))?;
    let name = name(block.get("name"), &join(place, "name"))?;
    match block.get("input") {
        Some(Value::Object(input)) => Ok(Use { id, name, input: input.clone() }),
        Some(_) => Err(TurnError::new(
            join(place, "input"),
            "this is no object",
            "send the model's `input` as it is",
        )),
        None => Err(TurnError::new(join(place, "input"), "this is missing", "without arguments it is `{}`")),
    }
}

fn check_count(uses: &[Use]) -> Result<(), TurnError> {
    if uses.len() > MOST_USES {
        let reason = format!("{} uses of tools in one turn; there may be {MOST_USES}", uses.len());
        return Err(TurnError::new("", reason, "ask the model for fewer at a time"));
    }
    let mut seen = HashSet::new();
    match uses.iter().find(|it| !seen.insert(it.id.as_str())) {
        Some(again) if !guard::off("messages-duplicate-ids") => {
            let reason = format!("the id `{}` stands twice", excerpt(&again.id, 60));
            Err(TurnError::new("", reason, "each use has an id of its own"))
        }
        _ => Ok(()),
    }
}

/// Names of the uses and results in one message.
fn ids_of(message: &Value) -> Vec<&str> {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    blocks
        .flat_map(|block| [block.get("tool_use_id"), block.get("id")])
        .chain(calls.map(|call| call.get("id")))
        .chain([message.get("tool_call_id")])
        .filter_map(|id| id.and_then(Value::as_str))
        .collect()
}

/// The names in a request's own `tools`: of this conversation, no other was offered to the model.
fn offered(tools: &Value) -> Option<HashSet<String>> {
    let tools = tools.as_array()?;
    let names = tools.iter().filter_map(|tool| {
        tool.get("name")
            .or_else(|| tool.get("function")?.get("name"))
            .and_then(Value::as_str)
            .map(str::to_owned)
    });
    Some(names.collect())
}

#[cfg(test)]
mod tests;
