//! What is said to a server of these trials, and what it answers.

use serde_json::{Value, json};
use testkit::world::Ran;

/// Everything that is said to a server until it has told what it found.
pub(crate) fn text() -> String {
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "facts", "arguments": {}}}),
    ]
    .map(|message| format!("{message}\n"))
    .concat()
}

/// The result of the call.
pub(crate) fn told(ran: &Ran) -> Option<Value> {
    let answers = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = answers.into_iter().find(|answer| answer["id"] == 3)?;
    serde_json::from_str(answer["result"]["content"][0]["text"].as_str()?).ok()
}

/// The first full fingerprint of a text.
pub(crate) fn fingerprint(text: &str) -> Option<String> {
    let at = text.find("v1:sha256:")?;
    text.get(at..at + "v1:sha256:".len() + 64).map(str::to_owned)
}
