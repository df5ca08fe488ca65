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
    /// The server's own name of the tool or prompt, or the resource's URI; of a completion see [`Object::completion`].
    pub name: String,
}

/// Which part of a role has to name an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// `tools`
    Tools,
    /// `prompts`
    Prompts,
    /// `resources`
    Resources,
}

/// What the argument belongs to that is to be completed (`ref` of `completion/complete`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes<'a> {
    /// The prompt of this name: `ref/prompt`.
    Prompt(&'a str),
    /// The resource template with this URI: `ref/resource`.
    Template(&'a str),
}

impl Object {
    /// A completion. Its name says what it belongs to (`prompt:NAME`, `template:URI`), so that neither is taken for the other.
    pub fn completion(server: ServerName, of: Completes<'_>) -> Self {
        let name = match of {
            Completes::Prompt(name) => format!("{PROMPT}{name}"),
            Completes::Template(uri) => format!("{TEMPLATE}{uri}"),
        };
        Self { verb: Verb::Complete, server, name }
    }

    /// Which part of a role has to name it, and by what; nothing where its name does not say.
    pub fn part(&self) -> Option<(Part, &str)> {
        let name = self.name.as_str();
        match self.verb {
            Verb::CallTool => Some((Part::Tools, name)),
            Verb::GetPrompt => Some((Part::Prompts, name)),
            Verb::ReadResource | Verb::Subscribe => Some((Part::Resources, name)),
            Verb::Complete => name
                .strip_prefix(PROMPT)
                .map(|name| (Part::Prompts, name))
                .or_else(|| name.strip_prefix(TEMPLATE).map(|uri| (Part::Resources, uri))),
        }
    }
}

const PROMPT: &str = "prompt:";
const TEMPLATE: &str = "template:";

impl Part {
    /// Its key in `[roles.NAME]`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
        }
    }
}
