//! `hosts` of a server, and the entries of `[allow]`.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::At;

/// What a server may reach: a list of rules, or a table of hosts with the requests they may get.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Hosts {
    /// Each `api.example.com` (TLS on 443, HTTP on 80), `*.example.com` (every name below), `host:8443` (TLS),
    /// `http://host:8080`, `tcp://host:5432`; with methods before and a path behind: `GET,HEAD host/v1/*`; `* host` for any
    /// request, looked at one by one.
    List(
        #[schemars(
            length(max = 256),
            inner(length(min = 1, max = 1200), regex(pattern = r"^([A-Z*,_-]+ )?\S+$"))
        )]
        Vec<At<String>>,
    ),
    /// By host, written as in the list without methods and path.
    Table(
        #[schemars(extend(
            "maxProperties" = 256,
            "propertyNames" = { "minLength": 1, "maxLength": 300, "pattern": r"^\S+$" },
        ))]
        BTreeMap<At<String>, Requests>,
    ),
}

/// The requests of one host: one kind, or a list of kinds.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Requests {
    /// One kind.
    One(Kind),
    /// Several: methods and paths of each belong together.
    Several(#[schemars(length(min = 1, max = 64))] Vec<Kind>),
}

/// Which requests a host may get; any where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Kind {
    /// Methods such as `GET`; any where nothing is said.
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 24)))]
    pub(crate) methods: Option<At<Vec<At<String>>>>,
    /// Paths such as `/repos/acme/*`; any where nothing is said.
    #[schemars(length(min = 1, max = 64), inner(length(min = 1, max = 512), regex(pattern = "^/")))]
    pub(crate) paths: Option<At<Vec<At<String>>>>,
    /// Whether requests are looked at one by one. Where methods or paths are named they always are.
    pub(crate) inspect: Option<Inspect>,
}

/// When requests are looked at one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Inspect {
    /// Also where any request may be made, so that no connection is used for another host than its own.
    Always,
}

impl Default for Hosts {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HostsVisitor)
    }
}

impl Requests {
    /// Each kind.
    pub(crate) fn kinds(&self) -> &[Kind] {
        match self {
            Self::One(kind) => std::slice::from_ref(kind),
            Self::Several(kinds) => kinds,
        }
    }
}

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RequestsVisitor)
    }
}

struct RequestsVisitor;

impl<'de> Visitor<'de> for RequestsVisitor {
    type Value = Requests;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a table such as `{ methods = [\"GET\"], paths = [\"/v1/*\"] }`, or a list of such tables",
        )
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Requests, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(seq)).map(Requests::Several)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Requests, A::Error> {
        Kind::deserialize(MapAccessDeserializer::new(map)).map(Requests::One)
    }
}

struct HostsVisitor;

impl<'de> Visitor<'de> for HostsVisitor {
    type Value = Hosts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of hosts, or a table with the requests of each host")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Hosts, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(seq)).map(Hosts::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Hosts, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(Hosts::Table)
    }
}
