//! Sizes.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Visitor};

/// A size: a number of bytes, or a text with a unit such as `"512MiB"` or `"1 GiB"`.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Size {
    /// With a unit: B, KiB, MiB, GiB, TiB (powers of 1024) or KB, MB, GB, TB (powers of 1000).
    Text(#[schemars(regex(pattern = r"^ *[0-9]+(\.[0-9]+)? *([KkMmGgTt]([Ii]?)[Bb]|[Bb])? *$"))] String),
    /// In bytes.
    Bytes(#[schemars(range(min = 0))] i64),
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"512MiB\" or a number of bytes")
    }

    fn visit_str<E>(self, text: &str) -> Result<Size, E> {
        Ok(Size::Text(text.to_owned()))
    }

    fn visit_i64<E>(self, bytes: i64) -> Result<Size, E> {
        Ok(Size::Bytes(bytes))
    }
}
