//! Checkpoints: how many rows there were and the root of the tree over them, signed.
//!
//! Their text is a checkpoint of C2SP `tlog-checkpoint`, signed as a note of C2SP `signed-note` with Ed25519, so that other
//! programs read them.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::{Engine, prelude::BASE64_STANDARD};
use model::digest::Digest;
use uuid::Uuid;

use super::{
    AuditError, own,
    step::{Step, reached},
};
use crate::key_file;

/// Name of the private key's file in the record's folder.
pub(super) const KEY_FILE: &str = "audit.key";
/// Kind of key, as C2SP `signed-note` numbers them: Ed25519.
const ED25519_NOTE: u8 = 1;
/// How a line with a signature begins.
pub(super) const SIGNED: &str = "— ";

/// The public key of a record: what `verify` needs to know who signed. As text `NAME+ID+KEY` (C2SP `signed-note`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: [u8; 4],
    key: [u8; 32],
}

/// A text that is no public key of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a record's public key is its name, eight hexadecimal digits and a key in Base64, with `+` between them"
)]
pub struct VerifierKeyError;

/// Whoever signs.
pub(super) struct Signer {
    pair: Ed25519KeyPair,
    key: VerifierKey,
}

/// A checkpoint that was read. Nothing of it is true before its signature and root are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which record, by its name.
    pub origin: String,
    /// How many rows there were.
    pub size: u64,
    /// Root of the tree over them.
    pub root: Digest,
    signature: Vec<u8>,
}

impl Signer {
    /// With the key in this folder, which is made where there is none. `origin` is the record's name.
    pub(super) fn open(folder: &Path, origin: &str) -> Result<Self, AuditError> {
        let path = folder.join(KEY_FILE);
        let wrong = |reason: String| AuditError::Key { path: path.clone(), reason };
        if !path.try_exists().map_err(own::failed("looking at", &path))? {
            make(folder, &path)?;
        }
        let document = key_file::read(&path).map_err(|error| wrong(error.to_string()))?;
        let pair = Ed25519KeyPair::from_pkcs8(&document).map_err(|error| wrong(error.to_string()))?;
        let public = pair.public_key().as_ref().try_into();
        let public = public.map_err(|_| wrong("it is no Ed25519 key".to_owned()))?;
        Ok(Self { key: VerifierKey::new(origin, public), pair })
    }

    /// What others know it by.
    #[cfg(test)]
    pub(super) fn key(&self) -> &VerifierKey {
        &self.key
    }

    /// The signed note.
    pub(super) fn sign(&self, size: u64, root: &Digest) -> Result<String, AuditError> {
        let text = text(&self.key.name, size, root);
        let signature = self
            .pair
            .try_sign(text.as_bytes())
            .map_err(|error| AuditError::Key { path: PathBuf::from(KEY_FILE), reason: error.to_string() })?;
        let bytes = [&self.key.id, signature.as_ref()].concat();
        Ok(format!("{text}\n{SIGNED}{} {}\n", self.key.name, BASE64_STANDARD.encode(bytes)))
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Checkpoint {
    /// Reads a note.
    pub(super) fn parse(note: &str) -> Option<Self> {
        let mut lines = note.lines();
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let (blank, signed) = (lines.next()?, lines.next()?);
        let (name, signature) = signed.strip_prefix(SIGNED)?.split_once(' ')?;
        if !blank.is_empty() || name != origin || lines.next().is_some() {
            return None;
        }
        let root = BASE64_STANDARD.decode(root).ok()?.try_into().ok()?;
        let read = Self {
            origin: origin.to_owned(),
            size: size.parse().ok()?,
            root: Digest::new(root),
            signature: BASE64_STANDARD.decode(signature).ok()?,
        };
        // Another spelling of the same number is not what was signed.
        (read.size.to_string() == size).then_some(read)
    }

    /// Whether this key signed it.
    pub fn is_signed_by(&self, key: &VerifierKey) -> bool {
        let Some(signature) = self.signature.strip_prefix(&key.id) else { return false };
        let text = text(&self.origin, self.size, &self.root);
        self.origin == key.name
            && UnparsedPublicKey::new(&ED25519, key.key).verify(text.as_bytes(), signature).is_ok()
    }
}

impl VerifierKey {
    fn new(name: &str, key: [u8; 32]) -> Self {
        let named = [name.as_bytes(), &[b'\n', ED25519_NOTE], &key].concat();
        let [a, b, c, d, ..] = *Digest::of(&named).bytes();
        Self { name: name.to_owned(), id: [a, b, c, d], key }
    }

    /// That of the private key in this folder; nothing where there is none.
    pub(super) fn of_folder(folder: &Path, origin: &str) -> Result<Option<Self>, AuditError> {
        match folder.join(KEY_FILE).try_exists() {
            Ok(true) => Signer::open(folder, origin).map(|signer| Some(signer.key)),
            _ => Ok(None),
        }
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[ED25519_NOTE], self.key.as_slice()].concat();
        write!(f, "{}+{:08x}+{}", self.name, u32::from_be_bytes(self.id), BASE64_STANDARD.encode(key))
    }
}

impl FromStr for VerifierKey {
    type Err = VerifierKeyError;

