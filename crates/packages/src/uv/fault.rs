//! What uv says when something is wrong, told apart.

use crate::{ask::AskError, fault::InstallError, shop::Said, sources::SourcesError};

/// The most of it that is passed on, in characters.
const MOST: usize = 900;

/// How many words of a command say what was done.
const WORDS: usize = 3;

/// Why the command failed.
pub(super) fn of(command: &[&str], said: &Said) -> InstallError {
    let text = said.told();
    // What went well before says nothing of it.
    let error = text.find("error: ").and_then(|at| text.get(at..)).unwrap_or(&text);
    let told = plain(error);
    if let Some(known) = known(&told) {
        return known;
    }
    let line = command.get(..WORDS).unwrap_or(command).join(" ");
    InstallError::Client { line, end: said.end.clone(), told }
}

/// The same, where uv was asked outside.
pub(super) fn of_answer(error: AskError) -> InstallError {
    let told = match &error {
        AskError::Failed { told, .. } => plain(told),
        _ => String::new(),
    };
    known(&told).unwrap_or(InstallError::Sources(SourcesError::Unanswered(error)))
}

/// What is known by its words.
fn known(told: &str) -> Option<InstallError> {
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| told.contains(phrase));
    let told = told.to_owned();
    if has(&["has no usable wheels", "have no usable wheels", "building from source is disabled"]) {
        return Some(InstallError::SourceOnly { package: source_only(&told), told });
    }
    if has(&["Hash mismatch", "hash mismatch"]) {
        return Some(InstallError::Integrity { told });
    }
    if has(&["was not found in the package registry", "there is no version of", "there are no versions of"]) {
        return Some(InstallError::NotFound { told });
    }
    if has(&["no wheels with a matching", "does not satisfy Python"]) {
        return Some(InstallError::OtherMachines { told });
    }
    if has(&["The wheel is invalid", "must not use the reserved name"]) {
        return Some(InstallError::Malformed { told });
    }
    None
}

/// Whether a version has wheels, but none for this machine.
pub(super) fn is_of_the_machine(error: &InstallError) -> bool {
    matches!(error, InstallError::OtherMachines { .. })
}

/// What a line of a good run warns of.
pub(super) fn warning(line: &str) -> Option<String> {
    let told = plain(line.strip_prefix("warning: ")?);
    // Files are linked where they can be, which is nobody's concern.
    (!told.contains("hardlink")).then_some(told)
}

/// Which package has no wheel.
fn source_only(told: &str) -> String {
    let after = |phrase: &str| {
        let rest = told.split_once(phrase)?.1;
        rest.split([' ', '`', ',', '=']).find(|word| !word.is_empty()).map(str::to_owned)
    };
    after("Wheels are required for `")
        .or_else(|| after("Because all versions of "))
        .or_else(|| after("Because "))
        .unwrap_or_else(|| "a package".to_owned())
}

/// Its words in one line, without the marks of a terminal and whatever else a package's name could hide.
fn plain(text: &str) -> String {
    let visible: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words = visible.split_whitespace().filter(|word| !["error:", "cause:", "hint:"].contains(word));
    let told = words.collect::<Vec<_>>().join(" ");
    match told.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", told.get(..end).unwrap_or_default()),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stderr: &str) -> InstallError {
        let said =
            Said { stderr: stderr.into(), code: Some(1), end: "exit code 1".to_owned(), ..Said::default() };
        of(&["uv", "pip"], &said)
    }

    #[test]
    fn failures_are_told_apart() {
        let source = "error: No solution found when resolving dependencies\n  cause: Because sd==1.0 has no usable \
                      wheels and only sd==1.0 is available, we can conclude that all versions of sd cannot be used.\n\n\
                      hint: Wheels are required for `sd` because building from source is disabled for all packages\n";
        let error = said(source);
        assert!(matches!(&error, InstallError::SourceOnly { package, .. } if package == "sd"), "{error:?}");
        assert!(!error.to_string().contains("cause:"), "{error}");
        let mismatch = "error: Failed to download `x==1.0`\n  cause: Hash mismatch for `x==1.0`\n";
        assert!(matches!(said(mismatch), InstallError::Integrity { .. }));
        let unknown =
            "error: …\n  cause: Because x was not found in the package registry and you require x, …";
        assert!(matches!(said(unknown), InstallError::NotFound { .. }));
        let windows =
            "error: …\n  cause: Because w==1.0 has no wheels with a matching platform tag (e.g., `x`) and …";
        assert!(is_of_the_machine(&said(windows)));
        let invalid =
            "error: Failed to install: x.whl (x==1.0)\n  cause: The wheel is invalid: Script path must …";
        assert!(matches!(said(invalid), InstallError::Malformed { .. }));
        let other = "Resolved 1 package in 4ms\nerror: \u{1b}[31mNo interpreter\u{7} found for Python 2.7";
        let error = said(other);
        assert!(
            matches!(&error, InstallError::Client { told, .. } if !told.contains('\u{1b}') && !told.contains("4ms"))
        );
        assert!(said(&"x".repeat(5_000)).to_string().chars().count() < 1_000);
    }

    #[test]
    fn a_withdrawn_release_is_noted() {
        let note = warning("warning: `x==2.0` is yanked (reason: \"a bad one\")").unwrap();
        assert_eq!(note, "`x==2.0` is yanked (reason: \"a bad one\")");
        assert_eq!(warning("Resolved 1 package in 2ms"), None);
    }
}
