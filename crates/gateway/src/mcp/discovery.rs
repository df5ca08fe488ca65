//! What a client is told before it asks for anything.

use serde_json::{Map, Value, json};

use super::concluding::cacheable;
use crate::view::View;

/// The version whose requests stand for themselves.
pub const MODERN: &str = "2026-07-28";
/// Versions with sessions, newest first.
pub const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// Every version, newest first.
pub const SUPPORTED: [&str; 4] = [MODERN, "2025-11-25", "2025-06-18", "2025-03-26"];

/// Keys of `_meta` (MCP 2026-07-28, basic protocol).
pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do.
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// What the client says of itself.
pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Of which subscription a notification is.
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// How long a client may take what it was told here for fresh, in ms.
const TTL: u64 = 60_000;

/// Capabilities that are spoken here, with their members.
const SPOKEN: [(&str, &[&str]); 5] = [
    ("tools", &["listChanged"]),
    ("prompts", &["listChanged"]),
    ("resources", &["listChanged", "subscribe"]),
    ("completions", &[]),
    ("logging", &[]),
];

/// What the servers that a caller sees can do, as far as it is spoken here.
pub(super) fn capabilities(view: &View) -> Map<String, Value> {
    let all = view.capabilities();
    let spoken = SPOKEN.iter().filter_map(|(name, members)| {
        let declared = all.get(*name)?.as_object()?;
        let members = declared.iter().filter(|(member, _)| members.contains(&member.as_str()));
        let members: Map<String, Value> = members.map(|(k, v)| (k.clone(), v.clone())).collect();
        Some(((*name).to_owned(), Value::Object(members)))
    });
    spoken.collect()
}

/// The result of `server/discover`.
pub(super) fn discover(view: &View) -> Map<String, Value> {
    let mut result = Map::new();
    result.insert("supportedVersions".to_owned(), json!(SUPPORTED));
    let mut capabilities = capabilities(view);
    // Of a cell that several use nobody knows whose request a log message is about; sessions have their own stream for them.
    capabilities.remove("logging");
    result.insert("capabilities".to_owned(), Value::Object(capabilities));
    if let Some(instructions) = view.instructions() {
        result.insert("instructions".to_owned(), instructions.into());
    }
    cacheable(&mut result, TTL);
    result
}

/// The result of `initialize`, in a version that both speak: the client's own, or our newest.
pub(super) fn initialize(view: &View, version: &str) -> Value {
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(view),
        "serverInfo": view.server_info(),
    });
    if let (Some(instructions), Some(members)) = (view.instructions(), result.as_object_mut()) {
        members.insert("instructions".to_owned(), instructions.into());
    }
    result
}

/// The version of a session whose client wants `wanted`.
pub(super) fn agreed(wanted: &str) -> &'static str {
    LEGACY.into_iter().find(|version| *version == wanted).unwrap_or(LEGACY[0])
}
