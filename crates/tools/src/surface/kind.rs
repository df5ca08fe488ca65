//! The four lists of a server.

use std::fmt;

/// What an entry of a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Of `tools/list`.
    Tool,
    /// Of `prompts/list`.
    Prompt,
    /// Of `resources/list`.
    Resource,
    /// Of `resources/templates/list`.
    ResourceTemplate,
}

impl Kind {
    /// Every one, in the order in which they are asked for and shown.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::ResourceTemplate];

    /// For people, and in the stored form: `tool`, `resource template`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource template",
        }
    }

    /// The member of a result (and of the stored form) that holds the list.
    pub fn list(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::ResourceTemplate => "resourceTemplates",
        }
    }

    /// The method that asks for the list.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/list",
            Self::Prompt => "prompts/list",
            Self::Resource => "resources/list",
            Self::ResourceTemplate => "resources/templates/list",
        }
    }

    /// The member of an entry that names it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::ResourceTemplate => "uriTemplate",
        }
    }

    /// The capability without which a server has no such list.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource | Self::ResourceTemplate => "resources",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
