//! The description of the addresses that are not MCP.
//!
//! It says what the handlers do; a test holds their real answers against it.

mod schemas;

use axum::{Router, body::Body, response::Response, routing::get};
use http::{HeaderValue, header};
use serde_json::{Map, Value, json};

/// `GET /v1/openapi.json`. It needs no caller: it is the same for everybody.
pub fn router() -> Router {
    Router::new().route("/v1/openapi.json", get(answer))
}

async fn answer() -> Response {
    let mut response = Response::new(Body::from(document().to_string()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The document (OpenAPI 3.1).
pub fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Fumehood",
            "summary": "Tools that this caller may use, for applications that speak to a model themselves",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"bearer": []}],
        "paths": {
            "/v1/tools": {"get": tools()},
            "/v1/tool-calls": {"post": tool_calls()},
            "/v1/openapi.json": {"get": open("document", "This document", &responses(&[("200", "The document", reference("Any"))]))},
            "/healthz": {"get": open("alive", "Whether the service lives", &responses(&[("200", "It does", reference("Alive"))]))},
            "/readyz": {"get": open("ready", "Whether the service can serve, and what keeps it from it", &responses(&[
                ("200", "It can", reference("Ready")),
                ("503", "It cannot", reference("Ready")),
            ]))},
            "/metrics": {"get": open("metrics", "What was counted, for whoever is on the machine of the service", &json!({
                "200": {"description": "The text format of Prometheus", "content": {"text/plain": {"schema": {"type": "string"}}}},
                "404": {"description": "The caller is not on this machine"},
            }))},
        },
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "An access token of an issuer in the configuration, or a key of the operator's file. Over the Unix socket, the user of this machine is the caller and none is needed."}},
            "schemas": schemas::all(),
        },
    })
}

fn tools() -> Value {
    json!({
        "operationId": "tools",
        "summary": "The tools that this caller may use now, sorted by name",
        "parameters": [
            {"name": "format", "in": "query", "description": "In whose words", "schema": {"enum": ["messages", "openai", "mcp"], "default": "messages"}},
            {"name": "server", "in": "query", "description": "Of one server only; its tools are named as among all", "schema": {"type": "string", "maxLength": 64}},
        ],
        "responses": with_refusals(responses(&[("200", "The tools. Put `tools` into the request to the model as it is", reference("Tools"))])),
    })
}

fn tool_calls() -> Value {
    json!({
        "operationId": "toolCalls",
        "summary": "Has done what a model asked for in one turn",
        "description": "All uses of the turn are checked before the first is carried out. Those that are refused are answered with `is_error` and a reason; so the answer has a result for every use, in the order of the turn. Closing the connection takes back what is under way.",
        "requestBody": {"required": true, "content": {"application/json": {"schema": reference("Turn")}}},
        "responses": with_refusals(json!({
            "200": {
                "description": "What to put behind the model's message: one user message, or for `tool_calls` one message for each",
                "headers": {"fumehood-calls": {"description": "Names of the calls in the record, in the order of the uses", "schema": {"type": "string"}}},
                "content": {"application/json": {"schema": reference("Results")}},
            },
            "408": problem("The body did not come in time"),
            "413": problem("The body is too long"),
            "415": problem("The body is not declared as JSON"),
        })),
    })
}

fn open(id: &str, summary: &str, responses: &Value) -> Value {
    json!({"operationId": id, "summary": summary, "security": [], "responses": responses})
}

fn with_refusals(mut responses: Value) -> Value {
    if let Value::Object(responses) = &mut responses {
        responses
            .insert("400".into(), problem("It cannot be carried out as it is written; nothing was done"));
        responses.insert("401".into(), identity("There is no caller, or none that is known. `WWW-Authenticate` says where to get a token (RFC 9728)"));
        responses.insert(
            "403".into(),
            identity("The host or the page that it comes from is not let in, or the caller may not come in"),
        );
        responses.insert("503".into(), identity("Nobody can say now who the caller is"));
    }
    responses
}

fn responses(all: &[(&str, &str, Value)]) -> Value {
    let all = all.iter().map(|(status, description, schema)| {
        let content = json!({"application/json": {"schema": schema}});
        ((*status).to_owned(), json!({"description": description, "content": content}))
    });
    Value::Object(all.collect::<Map<_, _>>())
}

fn problem(description: &str) -> Value {
    json!({"description": description, "content": {"application/json": {"schema": reference("Problem")}}})
}

fn identity(description: &str) -> Value {
    json!({"description": description, "content": {"application/json": {"schema": {"type": "object"}}}})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
