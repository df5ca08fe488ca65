//! What goes in and comes out, as JSON Schema 2020-12.

use serde_json::{Map, Value, json};

pub(super) fn all() -> Value {
    let groups = [service(), tools(), turns(), results()];
    let all = groups.into_iter().filter_map(|group| match group {
        Value::Object(schemas) => Some(schemas),
        _ => None,
    });
    Value::Object(all.flatten().collect::<Map<_, _>>())
}

/// Of a use, by the model.
fn id() -> Value {
    json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,256}$"})
}

/// What the service says of itself.
fn service() -> Value {
    json!({
        "Any": {"type": "object"},
        "Alive": {"type": "object", "properties": {"alive": {"const": true}}, "required": ["alive"], "additionalProperties": false},
        "Ready": {
            "type": "object",
            "properties": {
                "ready": {"type": "boolean"},
                "causes": {"type": "object", "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "state": {"enum": ["good", "limited", "failed"]},
                        "reason": {"type": "string", "description": "For whoever is on the machine of the service"},
                    },
                    "required": ["state"],
                    "additionalProperties": false,
                }},
            },
            "required": ["ready", "causes"],
            "additionalProperties": false,
        },
        "Problem": {
            "type": "object",
            "properties": {"error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "pattern": "^FH-"},
                    "message": {"type": "string"},
                    "place": {"type": ["string", "null"], "description": "Where in the request"},
                    "hint": {"type": "string", "description": "What to send instead"},
                },
                "required": ["code", "message"],
                "additionalProperties": false,
            }},
            "required": ["error"],
        },
    })
}

/// Tools, in each of the formats.
fn tools() -> Value {
    let name = json!({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$", "maxLength": 64});
    let object = json!({
        "type": "object",
        "properties": {"type": {"const": "object"}, "properties": {"type": "object"}},
        "required": ["type", "properties"],
    });
    json!({
        "Tools": {
            "type": "object",
            "properties": {"tools": {"anyOf": [
                {"type": "array", "items": {
                    "type": "object",
                    "title": "messages",
                    "properties": {"name": name, "description": {"type": "string"}, "input_schema": object},
                    "required": ["name", "input_schema"],
                    "additionalProperties": false,
                }},
                {"type": "array", "items": {
                    "type": "object",
                    "title": "openai",
                    "properties": {
                        "type": {"const": "function"},
                        "function": {
                            "type": "object",
                            "properties": {"name": name, "description": {"type": "string"}, "parameters": object},
                            "required": ["name", "parameters"],
                            "additionalProperties": false,
                        },
                    },
                    "required": ["type", "function"],
                    "additionalProperties": false,
                }},
                {"type": "array", "items": {
                    "type": "object",
                    "title": "mcp",
                    "properties": {"name": name, "inputSchema": {"type": "object"}},
                    "required": ["name", "inputSchema"],
                }},
            ]}},
            "required": ["tools"],
            "additionalProperties": false,
        },
    })
}

/// What a model asked for.
fn turns() -> Value {
    json!({
        "ToolUse": {
            "type": "object",
            "properties": {"type": {"const": "tool_use"}, "id": id(), "name": {"type": "string", "minLength": 1}, "input": {"type": "object"}},
            "required": ["id", "name", "input"],
        },
        "ToolCall": {
            "type": "object",
            "properties": {
                "id": id(),
                "function": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "minLength": 1}, "arguments": {"type": "string", "contentMediaType": "application/json"}},
                    "required": ["name", "arguments"],
                },
            },
            "required": ["id", "function"],
        },
        "Assistant": {
            "anyOf": [
                {"type": "object", "properties": {"content": {"type": "array", "contains": {"type": "object", "properties": {"type": {"const": "tool_use"}}, "required": ["type"]}}}, "required": ["content"]},
                {"type": "object", "properties": {"tool_calls": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/ToolCall"}}}, "required": ["tool_calls"]},
            ],
        },
        "Turn": {
            "description": "One `tool_use` block, an assistant's message with uses in it, or a conversation whose last message is one. With `tools`, as in the request to the model, only those that it names are used",
            "anyOf": [
                {"$ref": "#/components/schemas/ToolUse"},
                {"$ref": "#/components/schemas/Assistant"},
                {"type": "object", "properties": {"messages": {"type": "array", "minItems": 1}, "tools": {"type": "array"}}, "required": ["messages"]},
            ],
        },
    })
}

/// What came of it.
fn results() -> Value {
    json!({
        "ToolResult": {
            "type": "object",
            "properties": {
                "type": {"const": "tool_result"},
                "tool_use_id": id(),
                "content": {"type": "array", "minItems": 1, "items": {"anyOf": [
                    {
                        "type": "object",
                        "properties": {"type": {"const": "text"}, "text": {"type": "string", "pattern": "\\S"}},
                        "required": ["type", "text"],
                        "additionalProperties": false,
                    },
                    {
                        "type": "object",
                        "properties": {
                            "type": {"enum": ["image", "document"]},
                            "source": {
                                "type": "object",
                                "properties": {
                                    "type": {"const": "base64"},
                                    "media_type": {"enum": ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]},
                                    "data": {"type": "string", "minLength": 1},
                                },
                                "required": ["type", "media_type", "data"],
                                "additionalProperties": false,
                            },
                        },
                        "required": ["type", "source"],
                        "additionalProperties": false,
                    },
                ]}},
                "is_error": {"const": true},
            },
            "required": ["type", "tool_use_id"],
            "additionalProperties": false,
        },
        "Results": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"role": {"const": "user"}, "content": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/ToolResult"}}},
                    "required": ["role", "content"],
                    "additionalProperties": false,
                },
                {
                    "type": "object",
                    "properties": {"messages": {"type": "array", "minItems": 1, "items": {
                        "type": "object",
                        "properties": {"role": {"const": "tool"}, "tool_call_id": id(), "content": {"type": "string"}},
                        "required": ["role", "tool_call_id", "content"],
                        "additionalProperties": false,
                    }}},
                    "required": ["messages"],
                    "additionalProperties": false,
                },
            ],
        },
    })
}
