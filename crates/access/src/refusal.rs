//! Why something is not done.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::object::Verb;

/// Why a call goes no further, in words that a model can act on and that say nothing a caller must not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct Refusal {
    /// The stable code; the same one stands in the answer, the log and the record.
    pub code: Code,
    /// What is wrong: one or more lines, without any bound value and without more than an excerpt of any argument.
    pub reason: String,
    /// The rule that decided, such as `roles.support.tools[1]`. For the record and for whoever writes the rules; no face
    /// shows it.
    pub rule: Option<String>,
    /// What the caller can do about it.
    pub remedy: Option<String>,
    /// Whether the answer has to be the one to a name that does not exist.
    pub hidden: bool,
}

impl Refusal {
    /// A refusal without rule and remedy.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), rule: None, remedy: None, hidden: false }
    }

    /// The only answer to a name that does not exist and to one that this caller may not use: it has nothing in it that
    /// differs between the two, not even for the record. What it was that the caller may not use, the record takes from the
    /// verdict.
    pub fn unknown(verb: Verb) -> Self {
        let reason = format!("there is no {} of this name", verb.thing());
        Self { hidden: true, ..Self::new(Code::TOOL_UNKNOWN, reason) }
    }

    /// The same with the rule that decided.
    #[must_use]
    pub fn rule(self, rule: impl Into<String>) -> Self {
        Self { rule: Some(rule.into()), ..self }
    }

    /// The same with what the caller can do.
    #[must_use]
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Reason and remedy, as a caller reads them.
    pub fn text(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{} ({remedy})", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// A stable code, such as `FH-BINDING-CONFLICT`. `docs/reference/errors.md` has an entry for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// No such name, or none that this caller may use.
    pub const TOOL_UNKNOWN: Self = Self("FH-TOOL-UNKNOWN");
    /// The arguments are no object that everybody reads alike.
    pub const ARGUMENTS_MALFORMED: Self = Self("FH-ARGUMENTS-MALFORMED");
    /// Too many bytes, values or levels.
    pub const ARGUMENTS_SIZE: Self = Self("FH-ARGUMENTS-SIZE");
    /// The arguments do not fit the tool's schema.
    pub const ARGUMENTS_SCHEMA: Self = Self("FH-ARGUMENTS-SCHEMA");
    /// A value for a bound parameter that is not the caller's.
    pub const BINDING_CONFLICT: Self = Self("FH-BINDING-CONFLICT");
    /// The caller's identity has not what a parameter is bound to.
    pub const BINDING_MISSING: Self = Self("FH-BINDING-MISSING");
    /// A secret or a private key in the arguments.
    pub const SECRET_ARGUMENT: Self = Self("FH-SECRET-ARGUMENT");
    /// Only a person may let this happen.
    pub const TIER_3: Self = Self("FH-TIER-3");
    /// Too many calls in a time.
    pub const LIMIT_RATE: Self = Self("FH-LIMIT-RATE");
    /// Too many calls at once.
    pub const LIMIT_CONCURRENCY: Self = Self("FH-LIMIT-CONCURRENCY");
    /// No answer within the tool's time.
    pub const TIMEOUT: Self = Self("FH-TIMEOUT");
    /// What would be done cannot be recorded.
    pub const AUDIT_UNAVAILABLE: Self = Self("FH-AUDIT-UNAVAILABLE");
    /// The server ended before it answered.
    pub const SERVER_ENDED: Self = Self("FH-SERVER-ENDED");
    /// Too many calls wait for the server.
    pub const SERVER_BUSY: Self = Self("FH-SERVER-BUSY");
    /// The running server has not what was accepted of it.
    pub const CHANGED: Self = Self("FH-CHANGED");
    /// Nothing of the server may be used.
    pub const SERVER_WITHHELD: Self = Self("FH-SERVER-WITHHELD");
    /// The service is about to end.
    pub const STOPPING: Self = Self("FH-STOPPING");

    /// A code of another crate.
    pub const fn new(text: &'static str) -> Self {
        Self(text)
    }

    /// It as text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}
