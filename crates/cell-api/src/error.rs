//! Refusals of the API: a stable code, what happened, what to do.

use serde::{Deserialize, Serialize};

/// The body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ErrorBody {
    /// Which refusal; each has a paragraph in `docs/reference/errors.md`.
    pub code: ErrorCode,
    /// What happened, with its object.
    pub message: String,
    /// What to do about it; empty where there is nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// The layer that is missing, where the refusal is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
}

/// The closed list of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ErrorCode {
    /// The request is not one of this API.
    #[serde(rename = "FH-CELL-NOT-FOUND")]
    NotFound,
    /// The path exists, the method does not.
    #[serde(rename = "FH-CELL-METHOD")]
    Method,
    /// The body is not the JSON that was expected.
    #[serde(rename = "FH-CELL-BODY")]
    Body,
    /// The body is larger than the supervisor reads.
    #[serde(rename = "FH-CELL-BODY-SIZE")]
    BodySize,
    /// A value in the body cannot be.
    #[serde(rename = "FH-CELL-SPEC")]
    Spec,
    /// A mount is refused.
    #[serde(rename = "FH-CELL-MOUNT")]
    Mount,
    /// The program is not there, on the host or inside.
    #[serde(rename = "FH-CELL-COMMAND")]
    Command,
    /// A wall cannot be held on this host.
    #[serde(rename = "FH-CELL-WALL")]
    Wall,
    /// A layer that was made a condition is not enforced on this host.
    #[serde(rename = "FH-CELL-REQUIRED")]
    Required,
    /// The cell is not in the state this needs.
    #[serde(rename = "FH-CELL-STATE")]
    State,
    /// No process has this number.
    #[serde(rename = "FH-CELL-PROCESS")]
    Process,
    /// Somebody is attached already.
    #[serde(rename = "FH-CELL-ATTACHED")]
    Attached,
    /// Attach needs an upgrade that was not asked for.
    #[serde(rename = "FH-CELL-UPGRADE")]
    Upgrade,
    /// Nothing inside takes connections on this port.
    #[serde(rename = "FH-CELL-PORT")]
    Port,
    /// A secret is not to be had, or cannot be used as it is.
    #[serde(rename = "FH-CELL-SECRET")]
    Secret,
    /// The user of the cell has no value of a secret that each user has.
    #[serde(rename = "FH-SECRET-MISSING")]
    SecretMissing,
    /// The test of a key on the wire failed.
    #[serde(rename = "FH-SECRET-SELFTEST")]
    SecretSelftest,
    /// The supervisor could not do it.
    #[serde(rename = "FH-CELL-INTERNAL")]
    Internal,
}

impl ErrorCode {
    /// All of them, in the order of the page.
    pub const ALL: &[Self] = &[
        Self::NotFound,
        Self::Method,
        Self::Body,
        Self::BodySize,
        Self::Spec,
        Self::Mount,
        Self::Command,
        Self::Wall,
        Self::Required,
        Self::State,
        Self::Process,
        Self::Attached,
        Self::Upgrade,
        Self::Port,
        Self::Secret,
        Self::SecretMissing,
        Self::SecretSelftest,
        Self::Internal,
    ];

    /// The code as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "FH-CELL-NOT-FOUND",
            Self::Method => "FH-CELL-METHOD",
            Self::Body => "FH-CELL-BODY",
            Self::BodySize => "FH-CELL-BODY-SIZE",
            Self::Spec => "FH-CELL-SPEC",
            Self::Mount => "FH-CELL-MOUNT",
            Self::Command => "FH-CELL-COMMAND",
            Self::Wall => "FH-CELL-WALL",
            Self::Required => "FH-CELL-REQUIRED",
            Self::State => "FH-CELL-STATE",
            Self::Process => "FH-CELL-PROCESS",
            Self::Attached => "FH-CELL-ATTACHED",
            Self::Upgrade => "FH-CELL-UPGRADE",
            Self::Port => "FH-CELL-PORT",
            Self::Secret => "FH-CELL-SECRET",
            Self::SecretMissing => "FH-SECRET-MISSING",
            Self::SecretSelftest => "FH-SECRET-SELFTEST",
            Self::Internal => "FH-CELL-INTERNAL",
        }
    }

    /// The HTTP status it is sent with (RFC 9110).
    pub fn status(self) -> u16 {
        match self {
            Self::NotFound | Self::Process => 404,
            Self::Method => 405,
            Self::Body => 400,
            Self::BodySize => 413,
            Self::Spec | Self::Command | Self::Secret | Self::SecretMissing => 422,
            Self::Mount => 403,
            Self::State | Self::Attached => 409,
            Self::Upgrade => 426,
            Self::Internal => 500,
            Self::Port => 502,
            Self::Wall | Self::Required | Self::SecretSelftest => 503,
        }
    }
}

impl ErrorBody {
    /// A refusal without advice.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: String::new(), layer: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The same, naming the layer that is missing.
    #[must_use]
    pub fn layer(self, layer: impl Into<String>) -> Self {
        Self { layer: Some(layer.into()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_written_as_it_is_serialised() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_string(code).unwrap(), format!("\"{}\"", code.as_str()));
        }
    }

    #[test]
    fn the_page_lists_each_code_with_its_status_and_no_other() {
        let page = include_str!("../../../docs/reference/errors.md");
        let on_page: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## FH-CELL-")).collect();
        let known: Vec<String> = ErrorCode::ALL
            .iter()
            // Everything else stands among the refusals at the edge, whose own test looks after it.
            .filter(|code| code.as_str().starts_with("FH-CELL-"))
            .map(|code| format!("{} (HTTP {})", code.as_str().trim_start_matches("FH-CELL-"), code.status()))
            .collect();
        assert_eq!(on_page, known);
    }
}
