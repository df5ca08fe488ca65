//! Answers of JSON-RPC, and the HTTP status that each goes out with.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

/// JSON-RPC 2.0, section 5.1.
pub(super) const PARSE_ERROR: i64 = -32700;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC 2.0, section 5.1.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INTERNAL_ERROR: i64 = -32603;
/// Headers that do not say what the body says (MCP 2026-07-28, streamable HTTP, server validation).
pub(super) const HEADER_MISMATCH: i64 = -32020;
/// The client lacks something that the request needs (MCP 2026-07-28, basic protocol).
pub(super) const MISSING_CAPABILITY: i64 = -32021;
/// Another version is wanted (MCP 2026-07-28, versioning).
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;
/// No such resource, up to 2025-11-25; [`INVALID_PARAMS`] since.
pub(super) const RESOURCE_NOT_FOUND: i64 = -32002;
/// Something is to be opened in a browser first: 2025-11-25 only.
pub(super) const URL_ELICITATION: i64 = -32042;
/// Not done, for a reason that `data.code` names. Outside of what JSON-RPC keeps for itself (-32768 to -32000).
pub(super) const REFUSED: i64 = -31001;
/// The client has taken its request back.
pub(super) const CANCELLED: i64 = -31002;

/// An error that a request is answered with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    /// Where HTTP is told of it as well.
    pub(super) status: StatusCode,
    /// One of the above.
    pub(super) code: i64,
    /// For people.
    pub(super) message: String,
    /// For programs.
    pub(super) data: Option<Value>,
}

impl Fault {
    /// One that only the body tells of.
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { status: StatusCode::OK, code, message: message.into(), data: None }
    }

    /// One that goes out as 400.
    pub(super) fn bad(code: i64, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, ..Self::new(code, message) }
    }

    /// The same with another status.
    #[must_use]
    pub(super) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same with something for programs.
    #[must_use]
    pub(super) fn data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// A server's own error object as it is.
    pub(super) fn of_server(error: &Value) -> Self {
        Self {
            status: StatusCode::OK,
            code: error.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL_ERROR),
            message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
            data: error.get("data").cloned(),
        }
    }

    /// The message; without an id where that could not be read (MCP, basic protocol, error responses).
    pub(super) fn message(&self, id: Option<&Value>) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(data), Some(members)) = (&self.data, error.as_object_mut()) {
            members.insert("data".to_owned(), data.clone());
        }
        match id {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            None => json!({ "jsonrpc": "2.0", "error": error }),
        }
    }

    /// It as the whole answer.
    pub(super) fn response(&self, id: Option<&Value>) -> Response {
        body(self.status, &self.message(id))
    }
}

/// What a request comes to.
pub(super) type Outcome = Result<Map<String, Value>, Fault>;

/// An outcome as a message.
pub(super) fn message(id: &Value, outcome: &Outcome) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(fault) => fault.message(Some(id)),
    }
}

/// An outcome as the whole answer.
pub(super) fn response(id: &Value, outcome: &Outcome) -> Response {
    match outcome {
        Ok(_) => body(StatusCode::OK, &message(id, outcome)),
        Err(fault) => fault.response(Some(id)),
    }
}

/// One JSON value as a body, which nobody on the way keeps.
pub(super) fn body(status: StatusCode, value: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, value.to_string()).into_response()
}
