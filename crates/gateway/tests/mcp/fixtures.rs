//! What the scripted servers offer: things of their own, and those that the protocol's suites look for by name.

use serde_json::{Value, json};

const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Tools, by name.
pub(crate) fn tools() -> Vec<Value> {
    let plain = [
        "ask",
        "ask_without",
        "echo",
        "end",
        "error",
        "links",
        "silent",
        "slow",
        "test_audio_content",
        "test_elicitation",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_embedded_resource",
        "test_streaming_elicitation",
        "test_error_handling",
        "test_image_content",
        "test_logging_tool",
        "test_multiple_content_types",
        "test_simple_text",
        "test_tool_with_logging",
        "test_tool_with_progress",
        "test_input_required_result_capabilities",
        "test_input_required_result_elicitation",
        "test_input_required_result_list_roots",
        "test_input_required_result_multi_round",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_request_state",
        "test_input_required_result_sampling",
        "test_input_required_result_tampered_state",
        "test_missing_capability",
        "wants_page",
        "wants_password",
    ];
    let mut tools: Vec<Value> = plain
        .iter()
        .map(|name| json!({ "name": name, "description": "Does it", "inputSchema": { "type": "object" } }))
        .collect();
    tools.push(json!({
        "name": "test_sampling",
        "description": "Does it",
        "inputSchema": { "type": "object", "properties": { "prompt": { "type": "string" } } },
    }));
    tools.push(json!({
        "name": "test_x_mcp_header",
        "description": "Does it",
        "inputSchema": {
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "user": { "type": "string", "x-mcp-header": "User" },
            },
        },
    }));
    tools.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Has every keyword",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": { "$anchor": "addressDef", "type": "object" } },
            "properties": { "address": { "$ref": "#/$defs/address" }, "phone": { "type": "string" } },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["address"] }] }],
            "if": { "required": ["phone"] },
            "then": {},
            "else": { "required": ["address"] },
            "additionalProperties": false,
        },
    }));
    tools.push(json!({
        "name": "odd",
        "description": "Does it",
        "title": "Odd",
        "annotations": { "destructiveHint": true },
        "execution": { "taskSupport": "optional" },
        "vendor/unknown": { "kept": [1, 2] },
        "outputSchema": { "type": "object", "properties": { "x": { "type": "integer" } } },
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": { "$anchor": "here", "type": "object" } },
            "properties": { "a": { "$ref": "#/$defs/address" } },
            "allOf": [{ "anyOf": [{ "required": ["a"] }, {}] }],
            "if": {}, "then": {}, "else": {},
            "additionalProperties": false,
        },
    }));
    tools
}

