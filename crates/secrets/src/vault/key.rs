//! The vault's own key.

use std::path::{Path, PathBuf};

use super::{
    VaultError, folder,
    opener::Opener,
    seal::{self, Identity, OpenError},
    write::{self, Keep},
};
use crate::plaintext::Plaintext;

/// How the vault's key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// As it is, in a file that only its owner can read.
    File,
    /// Locked by a passphrase.
    Passphrase,
}

const PLAIN: &str = "key";
const LOCKED: &str = "key.age";

/// How the key is kept; nothing where there is none.
pub(super) fn protection(folder: &Path) -> Result<Option<Protection>, VaultError> {
    // Where a change of the way was broken off both are there; the plain one costs no question.
    if folder::exists(&folder.join(PLAIN))? {
        return Ok(Some(Protection::File));
    }
    Ok(folder::exists(&folder.join(LOCKED))?.then_some(Protection::Passphrase))
}

/// Reads the key; nothing where there is none.
pub(super) fn load(folder: &Path, opener: &mut dyn Opener) -> Result<Option<Identity>, VaultError> {
    let text = match protection(folder)? {
        None => return Ok(None),
        Some(Protection::File) => plain(&folder.join(PLAIN))?,
        Some(Protection::Passphrase) => unlocked(&folder.join(LOCKED), opener)?,
    };
    let broken = || VaultError::KeyBroken { key: path(folder) };
    Identity::parse(&text).ok_or_else(broken).map(Some)
}

/// Keeps the key in this way and no other.
pub(super) fn store(
    folder: &Path,
    key: &Identity,
    way: Protection,
    opener: &mut dyn Opener,
) -> Result<(), VaultError> {
    let text = key.to_file();
    let other = match way {
        Protection::File => {
            write::replace(folder, PLAIN, text.expose(), Keep::Nothing, &mut |_| {})?;
            LOCKED
        }
        Protection::Passphrase => {
            let passphrase = opener.new_passphrase()?;
            let sealed = seal::with_passphrase(&passphrase, |to| to.write_all(text.expose()))?;
            write::replace(folder, LOCKED, &sealed, Keep::Nothing, &mut |_| {})?;
            PLAIN
        }
    };
    write::remove(&folder.join(other))?;
    write::sync(folder).map_err(folder::failed("writing", folder))
}

/// Where the key lies, or should.
pub(super) fn path(folder: &Path) -> PathBuf {
    let locked = matches!(protection(folder), Ok(Some(Protection::Passphrase)));
    folder.join(if locked { LOCKED } else { PLAIN })
}

/// Moves a key that cannot be used out of the way.
pub(super) fn set_aside(folder: &Path) -> Result<(), VaultError> {
    for name in [PLAIN, LOCKED] {
        folder::set_aside(&folder.join(name))?;
    }
    Ok(())
}

fn plain(path: &Path) -> Result<Plaintext, VaultError> {
    let missing = || VaultError::KeyMissing { key: path.to_owned() };
    let mut file = folder::open(path)?.ok_or_else(missing)?;
    Plaintext::read(&mut file, LONGEST).map_err(folder::failed("reading", path))
}

fn unlocked(path: &Path, opener: &mut dyn Opener) -> Result<Plaintext, VaultError> {
    let missing = || VaultError::KeyMissing { key: path.to_owned() };
    let sealed = folder::read(path)?.ok_or_else(missing)?;
    if !seal::is_locked(&sealed) {
        return Err(VaultError::KeyBroken { key: path.to_owned() });
    }
    let passphrase = opener.passphrase("passphrase of the vault")?;
    seal::unlock(&sealed, &passphrase).map_err(|error| match error {
        OpenError::Key => VaultError::Passphrase,
        _ => VaultError::KeyBroken { key: path.to_owned() },
    })
}

/// A key with some lines of comment, in bytes.
const LONGEST: usize = 4096;