    fn from_str(text: &str) -> Result<Self, VerifierKeyError> {
        let (name, rest) = text.trim().split_once('+').ok_or(VerifierKeyError)?;
        let (_, key) = rest.split_once('+').ok_or(VerifierKeyError)?;
        let bytes = BASE64_STANDARD.decode(key).map_err(|_| VerifierKeyError)?;
        let key = bytes.strip_prefix(&[ED25519_NOTE]).ok_or(VerifierKeyError)?;
        let read = Self::new(name, key.try_into().map_err(|_| VerifierKeyError)?);
        if read.to_string() == text.trim() { Ok(read) } else { Err(VerifierKeyError) }
    }
}

fn text(origin: &str, size: u64, root: &Digest) -> String {
    format!("{origin}\n{size}\n{}\n", BASE64_STANDARD.encode(root.bytes()))
}

/// Makes a key. It has its name once it is whole; of two processes that make one, the first has it.
fn make(folder: &Path, path: &Path) -> Result<(), AuditError> {
    let wrong = |reason: String| AuditError::Key { path: path.to_owned(), reason };
    let pair = Ed25519KeyPair::generate().map_err(|error| wrong(error.to_string()))?;
    let document = pair.to_pkcs8v1().map_err(|error| wrong(error.to_string()))?;
    let new = folder.join(format!("{KEY_FILE}.{}.new", Uuid::now_v7()));
    key_file::write_new(&new, document.as_ref()).map_err(|error| wrong(error.to_string()))?;
    reached(Step::KeyWritten);
    let linked = match fs::hard_link(&new, path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked.map_err(own::failed("making", path)),
    };
    fs::remove_file(&new).map_err(own::failed("removing", &new))?;
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_a_signed_note_of_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let signer = Signer::open(folder.path(), "fumehood-audit/a").unwrap();
        let again = Signer::open(folder.path(), "fumehood-audit/a").unwrap();
        assert_eq!(signer.key(), again.key());
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [KEY_FILE]);

        let root = Digest::of(b"root");
        let note = signer.sign(1000, &root).unwrap();
        assert!(note.starts_with("fumehood-audit/a\n1000\n"), "{note}");
        let read = Checkpoint::parse(&note).unwrap();
        assert_eq!((read.size, read.root), (1000, root));
        assert!(read.is_signed_by(signer.key()));

        let text = signer.key().to_string();
        let key: VerifierKey = text.parse().unwrap();
        assert!(read.is_signed_by(&key) && text.starts_with("fumehood-audit/a+"));
        for wrong in ["", "a", "a+b+c", &text.replace("audit/a", "audit/b")] {
            assert_eq!(wrong.parse::<VerifierKey>(), Err(VerifierKeyError), "{wrong}");
        }
        for (from, to) in [("\n1000\n", "\n1001\n"), ("\n1000\n", "\n01000\n"), ("audit/a", "audit/b")] {
            let signed =
                Checkpoint::parse(&note.replacen(from, to, 9)).is_some_and(|read| read.is_signed_by(&key));
            assert!(!signed, "{from} {to}");
        }
        let other = Signer::open(tempfile::tempdir().unwrap().path(), "fumehood-audit/a").unwrap();
        assert!(!read.is_signed_by(other.key()));
    }
}