/// What a tool asks a person.
pub(crate) fn form_of(tool: &str, arguments: &Value) -> Value {
    let text = |default: &str| json!({ "type": "string", "default": default });
    let options = ["option1", "option2", "option3"];
    let titled = json!([{ "const": "value1", "title": "First" }, { "const": "value2", "title": "Second" }]);
    let properties = match tool {
        "test_elicitation_sep1034_defaults" => json!({
            "name": text("John Doe"),
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        }),
        "test_elicitation_sep1330_enums" => json!({
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": { "type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"] },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        }),
        _ => json!({ "username": { "type": "string" }, "email": { "type": "string", "format": "email" } }),
    };
    let message = arguments["message"].as_str().unwrap_or("Please tell");
    json!({ "message": message, "requestedSchema": { "type": "object", "properties": properties } })
}

/// What a tool does that needs nobody for it.
pub(crate) fn call(name: &str, params: &Value) -> Result<Value, Value> {
    let (responses, state) = (&params["inputResponses"], &params["requestState"]);
    let form = |message: &str, field: &str| {
        json!({ "method": "elicitation/create", "params": {
            "message": message,
            "requestedSchema": { "type": "object", "properties": { (field): { "type": "string" } }, "required": [field] },
        }})
    };
    let sampling = json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": { "type": "text", "text": "What is the capital of France?" } }],
        "maxTokens": 100,
    }});
    let roots = json!({ "method": "roots/list", "params": {} });
    let required = |requests: Value, state: Option<&str>| {
        let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
        if let Some(state) = state {
            result["requestState"] = json!(state);
        }
        Ok(result)
    };
    Ok(match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => {
            json!({ "content": [{ "type": "image", "data": PIXEL, "mimeType": "image/png" }] })
        }
        "test_audio_content" => {
            json!({ "content": [{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }] })
        }
        "test_embedded_resource" => json!({ "content": [{ "type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content.",
        }}]}),
        "test_multiple_content_types" => json!({ "content": [
            { "type": "text", "text": "Multiple content types test:" },
            { "type": "image", "data": PIXEL, "mimeType": "image/png" },
            { "type": "resource", "resource": {
                "uri": "test://mixed-content-resource", "mimeType": "application/json", "text": "{\"test\":\"data\",\"value\":123}",
            }},
        ]}),
        "test_error_handling" => json!({
            "isError": true,
            "content": [{ "type": "text", "text": "This tool intentionally returns an error for testing" }],
        }),
        "error" => return Err(json!({ "code": 4_711, "message": "no", "data": { "why": 1 } })),
        "links" => json!({ "content": [
            { "type": "resource_link", "uri": "test://static-text", "name": "a" },
            { "type": "vendor/new", "x": 1 },
        ]}),
        "test_missing_capability" => {
            if params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["sampling"].is_object() {
                text("done")
            } else {
                return Err(json!({ "code": -32021, "message": "Missing required client capability",
                    "data": { "requiredCapabilities": { "sampling": {} } } }));
            }
        }
        "wants_page" => {
            let url = &params["arguments"]["url"];
            let page = json!({ "mode": "url", "message": "Log in", "url": url, "elicitationId": "1" });
            return required(
                json!({ "page": { "method": "elicitation/create", "params": page } }),
                Some("s"),
            );
        }
        "wants_password" => return required(json!({ "it": form("Please log in", "password") }), Some("s")),
        "test_input_required_result_elicitation" => {
            match responses["user_name"]["content"]["name"].as_str() {
                Some(name) => text(&format!("Hello, {name}!")),
                None => return required(json!({ "user_name": form("What is your name?", "name") }), None),
            }
        }
        "test_input_required_result_sampling" => match &responses["capital_question"] {
            Value::Null => return required(json!({ "capital_question": sampling }), None),
            answer => text(&answer["content"]["text"].to_string()),
        },
        "test_input_required_result_list_roots" => match &responses["client_roots"] {
            Value::Null => return required(json!({ "client_roots": roots }), None),
            answer => text(&answer["roots"].to_string()),
        },
        "test_input_required_result_request_state" => match (&responses["confirm"], state.as_str()) {
            (Value::Null, _) => {
                return required(json!({ "confirm": form("Sure?", "ok") }), Some("state-of-theirs"));
            }
            (_, Some("state-of-theirs")) => text("state-ok"),
            (_, other) => {
                return Err(json!({ "code": -32602, "message": format!("not our state: {other:?}") }));
            }
        },
        "test_input_required_result_tampered_state" => match (&responses["confirm"], state.as_str()) {
            (Value::Null, None) => {
                return required(json!({ "confirm": form("Sure?", "ok") }), Some("signed"));
            }
            (_, Some("signed")) => text("fine"),
            _ => return Err(json!({ "code": -32602, "message": "tampered" })),
        },
        "test_input_required_result_multiple_inputs" => match (&responses["user_name"], state.as_str()) {
            (Value::Null, _) => {
                let all = json!({ "user_name": form("Name?", "name"), "greeting": sampling, "client_roots": roots });
                return required(all, Some("many"));
            }
            (_, Some("many")) => text("all there"),
            _ => return Err(json!({ "code": -32602, "message": "no state" })),
        },
        "test_input_required_result_multi_round" => match state.as_str() {
            None => return required(json!({ "step1": form("Name?", "name") }), Some("round-1")),
            Some("round-1") => return required(json!({ "step2": form("Color?", "color") }), Some("round-2")),
            Some("round-2") => text("both rounds"),
            Some(_) => return Err(json!({ "code": -32602, "message": "no state" })),
        },
        "test_input_required_result_capabilities" => {
            let can = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            let mut requests = serde_json::Map::new();
            if can["sampling"].is_object() {
                requests.insert("sample".to_owned(), sampling);
            }
            if can["elicitation"].is_object() {
                requests.insert("elicit".to_owned(), form("Name?", "name"));
            }
            return required(Value::Object(requests), Some("s"));
        }
        _ => text(&params["arguments"].to_string()),
    })
}

