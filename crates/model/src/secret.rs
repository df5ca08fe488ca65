//! What a secret is called, and where its value may be written. The value itself is not in this crate.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::request::{Method, PathPattern};

/// A secret's name: 1 to 64 of `A-Z a-z 0-9 _`, beginning with a letter or `_`, like a variable's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

impl SecretName {
    /// Longest accepted name, in bytes.
    pub const MAX_LEN: usize = 64;

    /// Checks and keeps a name.
    pub fn new(text: impl Into<String>) -> Result<Self, SecretNameError> {
        let text = text.into();
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let rest = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if first && rest && text.len() <= Self::MAX_LEN {
            Ok(Self(text))
        } else {
            Err(SecretNameError { text })
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SecretName {
    type Error = SecretNameError;
    fn try_from(text: String) -> Result<Self, SecretNameError> {
        Self::new(text)
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> Self {
        name.0
    }
}

/// A text that is no name of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a secret's name: use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`"
)]
pub struct SecretNameError {
    text: String,
}

/// Where the value of one secret may be written, and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Hosts, each `api.github.com`, `api.github.com:8443` or `*.example.com`; always HTTPS. Never empty for a secret that
    /// is substituted.
    pub hosts: Vec<String>,
    /// Methods; any but `OPTIONS` where empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<Method>,
    /// Paths; any where empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathPattern>,
    /// Places of a request; the header `authorization` where empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// What becomes of credentials that are not the cell's placeholder.
    #[serde(default)]
    pub foreign: Foreign,
}

/// A place of a request where a placeholder is replaced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Place {
    /// `header:NAME`: the value of this header (lower case), anywhere in it: `Bearer …`, `token …`, alone.
    Header(String),
    /// `basic`: the user name or the password of HTTP Basic (RFC 7617), taken apart and put together again.
    Basic,
    /// `query:NAME`: the value of this parameter of the query.
    Query(String),
    /// `path`: a whole segment of the path, or a part of one (Telegram's `/botTOKEN/…`).
    Path,
    /// `json`: text values anywhere in a JSON body.
    Json,
    /// `form`: values of a body of `application/x-www-form-urlencoded`.
    Form,
    /// `websocket`: text messages to the host.
    WebSocket,
}

/// What becomes of a request to a bound host whose places for credentials hold anything but a placeholder of this cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Foreign {
    /// It is refused: with a key of the attacker's own the host would be a way out.
    #[default]
    Refuse,
    /// It is passed on.
    Allow,
}

impl Place {
    /// Reads `header:NAME`, `basic`, `query:NAME`, `path`, `json`, `form` or `websocket`.
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        let fault = || PlaceError { text: text.to_owned() };
        match text.split_once(':') {
            Some(("header", name)) => {
                let lower = name.to_ascii_lowercase();
                if is_token(&lower) && !NEVER.contains(&lower.as_str()) {
                    Ok(Self::Header(lower))
                } else {
                    Err(fault())
                }
            }
            Some(("query", name)) if !name.is_empty() && name.len() <= 128 && is_token(name) => {
                Ok(Self::Query(name.to_owned()))
            }
            None if text == "basic" => Ok(Self::Basic),
            None if text == "path" => Ok(Self::Path),
            None if text == "json" => Ok(Self::Json),
            None if text == "form" => Ok(Self::Form),
            None if text == "websocket" => Ok(Self::WebSocket),
            _ => Err(fault()),
        }
    }
}

/// Headers that say how a message is read or for whom it is: never a place for a key.
const NEVER: [&str; 12] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "accept-encoding",
    "content-encoding",
    "content-type",
    "keep-alive",
];

/// Whether it is a token (RFC 9110 §5.6.2) of at most 128 bytes.
fn is_token(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Basic => f.write_str("basic"),
            Self::Query(name) => write!(f, "query:{name}"),
            Self::Path => f.write_str("path"),
            Self::Json => f.write_str("json"),
            Self::Form => f.write_str("form"),
            Self::WebSocket => f.write_str("websocket"),
        }
    }
}

impl TryFrom<String> for Place {
    type Error = PlaceError;
    fn try_from(text: String) -> Result<Self, PlaceError> {
        Self::parse(&text)
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.to_string()
    }
}

/// A text that is no place of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a place for a key: use `header:NAME`, `basic`, `query:NAME`, `path`, `json`, `form` or `websocket`"
)]
pub struct PlaceError {
    text: String,
}

/// The use of a secret by a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretUse {
    /// Which.
    pub name: SecretName,
    /// The variable of the cell's environment that holds the placeholder.
    pub variable: String,
    /// Whether the cell gets the real value instead.
    #[serde(default)]
    pub expose: bool,
    /// Whose value it is.
    #[serde(default, skip_serializing_if = "Per::is_everyone")]
    pub per: Per,
}

/// Whose value of a secret a cell gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// The one value that there is.
    #[default]
    Everyone,
    /// That of the user for whom the cell runs. No cell of more than one user can have it.
    User,
}

impl Per {
    /// Whether it is the default.
    pub fn is_everyone(&self) -> bool {
        *self == Self::Everyone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_as_it_is_written() {
        for text in ["header:x-api-key", "basic", "query:key", "path", "json", "form", "websocket"] {
            assert_eq!(Place::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Place::parse("header:Authorization").unwrap(), Place::Header("authorization".into()));
        for text in ["", "header", "header:", "header:a b", "header:Host", "query:", "basic:x", "body"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_binding_without_more_than_hosts_is_complete() {
        let binding: Binding = serde_json::from_str(r#"{"hosts":["api.example.com"]}"#).unwrap();
        assert_eq!(binding.foreign, Foreign::Refuse);
        assert_eq!(
            serde_json::to_string(&binding).unwrap(),
            r#"{"hosts":["api.example.com"],"foreign":"refuse"}"#
        );
        assert!(serde_json::from_str::<Binding>(r#"{"hosts":[],"host":"x"}"#).is_err());
    }
}
