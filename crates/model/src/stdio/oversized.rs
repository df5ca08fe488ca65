//! A message over the cap, and the error that answers or replaces it.

use serde_json::{Value, json};

/// Code of the error for a message over the cap.
///
/// JSON-RPC 2.0 (§5.1) leaves −32000 to −32099 to implementations. MCP and its SDKs use the first few of them and
/// −32042; this is far from either. The standard −32600 (*invalid request*) would be untrue: the request is valid, and
/// shorter it would be served.
pub const MESSAGE_TOO_LARGE: i32 = -32_070;

/// Longest `id` that is kept, in bytes as it was written.
pub const LONGEST_ID: usize = 1024;

/// Longest `method` that is kept, in bytes as it was written.
pub const LONGEST_METHOD: usize = 1024;

/// What is known of a message over the cap.
#[derive(Debug, Clone, PartialEq)]
pub struct Oversized {
    /// Its `id`: a string, a number or null. Nothing where it has none, or one longer than [`LONGEST_ID`].
    pub id: Option<Value>,
    /// Its `method`, where it has one no longer than [`LONGEST_METHOD`].
    pub method: Option<String>,
    /// Whether it answers a request: it has a `result` or an `error` and no `method`. Of a batch: whether all do.
    pub is_response: bool,
    /// Whether it is a batch, which has no `id` of its own.
    pub is_batch: bool,
    /// Length of the line without its end, in bytes.
    pub len: u64,
}

impl Oversized {
    /// The line that answers an oversized request, to be sent back to whoever sent it. Nothing for a notification, for
    /// a response, and where the `id` is unknown. A batch of requests is answered with a null `id`, as JSON-RPC wants
    /// where it cannot be determined.
    pub fn answer(&self, cap: usize) -> Option<Vec<u8>> {
        match &self.id {
            _ if self.is_response => None,
            None if self.is_batch => Some(self.error(&Value::Null, "request", cap)),
            id => id.as_ref().map(|id| self.error(id, "request", cap)),
        }
    }

    /// The line that takes the place of an oversized response, to be sent on to whoever waits for it. Nothing for
    /// anything else, and where the `id` is unknown.
    pub fn replacement(&self, cap: usize) -> Option<Vec<u8>> {
        self.id.as_ref().filter(|_| self.is_response).map(|id| self.error(id, "response", cap))
    }

    fn error(&self, id: &Value, what: &str, cap: usize) -> Vec<u8> {
        let error = json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {
                "code": MESSAGE_TOO_LARGE,
                "message": format!("the {what} has {} bytes, more than the {cap} that fumehood passes", self.len),
                "data": { "bytes": self.len, "cap": cap },
            },
        });
        format!("{error}\n").into_bytes()
    }
}
