//! What a caller asks for, as a face hands it to the road; and what comes of it.

use std::sync::Arc;

use access::{
    Verb,
    principal::Principal,
    refusal::{Code, Refusal},
};
use model::name::ServerName;
use serde_json::{Map, Value};
use store::audit::CallId;
use tokio::sync::mpsc;

use crate::pool::{Question, Subscription};

/// Of which servers a caller speaks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Of all: names are those of [`crate::names`].
    All,
    /// Of one, by the names that it has itself.
    Server(ServerName),
}

/// By which door a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Face {
    /// MCP over HTTP.
    Mcp,
    /// The Messages API.
    Messages,
    /// `fumehood run`: MCP over stdio.
    Stdio,
}

impl Face {
    /// As it stands in the record: `mcp`, `messages`, `stdio`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Messages => "messages",
            Self::Stdio => "stdio",
        }
    }
}

/// One request, from a caller who is known.
#[derive(Debug)]
pub struct Received {
    /// Names it in the record, and everywhere else.
    pub call: CallId,
    /// Where it came in.
    pub face: Face,
    /// Who asks, from what was verified for this very request.
    pub principal: Arc<Principal>,
    /// Of which servers.
    pub scope: Scope,
    /// What is to be done.
    pub verb: Verb,
    /// The name of a tool or prompt, or the address of a resource, as the caller wrote it.
    pub name: String,
    /// `params` without `_meta`, read by [`model::json::parse`].
    pub params: Map<String, Value>,
    /// `params._meta`.
    pub meta: Map<String, Value>,
    /// What the client calls itself. Nobody has verified it.
    pub client: Option<String>,
    /// Where progress goes; none where nobody asked for it.
    pub progress: Option<mpsc::Sender<Value>>,
    /// Where the server's own questions go; none where nobody can be asked.
    pub questions: Option<mpsc::Sender<Question>>,
    /// Whether the caller speaks the revision 2026-07-28.
    pub modern: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Concluded {
    /// Its name in the record.
    pub call: CallId,
    /// The end.
    pub end: End,
    /// Of [`Verb::Subscribe`]: the server is asked for it as long as this is kept.
    pub subscription: Option<Subscription>,
}

/// How a request ended.
#[derive(Debug)]
pub enum End {
    /// The server's result.
    Done(Value),
    /// It was not done, or nobody knows whether it was.
    Refused(Box<Refusal>),
    /// The server's error: the `error` member of its answer (JSON-RPC 2.0, section 5.1).
    Failed(Value),
}

impl Concluded {
    /// A call of which nobody knows what became.
    pub(crate) fn lost(call: CallId) -> Self {
        let refusal = Refusal::new(Code::SERVER_ENDED, "nobody knows what became of the call");
        Self { call, end: End::Refused(Box::new(refusal)), subscription: None }
    }
}

impl Received {
    /// Whether a completion is of a prompt (MCP 2025-11-25, completion, `ref/prompt`).
    pub(crate) fn is_of_prompt(&self) -> bool {
        let of = self.params.get("ref").and_then(|of| of.get("type"));
        of.and_then(Value::as_str) == Some("ref/prompt")
    }
}
