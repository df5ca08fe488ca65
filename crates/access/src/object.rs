//! What a call is about.

use std::fmt;

use model::name::ServerName;
use serde::{Deserialize, Serialize};

/// What somebody wants to do. Each walks the same road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// `tools/call`
    CallTool,
    /// `prompts/get`
    GetPrompt,
    /// `resources/read`
    ReadResource,
    /// `completion/complete`, of a prompt or of a resource template
    Complete,
    /// `resources/subscribe`
    Subscribe,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::CallTool, Self::GetPrompt, Self::ReadResource, Self::Complete, Self::Subscribe];

    /// Its name in configuration and record: `call_tool`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CallTool => "call_tool",
            Self::GetPrompt => "get_prompt",
            Self::ReadResource => "read_resource",
            Self::Complete => "complete",
            Self::Subscribe => "subscribe",
        }
    }

    /// What its name is the name of.
    pub(crate) const fn thing(self) -> &'static str {
        match self {
            Self::CallTool => "tool",
            Self::GetPrompt => "prompt",
            Self::ReadResource | Self::Subscribe => "resource",
            Self::Complete => "prompt or resource template",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing of one server, and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Object {
    /// What is wanted.
    pub verb: Verb,
    /// The server.
    pub server: ServerName,
    /// The server's own name of the tool or prompt, or the resource's URI; of a completion, the prompt's name or the
    /// template of the resource.
    pub name: String,
}
