//! The vault's folder: reading, changing, and what to do when something of it is lost.

use std::{
    fs::{File, OpenOptions},
    io::ErrorKind,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::fs::{FlockOperation, flock};

use super::{
    Protection, Recipient, Vault, VaultError,
    folder::{self, failed},
    key,
    opener::Opener,
    seal::{self, Identity, OpenError},
    write::{self, Keep, Step},
};
use crate::{plaintext::Plaintext, terminal::AskError};

/// To whom a backup is sealed.
#[derive(Debug)]
pub enum Seal<'a> {
    /// To these, without the vault's own key.
    Recipients(&'a [Recipient]),
    /// To whoever knows a passphrase that is asked for.
    Passphrase,
}

/// Which version of the vault there is; another one has another stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp(Option<(u64, u64, i64, i64)>);

/// A vault's folder.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

pub(super) const VAULT: &str = "vault.age";
const PREVIOUS: &str = "vault.age.previous";
const LOCK: &str = "lock";
/// How long another process may take over a change, a passphrase typed included.
const PATIENCE: Duration = Duration::from_mins(1);

impl Store {
    /// The vault in this folder, which need not be there.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The sealed file.
    pub fn file(&self) -> PathBuf {
        self.folder.join(VAULT)
    }

    /// How its key is kept; nothing where there is none.
    pub fn protection(&self) -> Result<Option<Protection>, VaultError> {
        if !folder::check_folder(&self.folder)? {
            return Ok(None);
        }
        key::protection(&self.folder)
    }

    /// Which version there is.
    pub fn stamp(&self) -> Result<Stamp, VaultError> {
        match std::fs::symlink_metadata(self.file()) {
            Ok(facts) => Ok(Stamp(Some((facts.ino(), facts.size(), facts.mtime(), facts.mtime_nsec())))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Ok(Stamp(None))
            }
            Err(error) => Err(failed("looking at", &self.file())(error)),
        }
    }

    /// Opens the vault. One that was never made is empty.
    pub fn read(&self, opener: &mut dyn Opener) -> Result<Vault, VaultError> {
        Ok(self.unlock(opener)?.1)
    }

    /// Opens it, with the key for opening later versions of it without a question.
    pub(crate) fn unlock(&self, opener: &mut dyn Opener) -> Result<(Unlocked, Vault), VaultError> {
        if !folder::check_folder(&self.folder)? {
            return Ok((Unlocked { store: self.clone(), key: None }, Vault::default()));
        }
        let key = self.key(opener)?;
        let vault = self.open(key.as_ref())?;
        Ok((Unlocked { store: self.clone(), key }, vault))
    }

    /// Opens the vault, lets `change` work on it, and puts the result in its place; the version before is kept. Makes the
    /// vault where there is none. Nothing is written where `change` fails.
    pub fn change<T, E: From<VaultError>>(
        &self,
        opener: &mut dyn Opener,
        change: impl FnOnce(&mut Vault) -> Result<T, E>,
    ) -> Result<T, E> {
        self.change_watched(opener, change, &mut |_| {})
    }

    pub(super) fn change_watched<T, E: From<VaultError>>(
        &self,
        opener: &mut dyn Opener,
        change: impl FnOnce(&mut Vault) -> Result<T, E>,
        reached: &mut dyn FnMut(Step),
    ) -> Result<T, E> {
        folder::make(&self.folder)?;
        let lock = self.lock()?;
        let key = self.key(opener)?;
        let mut vault = self.open(key.as_ref())?;
        let done = change(&mut vault)?;
        let key = match key {
            Some(key) => key,
            None => self.new_key(Protection::File, opener)?,
        };
        self.put(&vault, &key, Keep::As(PREVIOUS), reached)?;
        drop(lock);
        Ok(done)
    }

    /// Keeps the key in another way, or makes a new vault whose key is kept so.
    pub fn protect(&self, way: Protection, opener: &mut dyn Opener) -> Result<(), VaultError> {
        folder::make(&self.folder)?;
        let lock = self.lock()?;
        if let Some(key) = self.key(opener)? {
            // Only a key that opens the vault is worth keeping.
            self.open(Some(&key))?;
            key::store(&self.folder, &key, way, opener)?;
        } else {
            self.open(None)?;
            let key = self.new_key(way, opener)?;
            self.put(&Vault::default(), &key, Keep::As(PREVIOUS), &mut |_| {})?;
        }
        drop(lock);
        Ok(())
    }

    /// Everything in the vault, sealed anew, for a place elsewhere; and how many secrets that is.
    pub fn export(&self, opener: &mut dyn Opener, seal: &Seal<'_>) -> Result<(Vec<u8>, usize), VaultError> {
        let vault = self.read(opener)?;
        let count = vault.entries().len();
        let sealed = match seal {
            Seal::Recipients(recipients) => {
                seal::to_recipients(recipients.iter(), |mut to| vault.write_content(&mut to))?
            }
            Seal::Passphrase => {
                let passphrase = opener.new_passphrase()?;
                seal::with_passphrase(&passphrase, |mut to| vault.write_content(&mut to))?
            }
        };
        Ok((sealed, count))
    }

    /// Puts what is sealed in `file` in the vault's place: an export, or any version of the vault. It is opened by the
    /// vault's own key, by `identity` (what a file of `age-keygen` holds), or by a passphrase that is asked for. How many
    /// secrets there are now.
    ///
    /// A vault that works and holds something is replaced only where `replace` says so. What is replaced is kept as
    /// `….set-aside`, and so is a key that cannot be used.
    pub fn restore(
        &self,
        opener: &mut dyn Opener,
        file: &Path,
        identity: Option<&Plaintext>,
        replace: bool,
    ) -> Result<usize, VaultError> {
        folder::make(&self.folder)?;
        let lock = self.lock()?;
        let sealed = std::fs::read(file).map_err(failed("reading", file))?;
        let refused = |why: String, help| VaultError::Backup { file: file.to_owned(), why, help };
        let given = match identity {
            Some(text) => Some(Identity::parse(text).ok_or_else(|| {
                refused("the identity is none".into(), "give the file that `age-keygen` wrote")
            })?),
            None => None,
        };
        // A key that cannot be read is no obstacle: it is what may have been lost.
        let own = self.key(opener).or_else(|error| match error {
            VaultError::KeyMissing { .. } | VaultError::KeyBroken { .. } => Ok(None),
            other => Err(other),
        })?;
        let content = if seal::is_locked(&sealed) {
            let passphrase = opener.passphrase("passphrase of the backup")?;
            seal::unlock(&sealed, &passphrase).map_err(|error| match error {
                OpenError::Key => VaultError::Passphrase,
                other => refused(other.to_string(), "it is no backup that can be used"),
            })?
        } else {
            let keys: Vec<&Identity> = given.iter().chain(&own).collect();
            seal::open(&sealed, &keys).map_err(|error| match error {
                OpenError::Key => {
                    refused(error.to_string(), "give the identity of a recipient with `--identity FILE`")
                }
                other => refused(other.to_string(), "it is no backup that can be used"),
            })?
        };
        let vault = Vault::from_content(content.expose())
            .map_err(|error| refused(error.to_string(), "it is no backup of a vault"))?;
        if let (Ok(there), false) = (self.open(own.as_ref()), replace)
            && !there.entries().is_empty()
        {
            return Err(VaultError::InUse(there.entries().len()));
        }
        let key = if let Some(key) = own {
            key
        } else {
            key::set_aside(&self.folder)?;
            self.new_key(Protection::File, opener)?
        };
        self.put(&vault, &key, Keep::As(ASIDE), &mut |_| {})?;
        drop(lock);
        Ok(vault.entries().len())
    }

    /// The key, where there is one.
    fn key(&self, opener: &mut dyn Opener) -> Result<Option<Identity>, VaultError> {
        key::load(&self.folder, opener)
    }

    fn new_key(&self, way: Protection, opener: &mut dyn Opener) -> Result<Identity, VaultError> {
        let key = Identity::generate();
        key::store(&self.folder, &key, way, opener)?;
        Ok(key)
    }

    fn open(&self, key: Option<&Identity>) -> Result<Vault, VaultError> {
        let vault = self.file();
        let previous = self.folder.join(PREVIOUS);
        let Some(sealed) = folder::read(&vault)? else {
            // A vault of one version that is gone cannot be told from one that was never made.
            return if folder::exists(&previous)? {
                Err(VaultError::Gone { previous })
            } else {
                Ok(Vault::default())
            };
        };
        let key = key.ok_or_else(|| VaultError::KeyMissing { key: key::path(&self.folder) })?;
        opened(&sealed, key).map_err(|error| match error {
            OpenError::Key => VaultError::WrongKey { vault },
            error => {
                let good = |path: &PathBuf| {
                    folder::read(path).ok().flatten().is_some_and(|sealed| opened(&sealed, key).is_ok())
                };
                VaultError::Damaged { vault, why: error.to_string(), previous: Some(previous).filter(good) }
            }
        })
    }

    fn put(
        &self,
        vault: &Vault,
        key: &Identity,
        keep: Keep,
        reached: &mut dyn FnMut(Step),
    ) -> Result<(), VaultError> {
        let own = key.recipient();
        let recipients = std::iter::once(&own).chain(vault.recipients());
        let sealed = seal::to_recipients(recipients, |mut to| vault.write_content(&mut to))?;
        write::replace(&self.folder, VAULT, &sealed, keep, reached)
    }

    /// Waits until nobody else changes it; until the file is dropped nobody else does.
    fn lock(&self) -> Result<File, VaultError> {
        let path = self.folder.join(LOCK);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed("opening", &path))?;
        let begin = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(failed("locking", &path)(error.into())),
            }
            if begin.elapsed() > PATIENCE {
                return Err(VaultError::Busy(PATIENCE));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What a vault becomes that is restored over.
const ASIDE: &str = "vault.age.set-aside";

/// A vault whose key is known.
pub(crate) struct Unlocked {
    store: Store,
    key: Option<Identity>,
}

impl Unlocked {
    /// Opens the present version.
    pub(crate) fn read(&mut self) -> Result<Vault, VaultError> {
        if !folder::check_folder(&self.store.folder)? {
            return Ok(Vault::default());
        }
        if self.key.is_none() {
            // It was made since.
            self.key = self.store.key(&mut Nobody)?;
        }
        self.store.open(self.key.as_ref())
    }
}

/// Knows no passphrase.
struct Nobody;

impl Opener for Nobody {
    fn passphrase(&mut self, _: &str) -> Result<Plaintext, AskError> {
        Err(AskError::NoTerminal)
    }

    fn new_passphrase(&mut self) -> Result<Plaintext, AskError> {
        Err(AskError::NoTerminal)
    }
}

fn opened(sealed: &[u8], key: &Identity) -> Result<Vault, OpenError> {
    let content = seal::open(sealed, &[key])?;
    Vault::from_content(content.expose()).map_err(|error| OpenError::Damaged(error.to_string()))
}

#[cfg(test)]
mod tests;
