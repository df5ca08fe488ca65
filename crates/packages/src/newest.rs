//! What there is by now: asked of the client of this machine, which only reads.

use std::time::SystemTime;

use crate::ask::AskError;

/// The version that would be chosen today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    /// The version.
    pub version: String,
    /// Since when it is there, where the registry says so.
    pub released: Option<SystemTime>,
    /// Why its author advises against it (npm: deprecated; PyPI: yanked), where that is so.
    pub withdrawn: Option<String>,
    /// The same of the version that is in use; that it is not there any more counts too.
    pub current_withdrawn: Option<String>,
}

/// It is not known what there is.
#[derive(Debug, thiserror::Error)]
pub enum NewestError {
    /// No package of a registry is named.
    #[error("`{runner}` is not told a package of a registry")]
    Unnamed {
        /// The runner.
        runner: &'static str,
    },
    /// The client did not answer.
    #[error("{0}")]
    Unanswered(#[from] AskError),
    /// It answered something else than was asked.
    #[error("what `{program}` says of `{package}` is not understood: {why}")]
    Strange {
        /// Who.
        program: String,
        /// Of which package.
        package: String,
        /// What was not understood.
        why: String,
    },
}

impl NewestError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unnamed { runner } => format!("name one: `{runner} PACKAGE`"),
            Self::Unanswered(_) => "try that command in a terminal: it has to work there first".to_owned(),
            Self::Strange { program, .. } => format!("bring `{program}` up to date"),
        }
    }
}

/// A moment as registries write it: RFC 3339, in UTC, by whichever of its two spellings.
pub(crate) fn moment(text: &str) -> Option<SystemTime> {
    let utc = text.strip_suffix("+00:00").map(|start| format!("{start}Z"));
    humantime::parse_rfc3339(utc.as_deref().unwrap_or(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_two_spellings() {
        assert_eq!(moment("2024-02-27T16:27:13.411000+00:00"), moment("2024-02-27T16:27:13.411Z"));
        assert!(moment("2024-02-27T16:27:13.411Z").is_some() && moment("yesterday").is_none());
    }
}
