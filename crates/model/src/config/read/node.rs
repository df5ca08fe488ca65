//! A deserializer over parsed TOML that borrows its tree, leaves out entries, and knows where each error stands.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_spanned::Spanned;
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::de::{DeString, DeTable, DeValue};

use super::error::ReadError;

/// Entries to leave out: the span of a table entry's key, or of an array's element.
pub(super) type Skipped = HashSet<(usize, usize)>;

/// A value of the document.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    value: &'a Spanned<DeValue<'a>>,
    skipped: &'a Skipped,
}

impl<'a> Node<'a> {
    pub(super) fn new(value: &'a Spanned<DeValue<'a>>, skipped: &'a Skipped) -> Self {
        Self { value, skipped }
    }

    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => Err(de::Error::custom("this number does not fit into 64 bits")),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => visitor.visit_f64(number),
                Err(_) => Err(de::Error::custom("this number cannot be read")),
            },
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Datetime(_) => Err(de::Error::invalid_type(Unexpected::Other("a date"), &visitor)),
            DeValue::Array(items) => {
                visitor.visit_seq(Elements { items: items.iter(), skipped: self.skipped })
            }
            DeValue::Table(table) => {
                visitor.visit_map(Entries { remaining: table.iter(), value: None, skipped: self.skipped })
            }
        }
    }
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.visit(visitor).map_err(|error| error.at(self.value.span()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if is_spanned(name) {
            return visitor.visit_map(SpannedDeserializer::new(self, self.value.span()));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_enum(StrDeserializer::new(text)),
            _ => self.visit(StringExpected).map(|never| match never {}),
        }
        .map_err(|error: ReadError| error.at(self.value.span()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl IntoDeserializer<'_, ReadError> for Node<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Refuses everything, as *not a string*.
struct StringExpected;

impl Visitor<'_> for StringExpected {
    type Value = Infallible;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
}

/// The name of an entry.
#[derive(Clone, Copy)]
struct Key<'a>(&'a Spanned<DeString<'a>>);

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_str(self.0.get_ref()).map_err(|error: ReadError| error.at(self.0.span()))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if is_spanned(name) {
            return visitor.visit_map(SpannedDeserializer::new(self, self.0.span()));
        }
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl IntoDeserializer<'_, ReadError> for Key<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct Entries<'a> {
    remaining: <&'a DeTable<'a> as IntoIterator>::IntoIter,
    value: Option<(&'a Spanned<DeString<'a>>, Node<'a>)>,
    skipped: &'a Skipped,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        for (key, value) in self.remaining.by_ref() {
            let span = key.span();
            if self.skipped.contains(&(span.start, span.end)) {
                continue;
            }
            self.value = Some((key, Node { value, skipped: self.skipped }));
            return seed
                .deserialize(Key(key))
                .map(Some)
                .map_err(|error| error.at(span.clone()).in_entry(span, key.get_ref()));
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        match self.value.take() {
            Some((key, node)) => {
                seed.deserialize(node).map_err(|error| error.in_entry(key.span(), key.get_ref()))
            }
            None => Err(de::Error::custom("a value was asked for before its key")),
        }
    }
}

struct Elements<'a> {
    items: std::slice::Iter<'a, Spanned<DeValue<'a>>>,
    skipped: &'a Skipped,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        for value in self.items.by_ref() {
            let span = value.span();
            if self.skipped.contains(&(span.start, span.end)) {
                continue;
            }
            let node = Node { value, skipped: self.skipped };
            return seed.deserialize(node).map(Some).map_err(|error| error.entry_at(span));
        }
        Ok(None)
    }
}
