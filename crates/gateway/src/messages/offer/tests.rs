use super::*;

fn shown(name: &str, server: &str, value: Value) -> Arc<Shown> {
    let (server, value) = (ServerName::new(server).unwrap(), Arc::new(value));
    Arc::new(Shown { name: name.to_owned(), server, plain: "plain".to_owned(), value })
}

fn some() -> Vec<Arc<Shown>> {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    vec![
        shown(
            "orders__get",
            "orders",
            json!({"name": "orders__get", "title": "Get", "description": "Gets an order", "inputSchema": schema, "annotations": {"readOnlyHint": true}}),
        ),
        shown(
            "weather__now",
            "weather",
            json!({"name": "weather__now", "title": "Now", "inputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "x-unknown": 1}}),
        ),
        shown(
            "weather__odd",
            "weather",
            json!({"name": "weather__odd", "inputSchema": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}),
        ),
    ]
}

#[test]
fn a_tool_is_named_in_each_of_the_formats() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    assert_eq!(
        tools(&some(), Format::Messages, None)["tools"][0],
        json!({"name": "orders__get", "description": "Gets an order", "input_schema": schema})
    );
    assert_eq!(
        tools(&some(), Format::OpenAi, None)["tools"][0],
        json!({"type": "function", "function": {"name": "orders__get", "description": "Gets an order", "parameters": schema}})
    );
    let mcp = tools(&some(), Format::Mcp, None);
    assert_eq!(
        mcp["tools"].as_array().unwrap().iter().collect::<Vec<_>>(),
        some().iter().map(|it| &*it.value).collect::<Vec<_>>()
    );
}

#[test]
fn schemas_are_what_the_apis_take_and_nothing_of_them_is_lost() {
    let all = tools(&some(), Format::Messages, None);
    assert_eq!(
        all["tools"][1],
        json!({"name": "weather__now", "description": "Now", "input_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "x-unknown": 1, "type": "object", "properties": {}}})
    );
    assert_eq!(
        all["tools"][2],
        json!({
            "name": "weather__odd",
            "description": r#"The arguments as a whole have to fit this JSON Schema too: {"oneOf":[{"required":["a"]},{"required":["b"]}]}"#,
            "input_schema": {"type": "object", "properties": {}},
        })
    );
}

#[test]
fn the_tools_of_one_server_have_the_names_that_they_have_among_all() {
    let weather = ServerName::new("weather").unwrap();
    let names = |all: &Value| -> Vec<String> {
        all["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&tools(&some(), Format::Messages, Some(&weather))), ["weather__now", "weather__odd"]);
    let nobody = ServerName::new("nobody").unwrap();
    assert_eq!(tools(&some(), Format::Messages, Some(&nobody)), json!({"tools": []}));
}
