//! `age`, and the only module that names it.

use std::{
    fmt,
    io::{self, Read, Write},
    str::FromStr,
};

use age::{
    DecryptError, Decryptor, Encryptor, scrypt,
    secrecy::{ExposeSecret, SecretString},
    x25519,
};

use super::VaultError;
use crate::plaintext::Plaintext;

/// Somebody to whom a vault is sealed: `age1…`, as `age-keygen` prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient(x25519::Recipient);

/// A text that is no recipient.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an age recipient such as `age1…`, which `age-keygen` prints")]
pub struct RecipientError(String);

/// A key that opens what is sealed to its recipient.
pub(super) struct Identity(x25519::Identity);

/// Why something sealed does not open.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("it is sealed to other keys")]
    Key,
    #[error("it is locked by a passphrase")]
    Locked,
    #[error("it is not locked by a passphrase")]
    NotLocked,
    #[error("its passphrase would take too long to try")]
    Work,
    #[error("{0}")]
    Damaged(String),
}

/// Logarithm of scrypt's cost: 128 MiB, part of a second. Fixed, since what `age` measures on a busy machine is too little.
const WORK: u8 = 17;
/// The most that is tried: what other programs choose on faster machines.
const MOST_WORK: u8 = 22;

impl Recipient {
    /// Reads `age1…`.
    pub fn parse(text: &str) -> Result<Self, RecipientError> {
        x25519::Recipient::from_str(text)
            .map(Self)
            .map_err(|_| RecipientError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Identity {
    pub(super) fn generate() -> Self {
        Self(x25519::Identity::generate())
    }

    /// Finds the one line `AGE-SECRET-KEY-1…` among comments and blank lines, as `age-keygen` writes them.
    pub(super) fn parse(text: &Plaintext) -> Option<Self> {
        let text = std::str::from_utf8(text.expose()).ok()?;
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let identity = x25519::Identity::from_str(lines.next()?).ok()?;
        lines.next().is_none().then_some(Self(identity))
    }

    /// As a file holds it.
    pub(super) fn to_file(&self) -> Plaintext {
        let text = self.0.to_string();
        let mut bytes = Plaintext::room(text.expose_secret().len() + 1);
        if let Some((end, line)) = bytes.bytes_mut().split_last_mut() {
            line.copy_from_slice(text.expose_secret().as_bytes());
            *end = b'\n';
        }
        bytes
    }

    pub(super) fn recipient(&self) -> Recipient {
        Recipient(self.0.to_public())
    }
}

/// Seals what `content` writes to every recipient.
pub(super) fn to_recipients<'a>(
    recipients: impl Iterator<Item = &'a Recipient>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Vec<u8>, VaultError> {
    let encryptor =
        Encryptor::with_recipients(recipients.map(|recipient| &recipient.0 as &dyn age::Recipient))
            .map_err(|error| VaultError::Seal(error.to_string()))?;
    write(encryptor, content)
}

/// Seals it with a passphrase.
pub(super) fn with_passphrase(
    passphrase: &Plaintext,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Vec<u8>, VaultError> {
    let passphrase =
        secret(passphrase).ok_or_else(|| VaultError::Seal("the passphrase is not UTF-8".into()))?;
    let mut recipient = scrypt::Recipient::new(passphrase);
    recipient.set_work_factor(WORK);
    let encryptor = Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
        .map_err(|error| VaultError::Seal(error.to_string()))?;
    write(encryptor, content)
}

/// Opens what is sealed to one of the keys.
pub(super) fn open(sealed: &[u8], keys: &[&Identity]) -> Result<Plaintext, OpenError> {
    let decryptor = Decryptor::new(sealed).map_err(OpenError::from)?;
    if decryptor.is_scrypt() {
        return Err(OpenError::Locked);
    }
    read(decryptor.decrypt(keys.iter().map(|key| &key.0 as &dyn age::Identity)), sealed.len())
}

/// Opens what is locked by a passphrase. `Key` says that it is another.
pub(super) fn unlock(sealed: &[u8], passphrase: &Plaintext) -> Result<Plaintext, OpenError> {
    let decryptor = Decryptor::new(sealed).map_err(OpenError::from)?;
    if !decryptor.is_scrypt() {
        return Err(OpenError::NotLocked);
    }
    let mut identity = scrypt::Identity::new(secret(passphrase).ok_or(OpenError::Key)?);
    identity.set_max_work_factor(MOST_WORK);
    match decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity)) {
        // What the passphrase locks is the file's key.
        Err(DecryptError::DecryptionFailed) => Err(OpenError::Key),
        opened => read(opened, sealed.len()),
    }
}

/// Whether it is locked by a passphrase.
pub(super) fn is_locked(sealed: &[u8]) -> bool {
    Decryptor::new(sealed).is_ok_and(|decryptor| decryptor.is_scrypt())
}

fn write(
    encryptor: Encryptor,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Vec<u8>, VaultError> {
    let sealed = |error: io::Error| VaultError::Seal(error.to_string());
    let mut stream = encryptor.wrap_output(Vec::new()).map_err(sealed)?;
    content(&mut stream).map_err(sealed)?;
    stream.finish().map_err(sealed)
}

fn read(opened: Result<impl Read, DecryptError>, most: usize) -> Result<Plaintext, OpenError> {
    let mut stream = opened.map_err(OpenError::from)?;
    Plaintext::read(&mut stream, most).map_err(|error| OpenError::Damaged(error.to_string()))
}

fn secret(text: &Plaintext) -> Option<SecretString> {
    Some(SecretString::from(std::str::from_utf8(text.expose()).ok()?.to_owned()))
}

impl From<DecryptError> for OpenError {
    fn from(error: DecryptError) -> Self {
        match error {
            DecryptError::NoMatchingKeys | DecryptError::KeyDecryptionFailed => Self::Key,
            DecryptError::ExcessiveWork { .. } => Self::Work,
            DecryptError::InvalidHeader | DecryptError::UnknownFormat => {
                Self::Damaged("it does not begin like a sealed file".to_owned())
            }
            DecryptError::InvalidMac => Self::Damaged("its beginning was changed".to_owned()),
            DecryptError::DecryptionFailed => Self::Damaged("it was changed or cut off".to_owned()),
            other => Self::Damaged(other.to_string()),
        }
    }
}
