//! `data`.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::{At, Size};

/// A persistent folder: `true` for one of 1 GiB, a size, or a table.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Data {
    /// Whether there is one, of the default size.
    Switch(bool),
    /// One of this size.
    Size(Size),
    /// The properties by name.
    Table(DataTable),
}

/// The properties of the persistent folder.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DataTable {
    /// The most it may hold; 1 GiB where nothing is said.
    pub(crate) size: Option<At<Size>>,
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`true`, `false`, a size such as \"1GiB\" or a table with `size`")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Switch(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Size(Size::Text(text.to_owned())))
    }

    fn visit_i64<E>(self, bytes: i64) -> Result<Data, E> {
        Ok(Data::Size(Size::Bytes(bytes)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Data, A::Error> {
        DataTable::deserialize(MapAccessDeserializer::new(map)).map(Data::Table)
    }
}
