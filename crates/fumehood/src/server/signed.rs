//! What reviewers have signed of a server: it lies beside the lock, where anybody may write, and counts where the operator's
//! file has the reviewer's key. It says yes to one table, and nothing about what a project's file asks for.

use std::{fmt::Display, fs, io::ErrorKind, path::Path};

use model::reviewer::PublicKey;
use store::{KeyError, ReviewerKey, Signatures};
use tools::lock::Pinned;

use super::target::Target;
use crate::{
    guard, reading,
    stop::{FAILURE, Stop},
};

/// A file of signatures that cannot be used: whose it is and why, as a sentence without a full stop.
#[derive(Debug)]
pub(crate) struct Damage(String);

impl Damage {
    /// What is to be done about it.
    pub(crate) const HINT: &str = "restore it from version control, or remove it and have it signed anew";

    /// What is wrong.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// The key of a reviewer of the operator's who has signed this very table of a server; none where nobody has, or the file
/// is damaged.
pub(crate) fn by(target: &Target, pinned: &Pinned) -> Option<PublicKey> {
    let found = read(target).ok()?;
    let (table, fingerprint) = (pinned.digest(&target.name), pinned.fingerprint.to_string());
    let known = |key: &PublicKey| target.reviewers.contains(key) || guard::off("reviewer");
    let one = found
        .iter()
        .find(|one| known(one.key()) && (one.is_over(&table, &fingerprint) || guard::off("signature")))?;
    Some(*one.key())
}

/// Why what reviewers have signed of a server cannot be told; nothing where it can, or it would not count.
pub(crate) fn damage(target: &Target) -> Option<Damage> {
    read(target).err()
}

/// Signs the table of a server that is in its lock, and puts the signature beside it. What is there over another table goes.
pub(crate) fn sign(target: &Target, pinned: &Pinned, key: &ReviewerKey) -> anyhow::Result<()> {
    let (table, fingerprint) = (pinned.digest(&target.name), pinned.fingerprint.to_string());
    let one = key.sign(&table, &fingerprint).map_err(|error| unusable(&error))?;
    target.lock.sign(&target.name, pinned, |file| {
        let mut all = of_file(file).map_err(|damage| not_signed(target, damage.text(), Damage::HINT))?;
        all.keep_over(&table, &fingerprint);
        let hint = "take out the signatures of those who review no longer";
        all.add(one).map_err(|error| not_signed(target, &format!("`{}`: {error}", file.display()), hint))?;
        Ok(all.to_text())
    })
}

/// A reviewer's private key.
pub(crate) fn key(file: &Path) -> anyhow::Result<ReviewerKey> {
    ReviewerKey::read(file).map_err(|error| unusable(&error))
}

/// An error of a reviewer's private key.
pub(crate) fn unusable(error: &KeyError) -> anyhow::Error {
    Stop::new(FAILURE, error.to_string(), error.hint()).into()
}

fn not_signed(target: &Target, why: &str, hint: &str) -> Stop {
    Stop::new(FAILURE, format!("{} is accepted here, but was not signed: {why}", target.name), hint)
}

/// The signatures of a server, where any could count.
fn read(target: &Target) -> Result<Signatures, Damage> {
    if target.reviewers.is_empty() && !guard::off("reviewer") {
        return Ok(Signatures::default());
    }
    of_file(&target.lock.signatures(&target.name))
}

fn of_file(file: &Path) -> Result<Signatures, Damage> {
    let damaged = |why: &dyn Display| Damage(format!("`{}` is damaged: {why}", file.display()));
    if fs::symlink_metadata(file).is_ok_and(|found| found.is_symlink()) {
        return Err(damaged(&"it is a link"));
    }
    match reading::file(file, Signatures::MOST_BYTES) {
        Ok(bytes) => Signatures::parse(&bytes).map_err(|error| damaged(&error)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Signatures::default())
        }
        Err(error) => Err(damaged(&error)),
    }
}
