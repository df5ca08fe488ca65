//! Whose cell a server runs in.

use std::fmt;

use super::complaint::Complaint;
use crate::name::ServerName;

/// Who has a cell of a server for himself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Whose {
    /// Nobody: all callers have the same one.
    #[default]
    Server,
    /// Each caller has one.
    User,
    /// All callers have the same one, which is told apart by this name.
    Group(ServerName),
}

impl Whose {
    pub(super) fn parse(text: &str) -> Result<Self, Complaint> {
        match text {
            "server" => return Ok(Self::Server),
            "user" => return Ok(Self::User),
            _ => {}
        }
        let name = text.strip_prefix("group:").and_then(|name| ServerName::new(name).ok());
        name.map(Self::Group).ok_or_else(|| {
            Complaint::new(format!("`{text}` says of nobody whose cell it is"))
                .help("write `server`, `user` or `group:NAME`")
        })
    }
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("server"),
            Self::User => f.write_str("user"),
            Self::Group(name) => write!(f, "group:{name}"),
        }
    }
}
