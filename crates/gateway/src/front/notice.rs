//! Why a server cannot be used, and which command a person runs about it.

/// Said to a person on stderr, and to a model in place of the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The server.
    pub server: String,
    /// Why, in a sentence without a full stop: `it was not reviewed yet`.
    pub reason: String,
    /// The command that a person runs: `fumehood review weather`.
    pub remedy: String,
}

impl Notice {
    /// For a model. It names no text of the server: nobody has accepted one.
    pub(super) fn description(&self) -> String {
        format!(
            "The MCP server {:?} cannot be used: {}. A person has to decide about it, in a terminal, by `{}`; an \
             assistant must not do it for them. Until then this is its only tool, and it says no more than this.",
            self.server, self.reason, self.remedy
        )
    }

    /// What a refused call is answered with.
    pub(super) fn refusal(&self) -> String {
        format!(
            "FH-NOT-ACCEPTED: the server {:?} cannot be used: {}. A person has to run `{}` in a terminal.",
            self.server, self.reason, self.remedy
        )
    }
}
