//! JSON of strangers, read so that two readers cannot disagree about it, and written in one way only.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::visible::excerpt;

/// Deepest nesting of arrays and objects that is read: that of `serde_json`.
pub const MAX_DEPTH: usize = 127;

/// Bytes that are no JSON, or JSON that means different things to different readers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Not JSON (RFC 8259): malformed, deeper than [`MAX_DEPTH`], a number beyond a double, half a surrogate pair.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line, counted from 1.
        line: usize,
        /// Column in bytes, counted from 1; 0 where the text ends with a line end.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// An object has a key twice: one reader takes the first, another the last.
    #[error("line {line}: the key `{path}` stands twice")]
    Duplicate {
        /// Line of the second one, counted from 1.
        line: usize,
        /// Keys and indexes from the root, such as `tools[3].name`.
        path: String,
    },
    /// A value that RFC 8785 cannot write.
    #[error("{0}")]
    Unwritable(String),
}

impl JsonError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => {
                "JSON is wanted, at most 127 levels deep, with numbers that fit into a double"
            }
            Self::Duplicate { .. } => "write the key once",
            Self::Unwritable(_) => "numbers have to be finite",
        }
    }
}

/// Reads one JSON text (RFC 8259, with the rules of I-JSON, RFC 7493, for keys and numbers).
///
/// # Errors
///
/// [`JsonError`] where it is malformed, has a key twice in one object at any depth, is deeper than [`MAX_DEPTH`], has a
/// number beyond a double's range, half a surrogate pair, or anything after the value.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    let reading = Reading::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = reading.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| match reading.duplicate.take() {
        Some(path) => JsonError::Duplicate { line: error.line(), path },
        None => syntax(&error),
    })
}

/// Writes a value in the one way of RFC 8785: keys by UTF-16 code units, numbers as ECMAScript does, no white space.
///
/// # Errors
///
/// [`JsonError::Unwritable`] for a number that is not finite, which [`parse`] never yields.
pub fn canonical(value: &Value) -> Result<Vec<u8>, JsonError> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| JsonError::Unwritable(error.to_string()))
}

/// The order in which RFC 8785 (section 3.2.3) has keys, which is JavaScript's: by UTF-16 code units.
pub fn order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

fn syntax(error: &serde_json::Error) -> JsonError {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = excerpt(text.strip_suffix(&place).unwrap_or(&text), 200);
    JsonError::Syntax { line: error.line(), column: error.column(), message }
}

/// Where in the document the reader stands, and the key that was met twice.
#[derive(Default)]
struct Reading {
    path: RefCell<Vec<Step>>,
    duplicate: RefCell<Option<String>>,
}

enum Step {
    Key(String),
    Index(usize),
}

impl Reading {
    /// The steps as text; a long one from its end, where the problem is.
    fn place(&self) -> String {
        let path = self.path.borrow();
        let left_out = path.len().saturating_sub(12);
        let start = if left_out > 0 { "…" } else { "" };
        path.iter().skip(left_out).fold(start.to_owned(), |text, step| match step {
            Step::Index(index) => format!("{text}[{index}]"),
            Step::Key(key) if text.is_empty() => excerpt(key, 60),
            Step::Key(key) => format!("{text}.{}", excerpt(key, 60)),
        })
    }

    fn within<T>(&self, step: Step, read: impl FnOnce() -> T) -> T {
        self.path.borrow_mut().push(step);
        let value = read();
        self.path.borrow_mut().pop();
        value
    }
}

impl<'de> DeserializeSeed<'de> for &Reading {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &Reading {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = self.within(Step::Index(values.len()), || items.next_element_seed(self))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let twice = members.contains_key(&key);
            let value = self.within(Step::Key(key.clone()), || {
                if twice {
                    *self.duplicate.borrow_mut() = Some(self.place());
                    return Err(A::Error::custom("a key stands twice"));
                }
                entries.next_value_seed(self)
            })?;
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests;
