//! What is recorded.

use std::{fmt, str::FromStr, time::SystemTime};

use model::digest::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The name of one call, in every row, log line and answer that is about it: a UUID of version 7 (RFC 9562), so that names
/// sort by the time they were given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(String);

/// A text that is no call's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name of a call is a UUID in lower case, such as `0198c0de-7a3b-7c11-8f00-2b1d5e6f7a8b`")]
pub struct CallIdError;

/// A text that is no kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kinds are denied, intent, outcome, call, egress, key_use, identity, service, coalesced")]
pub struct KindError;

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A call was refused.
    Denied,
    /// A call is about to be performed: committed before it is.
    Intent,
    /// How a call ended whose intent was committed.
    Outcome,
    /// A call that changes nothing (tier 1), with its outcome, in one row.
    Call,
    /// A request that a cell made, or was kept from making.
    Egress,
    /// A key was written into a request.
    KeyUse,
    /// Somebody was not recognised: a refused token or key.
    Identity,
    /// The service itself: started, stopped, configuration read anew, rows brought back from a full disk.
    Service,
    /// How often the same refusal came after those that have rows of their own.
    Coalesced,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The server answered with a result.
    Ok,
    /// The tool says that it failed (`isError`).
    ToolError,
    /// The server answered with an error, or not at all.
    Failed,
    /// Whoever asked went away, or took the call back.
    Cancelled,
    /// It may or may not have been done: the server ended, or time was up.
    Unknown,
}

/// Who asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Who {
    /// Who vouches for the subject: a URL of an identity provider, or what stands for this machine.
    pub issuer: String,
    /// Name by which the issuer knows it.
    pub subject: String,
    /// To which customer it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Who acts for the subject (RFC 8693, `act`), the current one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actors: Vec<String>,
    /// How it was recognised: `token`, `key:NAME`, `peer:UID`, `local`.
    pub how: String,
    /// What the client says of itself. Nothing vouches for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// One thing that happened. Texts of strangers may be in any field: long ones are cut, with their digest, when it is written.
///
/// ```
/// use store::audit::{CallId, Event, Kind};
///
/// let event = Event {
///     call: Some(CallId::new()),
///     server: Some("orders".to_owned()),
///     name: Some("get_order".to_owned()),
///     code: Some("FH-TIER-3".to_owned()),
///     ..Event::new(Kind::Denied)
/// };
/// assert_eq!(event.kind, Kind::Denied);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What kind of thing.
    pub kind: Kind,
    /// When, by this machine's clock; kept to the microsecond.
    #[serde(with = "super::moment")]
    pub at: SystemTime,
    /// Which call it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// By which way it came: `mcp`, `messages`, `stdio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub face: Option<String>,
    /// Who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<Who>,
    /// Which server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What was wanted: `call_tool`, `read_resource`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<String>,
    /// Of what: the name of a tool or prompt as its server has it, or a URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How much a yes to it needs: 1, 2 or 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u8>,
    /// Digest of what was bound, completed and validated (RFC 8785 of server, tool and arguments).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Digest>,
    /// Which parameters were bound to who asks: their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<String>,
    /// Which rule decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Digest of the rules as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Digest>,
    /// Code of a refusal, `FH-…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Digest of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Digest>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// How long it took, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// Trace id (W3C Trace Context), if the caller sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Arguments or result as they are. Where bodies are kept ([`super::Settings::bodies`]) it lies apart from the row, which has
    /// its digest, and can be erased; else it is dropped before anything is written.
    #[serde(skip)]
    pub body: Option<Value>,
    /// Digest of the body that is kept (RFC 8785); set when it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_digest: Option<Digest>,
    /// Whatever else belongs to this kind. No arguments, results or values of keys.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl CallId {
    /// A new one.
    #[expect(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Self {
        Self(Uuid::now_v7().hyphenated().to_string())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CallId {
    type Err = CallIdError;

    fn from_str(text: &str) -> Result<Self, CallIdError> {
        let id = Uuid::try_parse(text).map_err(|_| CallIdError)?.hyphenated().to_string();
        if id == text { Ok(Self(id)) } else { Err(CallIdError) }
    }
}

impl Serialize for CallId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(KindError)
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Denied,
        Self::Intent,
        Self::Outcome,
        Self::Call,
        Self::Egress,
        Self::KeyUse,
        Self::Identity,
        Self::Service,
        Self::Coalesced,
    ];

    /// As it is written in rows and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Intent => "intent",
            Self::Outcome => "outcome",
            Self::Call => "call",
            Self::Egress => "egress",
            Self::KeyUse => "key_use",
            Self::Identity => "identity",
            Self::Service => "service",
            Self::Coalesced => "coalesced",
        }
    }
}

impl Outcome {
    /// As it is written in rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

impl Event {
    /// One of this kind, of now, that says nothing else yet.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            at: SystemTime::now(),
            call: None,
            face: None,
            principal: None,
            server: None,
            verb: None,
            name: None,
            tier: None,
            arguments: None,
            bound: Vec::new(),
            rule: None,
            policy: None,
            code: None,
            result: None,
            outcome: None,
            duration_us: None,
            trace: None,
            body: None,
            body_digest: None,
            details: Map::new(),
        }
    }
}
