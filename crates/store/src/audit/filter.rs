//! Which rows somebody wants.

use std::time::SystemTime;

use super::{CallId, Kind};

/// Which rows are wanted: those that fit everything that is said.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Of this call.
    pub call: Option<CallId>,
    /// Of this server.
    pub server: Option<String>,
    /// Of this tool, prompt or resource.
    pub name: Option<String>,
    /// Of this subject.
    pub subject: Option<String>,
    /// Of this tenant.
    pub tenant: Option<String>,
    /// With this code.
    pub code: Option<String>,
    /// That happened then or later.
    pub since: Option<SystemTime>,
    /// That happened before.
    pub until: Option<SystemTime>,
}
