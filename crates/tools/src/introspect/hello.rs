//! What a server says of itself when it is greeted.

use serde_json::{Map, Value};

use crate::surface::{Kind, SurfaceError};
use crate::visible::excerpt;

use super::{REVISIONS, malformed};

#[derive(Debug, Clone)]
pub(super) struct Hello {
    pub(super) revision: String,
    pub(super) server_info: Value,
    pub(super) capabilities: Value,
    pub(super) instructions: Option<String>,
}

impl Hello {
    pub(super) fn of(result: &Map<String, Value>) -> Result<Self, SurfaceError> {
        let method = "initialize";
        let text = |key: &str| result.get(key).and_then(Value::as_str);
        let object = |key: &str| {
            let found = result.get(key).filter(|value| value.is_object()).cloned();
            found.ok_or_else(|| malformed(method, &format!("`{key}` is no object")))
        };
        let revision =
            text("protocolVersion").ok_or_else(|| malformed(method, "it has no `protocolVersion`"))?;
        if !REVISIONS.contains(&revision) {
            return Err(SurfaceError::Revision(excerpt(revision, 40)));
        }
        let instructions = match result.get("instructions") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => return Err(malformed(method, "`instructions` is no text")),
        };
        Ok(Self {
            revision: revision.to_owned(),
            server_info: object("serverInfo")?,
            capabilities: object("capabilities")?,
            instructions,
        })
    }

    /// Whether the server has such a list.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.capabilities.get(kind.capability()).is_some_and(|capability| !capability.is_null())
    }
}
