//! What there is by now: asked of the client of this machine, which only reads.

use std::time::SystemTime;

use crate::{
    ask::AskError,
    npm, uv,
    words::{Asked, Client},
};

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

/// What would be chosen today of the package that is run, if the order named no version, and what is said of the `current`
/// version. A tag of npm (`next`) is no version: it is followed.
///
/// # Errors
///
/// [`NewestError`] where the registry does not say.
pub async fn newest(asked: &Asked, current: &str) -> Result<Newest, NewestError> {
    let (asked, current) = (unpinned(asked), current.to_owned());
    // It takes as long as it does: others go on meanwhile.
    let answer = tokio::task::spawn_blocking(move || match asked.client {
        Client::Npm => npm::newest(&asked, &current),
        Client::Uv => uv::newest(&asked, &current),
    });
    answer.await.map_err(|error| AskError::lost(&error))?
}

/// The order without a version, or range of versions.
fn unpinned(asked: &Asked) -> Asked {
    let unpinned = asked.at(None);
    let name = unpinned.main.as_deref().unwrap_or_default();
    let said = asked.main.as_deref().and_then(|main| main.strip_prefix(name)?.strip_prefix('@'));
    let is_tag = said.is_some_and(|said| said.starts_with(|sign: char| sign.is_ascii_alphabetic()));
    if asked.client == Client::Npm && is_tag { asked.clone() } else { unpinned }
}

/// A moment as registries write it: RFC 3339, in UTC, by whichever of its two spellings.
pub(crate) fn moment(text: &str) -> Option<SystemTime> {
    let utc = text.strip_suffix("+00:00").map(|start| format!("{start}Z"));
    humantime::parse_rfc3339(utc.as_deref().unwrap_or(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    #[test]
    fn a_moment_has_two_spellings() {
        assert_eq!(moment("2024-02-27T16:27:13.411000+00:00"), moment("2024-02-27T16:27:13.411Z"));
        assert!(moment("2024-02-27T16:27:13.411Z").is_some() && moment("yesterday").is_none());
    }

    #[test]
    fn a_version_is_left_out_and_a_tag_is_not() {
        for (line, expected) in [
            ("npx @a/x@1.0.0", "@a/x"),
            ("npx x@^1", "x"),
            ("npx x@next", "x@next"),
            ("npx x", "x"),
            ("uvx x==1", "x"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(unpinned(&words::read(&words).unwrap()).main.as_deref(), Some(expected), "{line}");
        }
    }
}
