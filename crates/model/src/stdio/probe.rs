//! Whether a line is JSON-RPC, without building a tree of it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Whether a line is UTF-8 and JSON, and a JSON-RPC 2.0 message (an object with `"jsonrpc": "2.0"`) or a batch of at
/// least one.
pub(super) fn is_json_rpc(line: &[u8]) -> bool {
    // Serde does not look into the strings it ignores, so the encoding is checked first.
    let Ok(text) = std::str::from_utf8(line) else { return false };
    match text.trim_start_matches([' ', '\t', '\r']).as_bytes().first() {
        Some(b'{') => serde_json::from_str(text).is_ok_and(|Message { is_json_rpc }| is_json_rpc),
        Some(b'[') => serde_json::from_str(text).is_ok_and(|Batch { is_json_rpc }| is_json_rpc),
        _ => false,
    }
}

struct Message {
    is_json_rpc: bool,
}

struct Batch {
    is_json_rpc: bool,
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MessageVisitor)
    }
}

impl<'de> Deserialize<'de> for Batch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BatchVisitor)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let mut is_json_rpc = false;
        while let Some(IsVersionKey(is_version_key)) = map.next_key()? {
            if is_version_key {
                let IsVersion(is_version) = map.next_value()?;
                is_json_rpc = is_version;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Message { is_json_rpc })
    }
}

struct BatchVisitor;

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = Batch;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch of JSON-RPC messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Batch, A::Error> {
        let (mut some, mut all) = (false, true);
        while let Some(Message { is_json_rpc }) = seq.next_element()? {
            some = true;
            all &= is_json_rpc;
        }
        Ok(Batch { is_json_rpc: some && all })
    }
}

/// Whether a string is `jsonrpc`. It is not copied.
struct IsVersionKey(bool);

/// Whether a string is `2.0`. It is not copied.
struct IsVersion(bool);

impl<'de> Deserialize<'de> for IsVersionKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Equals("jsonrpc")).map(Self)
    }
}

impl<'de> Deserialize<'de> for IsVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Equals("2.0")).map(Self)
    }
}

struct Equals(&'static str);

impl Visitor<'_> for Equals {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(text == self.0)
    }
}
