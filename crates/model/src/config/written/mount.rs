//! An entry of `mounts`.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A folder or file of the host: `"PATH"` or `"PATH:ro"` to read, `"PATH:rw"` to write, or a table.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Mount {
    /// `"PATH"`, `"PATH:ro"` or `"PATH:rw"`.
    Text(#[schemars(length(min = 1))] String),
    /// Path and access apart.
    Table(MountTable),
}

/// Path and access apart.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MountTable {
    /// The host path, and the path inside.
    #[schemars(length(min = 1))]
    pub(crate) path: String,
    /// Whether the server may write below it.
    #[serde(default)]
    pub(crate) write: bool,
}

impl<'de> Deserialize<'de> for Mount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MountVisitor)
    }
}

struct MountVisitor;

impl<'de> Visitor<'de> for MountVisitor {
    type Value = Mount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path or a table with `path` and `write`")
    }

    fn visit_str<E>(self, text: &str) -> Result<Mount, E> {
        Ok(Mount::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Mount, A::Error> {
        MountTable::deserialize(MapAccessDeserializer::new(map)).map(Mount::Table)
    }
}