pub(crate) fn prompts() -> Vec<Value> {
    let argument = |name: &str| json!({ "name": name, "required": true });
    vec![
        json!({ "name": "test_prompt_with_arguments", "description": "Says it", "arguments": [argument("arg1"), argument("arg2")] }),
        json!({ "name": "test_prompt_with_embedded_resource", "description": "Says it", "arguments": [argument("resourceUri")] }),
        json!({ "name": "test_prompt_with_image", "description": "Says it" }),
        json!({ "name": "test_simple_prompt", "description": "Says it" }),
        json!({ "name": "test_input_required_result_prompt", "description": "Says it" }),
    ]
}

pub(crate) fn prompt(name: &str, params: &Value) -> Result<Value, Value> {
    let says = |content: Value| json!({ "role": "user", "content": content });
    let text = |text: String| says(json!({ "type": "text", "text": text }));
    let arguments = &params["arguments"];
    let word = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let messages = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            vec![text(format!("arg1='{}', arg2='{}'", word("arg1"), word("arg2")))]
        }
        "test_prompt_with_embedded_resource" => vec![
            says(json!({ "type": "resource", "resource": {
                "uri": word("resourceUri"), "mimeType": "text/plain", "text": "Embedded resource content for testing.",
            }})),
            text("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![
            says(json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" })),
            text("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" if params["inputResponses"].is_null() => {
            return Ok(json!({ "resultType": "input_required", "inputRequests": { "context": {
                "method": "elicitation/create",
                "params": { "message": "Context?", "requestedSchema": { "type": "object", "properties": { "c": { "type": "string" } } } },
            }}}));
        }
        "test_input_required_result_prompt" => vec![text(params["inputResponses"].to_string())],
        _ => return Err(json!({ "code": -32602, "message": "no such prompt" })),
    };
    Ok(json!({ "messages": messages }))
}

pub(crate) fn resources() -> Vec<Value> {
    vec![
        json!({ "uri": "test://static-binary", "name": "binary", "mimeType": "image/png" }),
        json!({ "uri": "test://static-text", "name": "text", "mimeType": "text/plain" }),
        json!({ "uri": "test://watched-resource", "name": "watched", "mimeType": "text/plain" }),
    ]
}

pub(crate) fn templates() -> Vec<Value> {
    vec![
        json!({ "uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json" }),
    ]
}

pub(crate) fn read(uri: &str) -> Result<Value, Value> {
    let text = |text: String| json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] });
    Ok(match uri {
        "test://static-text" => text("This is the content of the static text resource.".to_owned()),
        "test://static-binary" => {
            json!({ "contents": [{ "uri": uri, "mimeType": "image/png", "blob": PIXEL }] })
        }
        "test://watched-resource" => text("watched".to_owned()),
        _ => match uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
            Some(id) => text(
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string(),
            ),
            None => {
                return Err(
                    json!({ "code": -32002, "message": "Resource not found", "data": { "uri": uri } }),
                );
            }
        },
    })
}
