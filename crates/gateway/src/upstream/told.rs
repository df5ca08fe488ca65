//! What callers hold of a server beyond one call: addresses that they follow, logs that they read.

use std::{str::FromStr, sync::Arc};

use model::name::ServerName;
use serde_json::Value;

use super::Holder;

/// A notification of a server that is of no one call: `notifications/resources/updated`, `notifications/message` and the
/// like. Who may have it is for whoever passes it on.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The server.
    pub server: ServerName,
    /// Whose cell it came from.
    pub holder: Holder,
    /// The whole message.
    pub notification: Arc<Value>,
}

/// How much a server is to log (MCP 2025-11-25, logging, which has them from RFC 5424).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Everything.
    Debug,
    /// General information.
    Info,
    /// Normal but significant.
    Notice,
    /// Warnings.
    Warning,
    /// Errors.
    Error,
    /// Critical conditions.
    Critical,
    /// Something has to be done at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl Level {
    /// Every one, from most to least talkative.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// As the protocol writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl FromStr for Level {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|level| level.as_str() == text).ok_or(())
    }
}
