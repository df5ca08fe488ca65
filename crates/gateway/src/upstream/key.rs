//! Whose cell.

use std::fmt;

use model::name::ServerName;

/// Whose cell of which server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// The server.
    pub server: ServerName,
    /// Whose.
    pub whose: Holder,
}

/// Who uses a cell together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// Everybody who may use the server.
    Server,
    /// One principal, by [`access::principal::Principal::key`].
    User(String),
    /// Everybody in a group, by its name.
    Group(String),
}

impl fmt::Display for CellKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.whose {
            Holder::Server => write!(f, "{}", self.server),
            Holder::User(user) => write!(f, "{} of user {}", self.server, user.get(..12).unwrap_or(user)),
            Holder::Group(group) => write!(f, "{} of group {group}", self.server),
        }
    }
}
