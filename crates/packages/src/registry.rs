//! Asking the registry of a package for what it has by now.

use crate::{
    ask::AskError,
    newest::{Newest, NewestError},
    npm, uv,
    words::{Asked, Client},
};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

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
