//! What a review says about signatures.

use std::{path::Path, process::ExitCode};

use cell::folders::Folders;
use store::ReviewerKey;
use tools::lock::Pinned;

use crate::{
    configuration::operators_file,
    server::{
        signed::{self, Damage},
        target::Target,
    },
    terminal,
};

/// Makes a key in a new file; the line that others need is printed.
pub(super) fn new_key(file: &Path, folders: &Folders) -> anyhow::Result<ExitCode> {
    let key = ReviewerKey::make().map_err(|error| signed::unusable(&error))?;
    key.write_new(file).map_err(|error| signed::unusable(&error))?;
    terminal::print(&format!("keys = [\"{}\"]\n", key.public()))?;
    terminal::say(&format!(
        "`{}` holds the private key: whoever reads it signs in your name; keep it out of every project",
        file.display()
    ));
    terminal::say(&format!(
        "help: whoever is to count on what you sign puts that line below `[review]` in a file of theirs: here it is `{}`",
        operators_file(folders).display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Who has signed it, or why that is not known.
pub(super) fn fact(target: &Target, pinned: &Pinned) -> Option<String> {
    match signed::damage(target) {
        Some(damage) => Some(format!("{}: {}", damage.text(), Damage::HINT)),
        None => signed::by(target, pinned).map(|key| format!("signed by a reviewer of yours: {key}")),
    }
}

/// That it was signed.
pub(super) fn say(target: &Target, key: &ReviewerKey) {
    terminal::say(&format!(
        "{} is signed by {}: `{}` goes with the lock",
        target.name,
        key.public(),
        target.lock.signatures(&target.name).display()
    ));
}
