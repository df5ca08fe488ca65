//! What was refused, by which rule, and what would allow it.

use model::name::ServerName;
use serde::{Deserialize, Serialize};

use crate::name::{shown, shown_long};
use crate::rule::HostRule;

pub use code::Code;
pub(crate) use remedy::pin_lines;

pub mod code;
pub mod remedy;

/// Whom a refusal is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The server whose cell it is.
    pub server: &'a ServerName,
    /// The host as asked for; a name, or what stood in its place.
    pub host: &'a str,
    /// The TCP port, where one is known.
    pub port: Option<u16>,
    /// The rule that was the reason, or that had let it through until then.
    pub rule: Option<&'a HostRule>,
}

/// A refusal, complete: it says what would allow the same thing.
///
/// As JSON it is the body of an HTTP answer and the entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What happened, with its object.
    pub message: String,
    /// The host as asked for, fit for a terminal.
    pub host: String,
    /// The TCP port, where one is known.
    pub port: Option<u16>,
    /// The rule that was the reason; none where the reason is that there is none.
    pub rule: Option<String>,
    /// What would allow it: a command, or the lines of the operator's file.
    pub remedy: String,
}

impl Refusal {
    /// A refusal about `subject`; `detail` says what was seen, and is empty where the code says it all.
    pub fn new(code: Code, subject: Subject<'_>, detail: &str) -> Self {
        let detail = shown_long(detail);
        let host = shown(subject.host);
        let place = match subject.port {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        let message = if detail.is_empty() {
            format!("`{place}`: {}", code.what())
        } else {
            format!("`{place}`: {}: {detail}", code.what())
        };
        let remedy = remedy::of(code, subject);
        Self { code, message, host, port: subject.port, rule: subject.rule.map(ToString::to_string), remedy }
    }

    /// The same refusal with a remedy that only the place of the refusal knows.
    #[must_use]
    pub fn with_remedy(mut self, remedy: String) -> Self {
        self.remedy = remedy;
        self
    }
}

#[cfg(test)]
mod tests;
