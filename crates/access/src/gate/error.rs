//! Why a tool cannot be offered.

/// A tool whose calls cannot be judged. It is left out; the others of its server are not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// It has no name.
    #[error("the tool has no name")]
    Nameless,
    /// It does not say what it takes.
    #[error("`inputSchema` is not a JSON object")]
    NoSchema,
    /// The schema is not one.
    #[error("`inputSchema` is not a schema: {0}")]
    Schema(String),
    /// The schema needs something that is not in it.
    #[error("`inputSchema` refers to `{0}`, which is not in it")]
    Reference(String),
    /// Judging by this schema could take too long.
    #[error("`inputSchema` {0}")]
    Unbounded(&'static str),
    /// A bound parameter that the tool has not.
    #[error("`bind.{name}`: the tool has no such parameter; it has {known}")]
    NotBindable {
        /// The parameter.
        name: String,
        /// Those it has.
        known: String,
    },
    /// A bound parameter that the schema speaks of in a place where taking it out would change the meaning.
    #[error("`bind.{name}`: the schema speaks of it in `{place}` as well")]
    Entangled {
        /// The parameter.
        name: String,
        /// The keyword.
        place: String,
    },
    /// A default of a parameter that the tool has not.
    #[error("`defaults.{name}`: the tool has no such parameter; it has {known}")]
    NoParameter {
        /// The parameter.
        name: String,
        /// Those it has.
        known: String,
    },
}

impl GateError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Nameless | Self::NoSchema | Self::Schema(_) | Self::Reference(_) | Self::Unbounded(_) => {
                "only the server's author can change this; its other tools are not affected"
            }
            Self::NotBindable { .. } | Self::NoParameter { .. } => {
                "correct the name in `[servers.NAME.tools]`; without that the tool stays away"
            }
            Self::Entangled { .. } => "bind another parameter, or take the tool from all roles",
        }
    }
}
