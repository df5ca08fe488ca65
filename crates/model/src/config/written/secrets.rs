//! `secrets` of a server, and `[secrets]` of the operator's file.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_spanned::Spanned;

use super::At;

/// Secrets that a server uses: names, or a table of variables and the secret that each stands for.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Secrets {
    /// Each in the variable of its own name.
    Names(
        #[schemars(length(max = 32), inner(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")))]
        Vec<At<String>>,
    ),
    /// By variable.
    Variables(
        #[schemars(extend(
            "maxProperties" = 32,
            "propertyNames" = { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "enum": ["HOME", "TMPDIR"] } },
        ))]
        BTreeMap<At<String>, SecretRef>,
    ),
}

/// Which secret, and whose value of it.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum SecretRef {
    /// The one of this name.
    Name(#[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"))] At<String>),
    /// Name and whose value apart.
    Table(SecretTable),
}

/// Name and whose value apart.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretTable {
    /// The secret's name.
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"))]
    pub(crate) name: At<String>,
    /// Whose value: the same for all where nothing is said, or `user`, with `cell = "user"`: each caller's own.
    pub(crate) per: Option<At<Per>>,
}

/// Whose value of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Per {
    /// Each caller's own.
    User,
}

impl Default for Secrets {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Secrets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretsVisitor)
    }
}

struct SecretsVisitor;

impl<'de> Visitor<'de> for SecretsVisitor {
    type Value = Secrets;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of secrets, or a table with a secret for each variable")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Secrets, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(seq)).map(Secrets::Names)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Secrets, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(Secrets::Variables)
    }
}

impl SecretRef {
    /// The secret's name.
    pub(crate) fn name(&self) -> &At<String> {
        match self {
            Self::Name(name) => name,
            Self::Table(table) => &table.name,
        }
    }

    /// Whose value, where it is said.
    pub(crate) fn per(&self) -> Option<&At<Per>> {
        match self {
            Self::Name(_) => None,
            Self::Table(table) => table.per.as_ref(),
        }
    }
}

impl<'de> Deserialize<'de> for SecretRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Spanned::<Read>::deserialize(deserializer)?;
        let span = read.span();
        Ok(match read.into_inner() {
            Read::Name(name) => Self::Name(At(Spanned::new(span, name))),
            Read::Table(table) => Self::Table(table),
        })
    }
}

/// What was read, before it is known where it stood.
enum Read {
    Name(String),
    Table(SecretTable),
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadVisitor)
    }
}

struct ReadVisitor;

impl<'de> Visitor<'de> for ReadVisitor {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret's name, or a table with `name` and `per`")
    }

    fn visit_str<E>(self, text: &str) -> Result<Read, E> {
        Ok(Read::Name(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Read, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(Read::Table)
    }
}

/// A secret whose value is not in the vault: where it comes from, by one of `env`, `file` and `command`, and where it may
/// be written.
#[derive(Debug, Default, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DeclaredSecret {
    /// The variable of whoever starts Fumehood that holds the value.
    #[schemars(length(min = 1))]
    pub(crate) env: Option<At<String>>,
    /// The file that holds the value; one line end at its end is no part of it.
    #[schemars(length(min = 1))]
    pub(crate) file: Option<At<String>>,
    /// The program that writes the value to its stdout, and its arguments. No shell reads them.
    #[schemars(length(min = 1))]
    pub(crate) command: Option<At<Vec<At<String>>>>,
    /// With `command`: the variables it is given; it has no others.
    #[schemars(inner(length(min = 1)))]
    pub(crate) pass_env: Vec<At<String>>,
    /// With `command`: how long it may take, in seconds; 10 where nothing is said.
    #[schemars(range(min = 1, max = 120))]
    pub(crate) timeout: Option<At<i64>>,
    /// Hosts, each `api.example.com`, `api.example.com:8443` or `*.example.com`; always HTTPS. Without any the secret can
    /// only be exposed.
    #[schemars(length(max = 64), inner(length(min = 1, max = 260), regex(pattern = r"^\S+$")))]
    pub(crate) hosts: Vec<At<String>>,
    /// Methods such as `GET`; any where empty.
    #[schemars(length(max = 64), inner(length(min = 1, max = 24)))]
    pub(crate) methods: Vec<At<String>>,
    /// Paths such as `/repos/acme/*`; any where empty.
    #[schemars(length(max = 64), inner(length(min = 1, max = 512), regex(pattern = "^/")))]
    pub(crate) paths: Vec<At<String>>,
    /// Places of a request: `header:NAME`, `basic`, `query:NAME`, `path`, `json`, `form`, `websocket`; the header
    /// `authorization` where empty.
    #[schemars(length(max = 64), inner(length(min = 1, max = 140)))]
    pub(crate) places: Vec<At<String>>,
    /// What becomes of credentials that are not the cell's own: `refuse` where nothing is said, or `allow`.
    pub(crate) foreign: Option<At<Foreign>>,
}

/// What becomes of credentials that are not the cell's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Foreign {
    /// The request is refused.
    Refuse,
    /// They are passed on.
    Allow,
}
